import type { Page } from 'playwright';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './browser.ts';
import { startPerch } from './harness.ts';
import { holdBack } from './hold-back.ts';

/** Keeps the page's own store busy from now on, so that what it is asked waits in line; the result lets go. */
async function occupy(page: Page): Promise<() => Promise<void>> {
  const release = await page.evaluateHandle(
    () =>
      new Promise<{ done: boolean }>((resolve, reject) => {
        const opening = indexedDB.open('perch-page');
        opening.onerror = () => reject(new Error('the store cannot be opened'));
        opening.onsuccess = () => {
          const db = opening.result;
          const store = db.transaction('outbox', 'readwrite').objectStore('outbox');
          const state = { done: false };
          const spin = (): void => {
            if (state.done) db.close();
            else store.count().onsuccess = spin;
          };
          store.count().onsuccess = () => {
            resolve(state);
            spin();
          };
        };
      }),
  );
  return () => release.evaluate((state) => void (state.done = true));
}

verifies('app/outbox', 'a message written before the gateway is there, while the page reads what waits, is sent', async () => {
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  const gateway = await holdBack(await browser.page(`${perch.url}/health`));
  await gateway.held;
  const page = await browser.page(perch.url);
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.waitFor();
  const free = await occupy(page);
  // As another tab tells of a change: the page reads, and that waits in line.
  await page.evaluate(() => new BroadcastChannel('perch-outbox').postMessage('changed'));
  await composer.fill('What can you do?');
  await composer.press('Enter');
  await page.waitForURL(/\/chat\//);
  await free();
  await gateway.letGo();
  await page.getByRole('article', { name: 'Reply' }).first().waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('What can you do?').first().waitFor();
});
