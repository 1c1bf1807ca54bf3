import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';

/** In the page: whether it has its credentials, behind which the code leaves the address. */
const isLinked = (): Promise<boolean> =>
  new Promise((resolve) => {
    const opened = indexedDB.open('perch-link', 1);
    opened.onsuccess = () => {
      const counted = opened.result.transaction('link').objectStore('link').count();
      counted.onsuccess = () => {
        opened.result.close();
        resolve(counted.result > 0);
      };
    };
  });

verifies('app/first-answer', 'a message that is sent while the browser is still being linked opens its chat', async () => {
  await using perch = await startPerch();
  await using browser = await launchBrowser();
  const page = await browser.page();
  // A service worker would have answered what is held up here.
  await page.addInitScript(() => {
    navigator.serviceWorker.register = () => Promise.reject(new Error('there is none'));
  });
  const linking = Promise.withResolvers<void>();
  const opening = Promise.withResolvers<void>();
  await browser.context.route('**/link', async (route) => {
    await linking.promise;
    await route.continue();
  });
  await page.goto(await perch.open());
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.fill('What can you do?');
  // The page of the chat is being fetched when the link is there.
  const nodeRequested = page.waitForRequest('**/nodes/*.js');
  await browser.context.route('**/nodes/*.js', async (route) => {
    await opening.promise;
    await route.continue();
  });
  await composer.press('Enter');
  await nodeRequested;
  const linked = page.waitForResponse('**/link');
  linking.resolve();
  expect((await linked).status()).toBe(200);
  await waitFor(() => page.evaluate(isLinked), 'the credentials to be kept');
  opening.resolve();
  await page.waitForURL('**/chat/main/*');
  await page.getByRole('article', { name: 'Reply' }).first().waitFor();
  expect(new URL(page.url()).hash).toBe('');
  await browser.context.unrouteAll({ behavior: 'ignoreErrors' });
});
