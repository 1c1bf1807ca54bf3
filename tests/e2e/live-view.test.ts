import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { browserPort } from '#shared/ports/browser-port.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { createDriverProcess } from '../../bridge/capabilities/browser/driver-process.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';
import { type TestGateway, createTestGateway, waitFor } from '../support/test-gateway.ts';

/** A page that says, in its title, what was done to it. */
const PAGE = `<!doctype html><title>-</title><body style="margin: 0; height: 5000px"><input style="position: absolute; left: 100px; top: 100px; width: 200px; height: 40px">
<button style="position: absolute; left: 100px; top: 200px; width: 100px; height: 40px" onclick="document.title = 'clicked ' + event.detail; document.body.style.background = 'red'">Go</button>
<script>
addEventListener('mousemove', ({ clientX, clientY }) => { document.body.dataset.at = clientX + ' ' + clientY; });
addEventListener('mouseup', ({ clientX, clientY, button, buttons }) => { document.body.dataset.up = [document.body.dataset.at, clientX, clientY, button, buttons].join(' '); });
addEventListener('mousemove', ({ buttons }) => { document.body.dataset.held = buttons; });
addEventListener('keydown', ({ key, ctrlKey }) => { document.body.dataset.key = (ctrlKey ? 'Control+' : '') + key; });
</script>`;
/** Another picture for every frame. */
const ANIMATED_PAGE = `<!doctype html><title>lively</title><body><script>let n = 0; const turn = () => { document.body.textContent = ++n; requestAnimationFrame(turn); }; turn();</script>`;

