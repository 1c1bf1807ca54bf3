import type { Page } from 'playwright';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './browser.ts';
import { startPerch } from './harness.ts';

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

/** Keeps the gateway from starting, as an older one that takes its time; the result lets it. */
async function holdBack(page: Page): Promise<() => Promise<void>> {
  const release = await page.evaluateHandle(
    () =>
      new Promise<{ done(): void }>((resolve) => {
        void navigator.locks.request('perch-gateway', () => new Promise<void>((done) => resolve({ done })));
        const channel = new BroadcastChannel('perch-gateway');
        channel.onmessage = () => channel.postMessage({ type: 'draining', from: 'an older one', build: 'older' });
      }),
  );
  return () => release.evaluate((lock) => lock.done());
}

verifies('app/outbox', 'a message written before the gateway is there, while the page reads what waits, is sent', async () => {
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  const letStart = await holdBack(await browser.page(`${perch.url}/health`));
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
  await letStart();
  await page.getByRole('article', { name: 'Reply' }).first().waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('What can you do?').first().waitFor();
});
