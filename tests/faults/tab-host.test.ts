import type { Page } from 'playwright';
import { afterAll, beforeAll, expect } from 'vitest';
import { waitForConnection, waitForTabHost } from '../e2e/connection-status.ts';
import { launchBrowser, type TestBrowser } from '../e2e/test-browser.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { addProvider, connectOutside } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';

// Faults of the gateway in a tab: reloads, a full disk, lost data, misleading links, a dying bridge.

let upstream: Upstream;
let perch: Perch;
let browser: TestBrowser;
let page: Page;
beforeAll(async () => {
  upstream = await startUpstream();
  perch = await startPerch({ host: 'tab' });
  browser = await launchBrowser();
  page = browser.context.pages()[0] ?? (await browser.page());
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await perch?.[Symbol.asyncDispose]();
  await upstream?.close();
});

verifies('app/crafted-link', 'paths, queries and fragments of strangers', async () => {
  const sockets: string[] = [];
  const dialogs: string[] = [];
  page.on('websocket', (socket) => void sockets.push(socket.url()));
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  for (const link of [
    '/?gateway=ws://evil.example/ws&token=x',
    '/?link=abc#gatewayUrl=ws://evil.example',
    '/#link=%3Cscript%3Ealert(1)%3C/script%3E',
    `/#link=${'a'.repeat(5000)}`,
    '/chat/main/%3Cimg%20src=x%20onerror=alert(1)%3E',
    '/chat/__proto__/constructor',
  ]) {
    // Changing only the fragment does not navigate.
    await page.goto('about:blank');
    await page.goto(perch.url + link);
    await waitForConnection(page, 'This browser');
  }
  expect(dialogs).toEqual([]);
  expect(sockets.filter((url) => !url.startsWith(perch.wsUrl.replace(/\/ws$/, '/')))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

verifies('storage/quota', 'a first start without room goes on by itself once there is some', async () => {
  await using full = await launchBrowser();
  const tab = await full.page();
  const cdp = await full.context.newCDPSession(tab);
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: perch.url, quotaSize: 1 });
  await tab.goto(perch.url);
  await waitForConnection(tab, 'Storage full');
  await tab.getByRole('button', { name: 'My vault Storage full Connection: Storage full' }).click();
  await tab.getByRole('dialog', { name: 'My vault' }).getByText('Free up disk space').waitFor();
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: perch.url });
  await waitForConnection(tab, 'This browser');
});

verifies(['host/uplink', 'runs/belongs-to-session', 'events/seq'], 'the only tab reloads, and again, while it hosts a run', async () => {
  await page.goto(await perch.open());
  await waitForTabHost(perch);
  using outside = await connectOutside(perch, 'all');
  await addProvider(outside.client, upstream.url);
  const pendingSend = outside.client.call('chat.send', { sessionId: 'storm', message: 'hold on', model: 'local/slow-200' });
  await waitFor(() => outside.events.some(({ event }) => event === 'chat.delta'), 'the run to be under way');
  await page.goto(`${perch.url}/chat/main/storm`);
  for (let i = 0; i < 5; i++) await page.reload({ waitUntil: 'domcontentloaded' });
  expect((await pendingSend).completed).toBe(true);
  await page.getByRole('article', { name: 'Reply' }).getByText(UPSTREAM_TEXT.join('')).waitFor();
  expect(outside.events.map(({ seq }) => seq)).toEqual(outside.events.map((_, i) => (outside.events[0]?.seq ?? 0) + i));
  expect(outside.events.filter(({ event }) => event === 'chat.done')).toHaveLength(1);
});

verifies('storage/heals', 'the site’s data is cleared in the middle of a run', async () => {
  await waitForTabHost(perch);
  using outside = await connectOutside(perch, 'all');
  await addProvider(outside.client, upstream.url);
  const pendingSend = outside.client
    .call('chat.send', { sessionId: 'cleared', message: 'soon gone', model: 'local/slow-100' })
    .catch(() => {});
  await waitFor(() => outside.events.some(({ event }) => event === 'chat.delta'), 'the run to be under way');
  const cdp = await browser.context.newCDPSession(page);
  await cdp.send('Storage.clearDataForOrigin', { origin: perch.url, storageTypes: 'indexeddb' });
  await pendingSend;
  expect(outside.events.filter(({ event }) => event === 'chat.done' || event === 'chat.error')).toHaveLength(1);
  await outside.client.call('chat.send', { sessionId: 'after', message: 'kept', model: 'local/normal' });
  const { messages } = await outside.client.call('chat.history', { sessionId: 'after' });
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

verifies(['bridge/killed', 'host/uplink'], 'SIGKILL of the bridge: the tab keeps its run’s text and serves the next bridge', async () => {
  // The last test took the browser's link with the rest of its data; the worker from before may still be attached for a moment.
  await page.goto(await perch.open());
  await waitForConnection(page, 'This browser');
  await waitForTabHost(perch);
  const outside = await connectOutside(perch, 'all');
  await outside.client.call('chat.send', { sessionId: 'kept', message: 'before', model: 'local/normal' });
  const sent = outside.client
    .call('chat.send', { sessionId: 'kept', message: 'cut', model: 'local/endless' })
    .catch((error: unknown) => error);
  await waitFor(() => outside.events.filter(({ event }) => event === 'chat.delta').length > 20, 'the run to be under way');
  await perch.kill('SIGKILL');
  expect(await sent).toMatchObject({ name: 'ConnectionClosed' });
  await perch.restart();
  await waitForTabHost(perch);
  using again = await connectOutside(perch);
  await waitFor(async () => (await again.client.call('chat.history', { sessionId: 'kept' })).messages.length === 4, 'the cut reply');
  const { messages } = await again.client.call('chat.history', { sessionId: 'kept' });
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(messages[3]).toMatchObject({ interrupted: true, content: expect.stringMatching(/^w0 w1 /) });
});
