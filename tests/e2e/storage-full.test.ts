import type { Page } from 'playwright';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** Writes until the browser takes nothing more of this origin, not one letter. */
const fillUp = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('filler');
        opening.onupgradeneeded = () => opening.result.createObjectStore('bytes', { autoIncrement: true });
        opening.onerror = () => reject(new Error('the store cannot be opened'));
        opening.onsuccess = () => {
          const put = (bytes: number): void => {
            const tx = opening.result.transaction('bytes', 'readwrite', { durability: 'strict' });
            tx.objectStore('bytes').put(new Uint8Array(bytes));
            tx.oncomplete = () => put(bytes);
            tx.onabort = () => {
              if (tx.error?.name !== 'QuotaExceededError') reject(new Error(`refused for another reason: ${tx.error?.name ?? 'none'}`));
              else if (bytes <= 1) resolve();
              else put(Math.floor(bytes / 4));
            };
          };
          put(16_384);
        };
      }),
  );

verifies('storage/quota', 'with no room left at all the app starts, and chats can be deleted', async () => {
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  const before = await openLinkedPage(browser, perch);
  for (const words of ['About herons', 'About owls']) {
    await before.goto(perch.url);
    await waitForConnection(before, LINKED_STATUS);
    await before.getByRole('textbox', { name: 'Message' }).fill(words);
    await before.getByRole('textbox', { name: 'Message' }).press('Enter');
    await before.getByRole('article', { name: 'Reply' }).first().waitFor();
  }
  const reserved = (): Promise<number> =>
    before.evaluate(async () => {
      const [name = ''] = (await caches.keys()).filter((each) => each.startsWith('reserve-'));
      return (await (await caches.open(name)).keys()).length;
    });
  await waitFor(async () => (await reserved()) === 32, 'room to be set aside', 20_000);
  const usageIn = async (page: Page): Promise<number> => (await page.evaluate(() => navigator.storage.estimate())).usage ?? 0;
  const usedBefore = await usageIn(before);
  // The room was set aside in an earlier session of the browser: Chromium writes sizes of what is new only seconds later, and loses them if it is closed before.
  await browser.reopen();
  const between = await browser.page(perch.url);
  await waitForConnection(between, LINKED_STATUS);
  // Chromium keeps for a while how much room there was.
  await browser.reopen();
  const page = await browser.page(`${perch.url}/health`);
  let usage = 0;
  // After a start Chromium counts its storage again and reports less until it has finished.
  await waitFor(async () => (usage = await usageIn(page)) >= usedBefore * 0.9, 'the browser to count what is stored');
  const cdp = await browser.context.newCDPSession(page);
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: perch.url, quotaSize: usage });
  await page.goto(perch.url);
  await waitForConnection(page, LINKED_STATUS);
  await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the tab to serve', 30_000);
  for (const words of ['About herons', 'About owls']) {
    await fillUp(page);
    await page.goto(`${perch.url}/sessions`);
    await page.getByRole('checkbox', { name: `Select ${words}`, exact: true }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('link', { name: words }).first().waitFor({ state: 'detached' });
    await takeScreenshots(page, 'no-room');
  }
  await page.reload();
  await page.getByRole('heading', { name: 'No chats yet' }).waitFor();
});
