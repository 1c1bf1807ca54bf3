import type { Page } from 'playwright';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { startPerch } from './perch-process.ts';
import { holdGatewayLock } from './hold-gateway-lock.ts';
import { connectOutside } from './outside-client.ts';
import { readOutboxRows } from './outbox-rows.ts';
import { putRows } from './put-rows.ts';
import { takeScreenshots } from './take-screenshots.ts';

/** Keeps the page's own store busy from now on, so that what it is asked waits in line; the result lets go. */
async function blockPageStore(page: Page): Promise<() => Promise<void>> {
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

/** A page to write on, before there is a gateway; `letGo` lets one come. */
async function openPageBeforeGateway() {
  await using opened = new AsyncDisposableStack();
  const perch = opened.use(await startPerch({ host: 'tab' }));
  const browser = opened.use(await launchBrowser());
  const { acquired, letGo } = await holdGatewayLock(await browser.page(`${perch.url}/health`));
  await acquired;
  const page = await browser.page(perch.url);
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.waitFor();
  const all = opened.move();
  return { page, composer, letGo, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

verifies('app/outbox', 'a message written before the gateway is there, while the page reads what waits, is sent', async () => {
  await using early = await openPageBeforeGateway();
  const { page, composer } = early;
  const free = await blockPageStore(page);
  // As another tab tells of a change: the page reads, and that waits in line.
  await page.evaluate(() => new BroadcastChannel('perch-outbox').postMessage('changed'));
  await composer.fill('What can you do?');
  await composer.press('Enter');
  await page.waitForURL(/\/chat\//);
  await free();
  await early.letGo();
  await page.getByRole('article', { name: 'Reply' }).first().waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('What can you do?').first().waitFor();
});

verifies('app/outbox', 'a character that no message may have, and nobody sees, was pasted along: it is sent without', async () => {
  await using early = await openPageBeforeGateway();
  const { page, composer } = early;
  await early.letGo();
  await composer.fill('What can\0 you do?');
  await composer.press('Enter');
  await page.getByRole('article', { name: 'Reply' }).first().waitFor();
  await page.getByRole('region', { name: 'Messages' }).getByText('What can you do?').first().waitFor();
});

verifies('app/outbox', 'a message that this browser has no room for holds the page until it is sent', async () => {
  await using early = await openPageBeforeGateway();
  const { page, composer } = early;
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('no room', 'QuotaExceededError');
    };
  });
  await composer.fill('What can you do?');
  await composer.press('Enter');
  const unkept = page.getByRole('alert').getByText('Couldn’t save the message in this browser');
  await unkept.waitFor();
  const dialogOpened = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const dialog = await dialogOpened;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  await early.letGo();
  await page.getByRole('article', { name: 'Reply' }).first().waitFor();
  await unkept.waitFor({ state: 'detached' });
  // Nothing holds it any more.
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
});

verifies('app/outbox', 'a message that neither the page nor the gateway has room for is told of once, and can be given up', async () => {
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  await openLinkedPage(browser, perch);
  // Chromium keeps for a while how much room there was.
  await browser.reopen();
  const page = await browser.page(`${perch.url}/health`);
  const { usage = 0 } = await page.evaluate(() => navigator.storage.estimate());
  const cdp = await browser.context.newCDPSession(page);
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: perch.url, quotaSize: usage + 700_000 });
  await page.goto(perch.url);
  await waitForConnection(page, LINKED_STATUS);
  const composer = page.getByRole('textbox', { name: 'Message' });
  // Nothing that could be packed.
  await composer.fill(Array.from({ length: 200_000 }, () => String.fromCharCode(0x4e00 + Math.random() * 0x5000)).join(''));
  await composer.press('Enter');
  await page
    .getByRole('alert')
    .getByText(/no room|out of storage/)
    .first()
    .waitFor();
  const retry = page.getByRole('button', { name: 'Retry' });
  await retry.waitFor();
  await takeScreenshots(page, 'no-room');
  expect(await page.getByRole('alert').count()).toBe(1);
  await page.getByRole('button', { name: 'Discard' }).click();
  await retry.waitFor({ state: 'detached' });
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

verifies('app/outbox', 'a message that the gateway has is found there, however large, and not sent again', async () => {
  await using perch = await startPerch({ host: 'tab' });
  await using browser = await launchBrowser();
  const page = await openLinkedPage(browser, perch);
  await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the tab to serve', 30_000);
  using before = await connectOutside(perch);
  const message = 'What can you do? '.repeat(25_000);
  const picture = { id: 'f', filename: 'a.png', mimeType: 'image/png', size: 150_000, content: 'A'.repeat(200_000) };
  const files = { text: [], picture: [picture] };
  const words = { text: message, picture: 'What is this?' };
  await before.client.call('chat.send', { sessionId: 'text', message: words.text });
  const { filename, mimeType, content } = picture;
  await before.client.call('chat.send', { sessionId: 'picture', message: words.picture, attachments: [{ filename, mimeType, content }] });
  const rows = (['text', 'picture'] as const).map((sessionId) => ({
    ...{ id: sessionId, agentId: 'main', sessionId, message: words[sessionId], files: files[sessionId], model: null },
    ...{ createdAt: Date.now() - 60_000, place: 1, steer: false, failure: null, tried: true },
  }));
  // Its answer was lost with the connection: the page has handed it over, and does not know that it is stored.
  await putRows(page, 'outbox', rows);
  await page.reload();
  await waitForConnection(page, LINKED_STATUS);
  await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'the tab to serve', 30_000);
  await waitFor(async () => (await readOutboxRows(page)).length === 0, 'nothing to wait for the gateway');
  using outside = await connectOutside(perch);
  for (const { sessionId } of rows) {
    const { messages } = await outside.client.call('chat.history', { sessionId });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  }
});