const dir = mkdtempSync(join(tmpdir(), 'perch-view-'));
const browsers = createDriverProcess({ dir, log: () => {}, keeper: new ProcessKeeper(() => {}) });
const bridge = new FakeBridge(createCapability(browserPort, browsers.handlers));
const site = createServer(({ url }, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end(url === '/lively' ? ANIMATED_PAGE : PAGE),
);
let gw: TestGateway;
let url = '';

beforeAll(async () => {
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const siteAddress = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  url = `http://${siteAddress}/`;
  gw = await createTestGateway({ bridge });
  const { client } = await gw.client();
  await client.call('config.set', { key: 'browser.allow', value: [siteAddress] });
  client.close();
});
afterAll(async () => {
  await gw?.[Symbol.asyncDispose]();
  await browsers.close();
  site.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

type Frame = EventPayload<'browser.frame'>;
const getFrames = (events: EventFrame[]): Frame[] =>
  events.filter(({ event }) => event === 'browser.frame').map(({ payload }) => payload as Frame);
const getEnds = (events: EventFrame[]): unknown[] =>
  events.filter(({ event }) => event === 'browser.unwatched').map(({ payload }) => payload);
const acknowledgeFrame = (client: GatewayClient, { frame }: Frame): Promise<unknown> => client.call('browser.seen', { frame });
const evaluateInTab = async (client: GatewayClient, fn: string): Promise<unknown> => (await client.call('browser.evaluate', { fn })).result;

/** The next frame that there is, and that it is here. */
async function waitForFrame(client: GatewayClient, events: EventFrame[], after: number): Promise<Frame> {
  await waitFor(() => getFrames(events).length > after, `frame ${after + 1}`);
  const frame = getFrames(events)[after];
  if (!frame) throw new Error('there is no frame');
  await acknowledgeFrame(client, frame);
  return frame;
}

verifies('browser/watch', 'a tab is shown as it changes, to its viewer alone; the current tab is followed', async () => {
  const [viewer, other] = [await gw.client(), await gw.client()];
  const { tabId } = await viewer.client.call('browser.open', { url });
  expect(await viewer.client.call('browser.watch', {})).toEqual({ watching: true, profile: 'default', tabId });
  const first = await waitForFrame(viewer.client, viewer.events, 0);
  expect(first).toMatchObject({ profile: 'default', frame: 1, tabId, width: 1280, height: 800 });
  expect(Buffer.from(first.data, 'base64').subarray(0, 3).toString('hex')).toBe('ffd8ff');
  // Another tab is the current one, and nothing in it moves.
  const second = await other.client.call('browser.open', { url });
  let count = 1;
  while ((await waitForFrame(viewer.client, viewer.events, count++)).tabId !== second.tabId);
  await other.client.call('browser.close', { tabId: second.tabId });
  while ((await waitForFrame(viewer.client, viewer.events, count++)).tabId !== tabId);
  expect(getFrames(other.events)).toEqual([]);
  expect(await viewer.client.call('browser.unwatch', {})).toEqual({ watching: false });
  expect(getEnds(viewer.events)).toEqual([]);
  for (const { client } of [viewer, other]) client.close();
  expect(gw.faults).toEqual([]);
});

verifies('browser/watch', 'a download that a person starts is told at once', async () => {
  const { client, events } = await gw.client();
  await client.call('browser.open', { url });
  await client.call('browser.watch', {});
  await evaluateInTab(
    client,
    '() => { document.body.onclick = () => Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob(["x"])), download: "list.txt" }).click(); }',
  );
  await client.call('browser.input', { type: 'click', x: 100, y: 100 });
  const downloaded = (): EventFrame[] => events.filter(({ event }) => event === 'browser.downloaded');
  await waitFor(() => downloaded().length > 0, 'the download to be told');
  const download = { downloadId: expect.any(String) as string, filename: 'list.txt', sizeBytes: 1, error: null };
  expect(downloaded()).toMatchObject([{ payload: { profile: 'default', download } }]);
  // The next result reports it as well.
  expect((await client.call('browser.snapshot', {})).happened?.downloads).toMatchObject([download]);
  client.close();
});

verifies('browser/watch-slow', 'the next frame waits until the last one has arrived; the last one shown is current', async () => {
  const { client, events } = await gw.client();
  await client.call('browser.open', { url: `${url}lively` });
  await client.call('browser.watch', { quality: 20, maxWidth: 320, maxHeight: 200 });
  await waitFor(() => getFrames(events).length === 1, 'the first frame');
  // The page draws on, far more than Chromium holds for one that takes nothing.
  const turns = Number(await evaluateInTab(client, '+document.body.textContent'));
  await waitFor(async () => Number(await evaluateInTab(client, '+document.body.textContent')) > turns + 30, 'frames of the page');
  expect(getFrames(events)).toHaveLength(1);
  for (let n = 0; n < 5; n++) await waitForFrame(client, events, n);
  await waitFor(() => getFrames(events).length === 6, 'the sixth frame');
  // The page is static now, after many frames that were not shown.
  await evaluateInTab(
    client,
    '() => { requestAnimationFrame = () => {}; document.body.textContent = ""; document.body.style.background = "lime"; }',
  );
  const limes = async (data: string): Promise<unknown> =>
    evaluateInTab(
      client,
      `async () => { const image = await createImageBitmap(await (await fetch('data:image/jpeg;base64,${data}')).blob()); const context = new OffscreenCanvas(1, 1).getContext('2d'); context.drawImage(image, 0, 0); const [red, green] = context.getImageData(0, 0, 1, 1).data; return red < 128 && green > 128; }`,
    );
  let shown: unknown = false;
  for (let n = 5; shown !== true; n++) shown = await limes((await waitForFrame(client, events, n)).data);
  client.close();
});

verifies('browser/watch-ends', 'with the tab, the browser, the connection; another view takes its place', async () => {
  const { client, events } = await gw.client();
  const { tabId } = await client.call('browser.open', { url });
  await expect(client.call('browser.watch', { tabId: 'tab-999' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(client.call('browser.watch', { profile: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await client.call('browser.watch', { tabId })).toMatchObject({ tabId });
  await client.call('browser.close', { tabId });
  await waitFor(() => getEnds(events).length === 1, 'the end with the tab');
  await client.call('browser.watch', {});
  await client.call('browser.watch', {});
  expect(getEnds(events)).toEqual([{ profile: 'default', reason: 'The tab was closed' }]);
  const leaving = await gw.client();
  await leaving.client.call('browser.watch', {});
  leaving.client.close();
  await client.call('browser.stop', {});
  await waitFor(() => getEnds(events).length === 2, 'the end with the browser');
  expect(getEnds(events)[1]).toEqual({ profile: 'default', reason: 'The browser was stopped' });
  expect(getEnds(leaving.events)).toEqual([]);
  // A frame of a view that is over.
  expect(await client.call('browser.seen', { frame: 1 })).toEqual({});
  client.close();
  expect(gw.faults).toEqual([]);
});

verifies('browser/input', 'a person takes over with mouse and keyboard; programs do not', async () => {
  const { client } = await gw.client();
  await client.call('browser.open', { url });
  const title = async (): Promise<string | null> => (await client.call('browser.status', {})).title;
  await client.call('browser.input', { type: 'click', x: 150, y: 220, count: 2 });
  expect(await title()).toBe('clicked 2');
  await client.call('browser.input', { type: 'move', x: 33, y: 44 });
  expect(await evaluateInTab(client, 'document.body.dataset.at')).toBe('33 44');
  await client.call('browser.input', { type: 'press', x: 500, y: 300 });
  await client.call('browser.input', { type: 'move', x: 520, y: 310 });
  expect(await evaluateInTab(client, '[document.body.dataset.at, document.body.dataset.held]')).toEqual(['520 310', '1']);
  await client.call('browser.input', { type: 'release', x: 540, y: 320 });
  expect(await evaluateInTab(client, 'document.body.dataset.up')).toBe('540 320 540 320 0 0');
  await client.call('browser.input', { type: 'press', x: 150, y: 220, count: 3 });
  await client.call('browser.input', { type: 'release', x: 150, y: 220, count: 3 });
  expect(await title()).toBe('clicked 3');
  await client.call('browser.input', { type: 'click', x: 200, y: 120 });
  await client.call('browser.input', { type: 'text', text: 'Grüße 👋' });
  expect(await evaluateInTab(client, 'document.querySelector("input").value')).toBe('Grüße 👋');
  await client.call('browser.input', { type: 'key', key: 'Control+A' });
  expect(await evaluateInTab(client, 'document.body.dataset.key')).toBe('Control+A');
  await client.call('browser.input', { type: 'key', key: 'Backspace' });
  expect(await evaluateInTab(client, 'document.querySelector("input").value')).toBe('');
  await client.call('browser.input', { type: 'wheel', x: 10, y: 10, deltaY: 700 });
  await waitFor(async () => (await evaluateInTab(client, 'scrollY')) === 700, 'the page to scroll');
  for (const bad of [
    { type: 'key', key: 'No such key' },
    { type: 'click', x: 1 },
    { type: 'click', x: -1, y: 1 },
    { type: 'move', x: 1, y: 1, text: 'a' },
    { type: 'text', text: '' },
    { type: 'drag', x: 1, y: 1 },
  ])
    await expect(client.call('browser.input', bad as never)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(client.call('browser.input', { type: 'move', x: 1, y: 1, tabId: 'tab-999' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const program = await GatewayClient.connect(gw.link({ principal: 'key:abc' }), { params: { clientName: 'a program' } });
  await expect(program.call('browser.input', { type: 'move', x: 1, y: 1 })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  for (const each of [program, client]) each.close();
});
