import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { browserPort } from '#shared/ports/browser-port.ts';
import type { BrowserPageEvents } from '#shared/rpc/methods/browser-contracts.ts';
import { createDriverProcess } from '../../bridge/capabilities/browser/driver-process.ts';
import { createBrowserHandlers } from '../../bridge/capabilities/browser/browser-handlers.ts';
import { NAVIGATE_MS } from '../../bridge/capabilities/browser/driven-browser.ts';
import { BrowserProfiles } from '../../bridge/capabilities/browser/browser-profiles.ts';
import { NO_KEEPER } from '../../bridge/processes/process-keeper.ts';
import { listProcesses } from '../../bridge/processes/list-processes.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';

const PAGE = `<!doctype html><title>A page</title><h1>Hello</h1><input id="name"><button id="go" onclick="document.title = 'Hello ' + document.getElementById('name').value">Go</button>`;

interface PageResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A web server that notes what it was asked for. */
async function startPageServer(answer: (path: string) => PageResponse) {
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    const { status = 200, headers = {}, body = PAGE } = answer(url);
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { asked: requests, place: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const dir = mkdtempSync(join(tmpdir(), 'perch-driven-'));
const browsers = createDriverProcess({ dir, log: () => {}, keeper: NO_KEEPER });
const bridge = new FakeBridge(createCapability(browserPort, browsers.handlers));
const profile = 'default';
let site: Awaited<ReturnType<typeof startPageServer>>;
/** A service on this machine that pages have no business with. */
let privateService: Awaited<ReturnType<typeof startPageServer>>;

beforeAll(async () => {
  privateService = await startPageServer(() => ({ headers: { 'access-control-allow-origin': '*' }, body: 'the secret' }));
  const pages: Record<string, PageResponse> = {
    '/redirect': { status: 302, headers: { location: `${privateService.url}/by-redirect` } },
    '/slow': { body: '<title>Slow</title><script>alert("hello"); document.title = confirm("sure?") ? "yes" : "no"</script>' },
    '/report.bin': { headers: { 'content-type': 'application/octet-stream' }, body: 'data' },
  };
  site = await startPageServer((path) => pages[path] ?? {});
  await bridge.call(browserPort, 'browser.allow', { places: [site.place] });
});
afterAll(async () => {
  await browsers.close();
  site?.close();
  privateService?.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

verifies('browser/drive', 'a page is opened, filled in, clicked, read and photographed', async () => {
  expect(await bridge.call(browserPort, 'browser.status', { profile })).toEqual({
    started: false,
    profile,
    tabCount: 0,
    url: null,
    title: null,
    remote: false,
  });
  const opened = await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
  expect(opened).toMatchObject({ opened: true, url: `${site.url}/`, title: 'A page' });
  await bridge.call(browserPort, 'browser.type', { ref: '#name', text: 'Perch', profile });
  expect(await bridge.call(browserPort, 'browser.click', { ref: 'text=Go', profile })).toEqual({ clicked: true, ref: 'text=Go' });
  expect(await bridge.call(browserPort, 'browser.status', { profile })).toMatchObject({ started: true, title: 'Hello Perch' });
  const { screenshotB64, mimeType, sizeBytes } = await bridge.call(browserPort, 'browser.screenshot', { profile, fullPage: true });
  const picture = Buffer.from(screenshotB64, 'base64');
  expect([mimeType, picture.length, picture.toString('latin1', 1, 4)]).toEqual(['image/png', sizeBytes, 'PNG']);
  expect(picture.readUInt32BE(16)).toBe(1280);
  const snapshot = await bridge.call(browserPort, 'browser.snapshot', { profile });
  expect(snapshot.htmlPreview).toContain('<h1>Hello</h1>');
  expect(snapshot.htmlLength).toBe(snapshot.htmlPreview.length);
  const evaluate = async (fn: string) => (await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).result;
  expect(await evaluate('1 + 1')).toBe(2);
  expect(await evaluate('async () => ({ heading: document.querySelector("h1").textContent })')).toEqual({ heading: 'Hello' });
  expect(await evaluate('undefined')).toBe(null);
  await expect(evaluate('missing()')).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: 'The page reported an error: ReferenceError: missing is not defined',
  });
});

verifies('browser.evaluate/row', 'statements, `await` and `return` run in the page; a syntax error is the caller’s', async () => {
  await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
  const evaluate = async (fn: string) => (await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).result;
  const results = {
    'const a = 1; a + 1': 2,
    'const a = 2; a + 1': 3,
    'const h = document.querySelector("h1").textContent; return h': 'Hello',
    'const r = await Promise.resolve(4); r': 4,
    'await Promise.resolve(5)': 5,
    'await 0; return [6]': [6],
    'let n = 0; for (const x of [1, 2]) { await 0; n += x } n': 3,
    'const f = () => 7; f': 7,
    '{ a: 8 }': { a: 8 },
    '// nine\n9 // still': 9,
    'const nothing = 1;': null,
    'JSON.parse("[10]")': [10],
  };
  for (const [fn, result] of Object.entries(results)) expect(await evaluate(fn), fn).toEqual(result);
  const refused = (fn: string, why: string) =>
    expect(evaluate(fn), fn).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: `\`fn\` is not valid JavaScript: ${why}` });
  await refused('if (', 'SyntaxError: Unexpected end of input');
  await refused('const x = await 1; foo bar', "SyntaxError: Unexpected identifier 'bar'");
  // An error of the script itself, and it ran once.
  await evaluate('globalThis.ran = 0');
  await expect(evaluate('ran += 1; JSON.parse("{")')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  await expect(evaluate('ran += 1; eval("return")')).rejects.toMatchObject({ message: expect.stringContaining('Illegal return') });
  await expect(evaluate('throw "plain"')).rejects.toMatchObject({ message: 'The page reported an error: "plain"' });
  expect(await evaluate('ran')).toBe(2);
});

verifies(
  ['states.browser/started', 'states.browser/stopped', 'browser/by-itself', 'browser/preview'],
  'started and stopped by hand, and by the first call that needs it',
  async () => {
    await bridge.call(browserPort, 'browser.createProfile', { name: 'states' });
    const at = { profile: 'states' };
    const status = async () => (await bridge.call(browserPort, 'browser.status', at)).started;
    expect(await status()).toBe(false);
    const { started, sessionId } = await bridge.call(browserPort, 'browser.start', at);
    expect([started, await status()]).toEqual([true, true]);
    expect(sessionId).toMatch(/./);
    // A running one stays as it is.
    expect((await bridge.call(browserPort, 'browser.start', at)).sessionId).toBe(sessionId);
    expect(await bridge.call(browserPort, 'browser.stop', at)).toEqual({ started: false });
    expect(await status()).toBe(false);
    // Looking does not start it; what needs it does.
    expect(await bridge.call(browserPort, 'browser.tabs', at)).toEqual({ tabs: [] });
    expect(await status()).toBe(false);
    await bridge.call(browserPort, 'browser.evaluate', { ...at, fn: '() => { document.body.textContent = "x".repeat(5000); }' });
    expect(await status()).toBe(true);
    const { htmlLength, htmlPreview } = await bridge.call(browserPort, 'browser.snapshot', at);
    expect(htmlLength).toBeGreaterThan(5000);
    expect(htmlPreview).toHaveLength(2000);
    const { tabId } = await bridge.call(browserPort, 'browser.open', { ...at, url: site.url });
    expect(tabId).toMatch(/^tab-\d+$/);
    await bridge.call(browserPort, 'browser.deleteProfile', { name: 'states' });
  },
);

verifies('browser/time-out', 'a page that does not come in time is told of, and hinders nothing', async () => {
  // By default it is 30 s.
  expect(NAVIGATE_MS).toBe(30_000);
  const folder = mkdtempSync(join(tmpdir(), 'perch-hasty-'));
  const shortTimeoutProfiles = new BrowserProfiles({ dir: folder, log: () => {}, navigateMs: 300 });
  const quick = new FakeBridge(createCapability(browserPort, createBrowserHandlers(shortTimeoutProfiles)));
  const silent = createServer(() => {});
  try {
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const siteAddress = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await quick.call(browserPort, 'browser.allow', { places: [siteAddress] });
    for (const method of ['browser.open', 'browser.navigate'] as const)
      await expect(quick.call(browserPort, method, { url: `http://${siteAddress}/`, profile }), method).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
        message: expect.stringContaining(': Timeout 300ms exceeded'),
      });
    expect((await quick.call(browserPort, 'browser.evaluate', { fn: '1 + 1', profile })).result).toBe(2);
  } finally {
    await shortTimeoutProfiles.close();
    silent.closeAllConnections();
    silent.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
});

verifies('browser/tabs', 'tabs are listed, focused and closed; dialogs hold nothing up', async () => {
  const { tabId } = await bridge.call(browserPort, 'browser.open', { url: `${site.url}/slow`, profile });
  const { tabs } = await bridge.call(browserPort, 'browser.tabs', { profile });
  expect(tabs.filter(({ active }) => active)).toEqual([{ tabId, url: `${site.url}/slow`, title: 'no', active: true }]);
  const [first] = tabs;
  await bridge.call(browserPort, 'browser.focus', { tabId: first?.tabId ?? '', profile });
  expect((await bridge.call(browserPort, 'browser.status', { profile })).url).toBe(first?.url);
  expect(await bridge.call(browserPort, 'browser.close', { tabId, profile })).toEqual({ closed: true });
  for (const name of ['browser.focus', 'browser.close'] as const)
    await expect(bridge.call(browserPort, name, { tabId, profile })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await bridge.call(browserPort, 'browser.navigate', { url: `${site.url}/again`, profile });
  expect(site.asked).toContain('/again');
});

verifies(
  'browser/accessibility',
  'a snapshot names elements by refs, which last while the element does and name nothing else later',
  async () => {
    await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    const snapshot = async () =>
      (await bridge.call(browserPort, 'browser.snapshot', { profile, mode: 'accessibility' })).accessibility ?? '';
    const findRef = (text: string, what: string): string => new RegExp(`${what}.*\\[ref=(\\w+)\\]`).exec(text)?.[1] ?? what;
    const evaluate = async (fn: string) => (await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).result;
    const first = await snapshot();
    expect(first).toMatch(/heading "Hello".*\[ref=s\d+e\d+\]/);
    const [box, button] = [findRef(first, 'textbox'), findRef(first, 'button "Go"')];
    expect(await bridge.call(browserPort, 'browser.type', { ref: box, text: 'refs', profile })).toEqual({ typed: true, ref: box });
    // Elements inserted before it change nothing.
    await evaluate('document.body.prepend(document.createElement("button"))');
    expect(findRef(await snapshot(), 'button "Go"')).toBe(button);
    await bridge.call(browserPort, 'browser.click', { ref: button, profile });
    expect(await evaluate('document.title')).toBe('Hello refs');
    const stale = (ref: string, why: string) =>
      expect(bridge.call(browserPort, 'browser.click', { ref, profile }), why).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: `No element ${ref}: ${why}. Take a new snapshot and use a ref from it.`,
      });
    await evaluate('document.getElementById("name").remove()');
    await stale(box, 'the page has changed');
    // The next page has a button there too, and another tab.
    await bridge.call(browserPort, 'browser.navigate', { url: `${site.url}/next`, profile });
    await stale(button, 'it belongs to another page');
    const next = findRef(await snapshot(), 'button "Go"');
    expect(next).not.toBe(button);
    await stale(button, 'it belongs to another page');
    await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    await snapshot();
    await stale(next, 'it belongs to another page');
    expect(await bridge.call(browserPort, 'browser.snapshot', { profile })).not.toHaveProperty('accessibility');
  },
);

verifies('browser/dialogs', 'questions are answered as the caller wants, and told in the next result', async () => {
  await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
  const fn = '() => { alert("seen"); return [confirm("sure?"), prompt("who?", "nobody")]; }';
  const notice = { kind: 'alert', message: 'seen', accepted: true };
  const first = await bridge.call(browserPort, 'browser.evaluate', { fn, profile });
  expect(first.result).toEqual([false, null]);
  expect(first.happened).toEqual({
    dialogs: [notice, { kind: 'confirm', message: 'sure?', accepted: false }, { kind: 'prompt', message: 'who?', accepted: false }],
    downloads: [],
  });
  expect(await bridge.call(browserPort, 'browser.dialogs', { answer: 'accept', text: 'Perch', profile })).toEqual({
    answer: 'accept',
    text: 'Perch',
  });
  const second = await bridge.call(browserPort, 'browser.evaluate', { fn, profile });
  expect(second.result).toEqual([true, 'Perch']);
  expect(second.happened?.dialogs.at(-1)).toEqual({ kind: 'prompt', message: 'who?', accepted: true, text: 'Perch' });
  expect(await bridge.call(browserPort, 'browser.snapshot', { profile })).not.toHaveProperty('happened');
});

verifies('browser/downloads', 'downloads of a page are reported and returned; too large ones are cut off and reported', async () => {
  await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
  await bridge.call(browserPort, 'browser.evaluate', { fn: 'document.body.innerHTML = "<a href=/report.bin>Report</a>"', profile });
  const downloadEvents: BrowserPageEvents['downloads'] = [];
  const collectDownloads = async (): Promise<typeof downloadEvents> => {
    downloadEvents.push(...((await bridge.call(browserPort, 'browser.snapshot', { profile })).happened?.downloads ?? []));
    return downloadEvents;
  };
  const clicked = await bridge.call(browserPort, 'browser.click', { ref: 'text=Report', profile });
  downloadEvents.push(...(clicked.happened?.downloads ?? []));
  await vi.waitFor(async () => expect(await collectDownloads()).toHaveLength(1), 10_000);
  expect(downloadEvents).toEqual([{ downloadId: expect.any(String), filename: 'report.bin', sizeBytes: 4, error: null }]);
  const { downloadId = '' } = downloadEvents[0] ?? {};
  expect(await bridge.call(browserPort, 'browser.download', { downloadId, profile })).toEqual({
    filename: 'report.bin',
    contentB64: Buffer.from('data').toString('base64'),
    sizeBytes: 4,
  });
  await expect(bridge.call(browserPort, 'browser.download', { downloadId: 'other', profile })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  // An endless response. Its server notices when nobody reads it any longer.
  const cut = Promise.withResolvers<void>();
  const endless = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const more = (): void => void (response.destroyed || response.write(Buffer.alloc(256 * 1024), () => more()));
    response.on('close', () => cut.resolve());
    more();
  });
  await once(endless.listen(0, '127.0.0.1'), 'listening');
  const siteAddress = `127.0.0.1:${(endless.address() as AddressInfo).port}`;
  try {
    await bridge.call(browserPort, 'browser.allow', { places: [site.place, siteAddress] });
    downloadEvents.length = 0;
    const opened = await bridge.call(browserPort, 'browser.navigate', { url: `http://${siteAddress}/endless.bin`, profile });
    downloadEvents.push(...(opened.happened?.downloads ?? []));
    await cut.promise;
    await vi.waitFor(async () => expect(await collectDownloads()).toHaveLength(1), 10_000);
    expect(downloadEvents[0]).toMatchObject({ filename: 'endless.bin', error: expect.stringContaining('limited to 8 MiB in total') });
  } finally {
    endless.closeAllConnections();
    endless.close();
    await bridge.call(browserPort, 'browser.allow', { places: [site.place] });
  }
});

verifies('browser/guard', 'no redirect, fetch, frame, popup, socket or prefetch of a page reaches what is not allowed', async () => {
  await expect(bridge.call(browserPort, 'browser.open', { url: privateService.url, profile })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
    message: expect.stringContaining('browser.allow'),
  });
  await expect(bridge.call(browserPort, 'browser.navigate', { url: `${site.url}/redirect`, profile })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
  for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'chrome://version', 'http://169.254.169.254/', 'no address'])
    await expect(bridge.call(browserPort, 'browser.open', { url, profile }), url).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await bridge.call(browserPort, 'browser.navigate', { url: site.url, profile });
  const evaluate = async (fn: string) => (await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).result;
  const pageReport = await evaluate(`async () => {
    const other = ${JSON.stringify(privateService.url)};
    const answer = await fetch(other + '/by-fetch').then((response) => response.text(), String);
    const frame = document.createElement('iframe');
    frame.src = other + '/by-frame';
    document.body.append(frame);
    await new Promise((resolve) => (frame.onload = resolve));
    const socket = new WebSocket(other.replace('http', 'ws') + '/by-socket');
    await new Promise((resolve) => (socket.onerror = socket.onopen = resolve));
    const name = await fetch('http://localhost:' + new URL(other).port + '/by-name', { mode: 'no-cors' }).then(() => 'came', () => 'failed');
    open(other + '/by-popup');
    return { answer, name };
  }`);
  expect(JSON.stringify(pageReport)).not.toContain('the secret');
  const { tabs } = await bridge.call(browserPort, 'browser.tabs', { profile });
  expect(JSON.stringify(tabs)).not.toContain('the secret');
  expect(privateService.asked).toEqual([]);
  // A place that is named opens no other port of its host, whatever the host resolves to.
  const [, port] = site.place.split(':');
  await bridge.call(browserPort, 'browser.allow', { places: [site.place, `localhost:${port}`] });
  const byName = (url: string): Promise<unknown> =>
    evaluate(`fetch(${JSON.stringify(url)}, { mode: 'no-cors' }).then(({ status, type }) => type, () => 'failed')`);
  expect(await byName(`http://localhost:${port}/named`)).toBe('opaque');
  expect(site.asked).toContain('/named');
  await byName(`${privateService.url.replace('127.0.0.1', 'localhost')}/beside`);
  expect(privateService.asked).toEqual([]);
  // And where it is allowed, the same ways are open.
  await bridge.call(browserPort, 'browser.allow', { places: [site.place, privateService.place] });
  expect(await evaluate(`fetch(${JSON.stringify(`${privateService.url}/now`)}).then((response) => response.text())`)).toBe('the secret');
  await bridge.call(browserPort, 'browser.allow', { places: [site.place] });
});

verifies('browser/guard', 'WebRTC sends nothing beside the proxy', async () => {
  const requestTimes: number[] = [];
  const service = createSocket('udp4', (message) => requestTimes.push(message.length)).bind(0, '127.0.0.1');
  try {
    await once(service, 'listening');
    await bridge.call(browserPort, 'browser.navigate', { url: site.url, profile });
    const gathered = `async () => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${service.address().port}' }] });
      peer.createDataChannel('any');
      const complete = new Promise((resolve) => (peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve()));
      await peer.setLocalDescription(await peer.createOffer());
      await complete;
      return peer.iceGatheringState;
    }`;
    expect((await bridge.call(browserPort, 'browser.evaluate', { fn: gathered, profile })).result).toBe('complete');
    expect(requestTimes).toEqual([]);
  } finally {
    service.close();
  }
});

verifies(
  'browser/errors',
  'elements and selectors that are none, scripts that do not end',
  async () => {
    await bridge.call(browserPort, 'browser.navigate', { url: site.url, profile });
    await expect(bridge.call(browserPort, 'browser.click', { ref: '#nowhere', profile })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(bridge.call(browserPort, 'browser.click', { ref: '#[', profile })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const stop = new AbortController();
    const waiting = bridge.call(browserPort, 'browser.evaluate', { fn: '() => new Promise(() => {})', profile }, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  },
  60_000,
);

verifies(
  'browser/profiles',
  'each with storage of its own, which lasts; gone when deleted',
  async () => {
    const cookie = async (name: string, fn: string) => {
      await bridge.call(browserPort, 'browser.open', { url: site.url, profile: name });
      return (await bridge.call(browserPort, 'browser.evaluate', { fn, profile: name })).result;
    };
    expect(await bridge.call(browserPort, 'browser.createProfile', { name: 'work' })).toEqual({ created: true, profile: 'work' });
    await expect(bridge.call(browserPort, 'browser.createProfile', { name: 'work' })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await cookie('work', 'localStorage.setItem("who", "work")');
    expect(await cookie(profile, 'localStorage.getItem("who")')).toBe(null);
    expect(await bridge.call(browserPort, 'browser.stop', { profile: 'work' })).toEqual({ started: false });
    expect((await bridge.call(browserPort, 'browser.profiles', {})).profiles).toEqual([
      { name: 'default', started: true },
      { name: 'work', started: false },
    ]);
    expect(await cookie('work', 'localStorage.getItem("who")')).toBe('work');
    expect(await bridge.call(browserPort, 'browser.deleteProfile', { name: 'work' })).toEqual({ deleted: true });
    await Promise.all(
      [
        bridge.call(browserPort, 'browser.deleteProfile', { name: 'work' }),
        bridge.call(browserPort, 'browser.open', { url: site.url, profile: 'work' }),
      ].map((call) => expect(call).rejects.toMatchObject({ code: 'NOT_FOUND' })),
    );
    await expect(bridge.call(browserPort, 'browser.deleteProfile', { name: 'default' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  },
  60_000,
);

/** The processes that drive the browsers. */
const listDriverProcesses = async (): Promise<number[]> =>
  (await listProcesses('')).filter(({ parent, group, pid }) => parent === process.pid && group === pid).map(({ pid }) => pid);

verifies(
  'browser/hostile-page',
  'whoever drives the browser may die of a page: the bridge does not, and the next call starts it again',
  async () => {
    await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    const waiting = bridge.call(browserPort, 'browser.evaluate', { fn: '() => new Promise(() => {})', profile });
    const running = await listDriverProcesses();
    expect(running).toHaveLength(1);
    for (const pid of running) process.kill(pid, 'SIGKILL');
    await expect(waiting).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('restarts on the next call') });
    expect(await bridge.call(browserPort, 'browser.status', { profile })).toMatchObject({ started: false });
    expect(await bridge.call(browserPort, 'browser.open', { url: site.url, profile })).toMatchObject({ title: 'A page' });
    // Only addresses that were allowed before are still allowed.
    await expect(bridge.call(browserPort, 'browser.open', { url: privateService.url, profile })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    expect(await bridge.call(browserPort, 'browser.stop', { profile })).toEqual({ started: false });
    await vi.waitFor(async () => expect(await listDriverProcesses()).toEqual([]), 10_000);
  },
  60_000,
);

verifies(
  'browser/hostile-page',
  'a page that hangs, or opens one window after the other',
  async () => {
    await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    await bridge.call(browserPort, 'browser.evaluate', { fn: 'setTimeout(() => { for (;;); })', profile });
    await expect(bridge.call(browserPort, 'browser.snapshot', { profile })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await bridge.call(browserPort, 'browser.stop', { profile });
    const { tabId } = await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    const evaluate = async (fn: string) => (await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).result;
    await evaluate('() => void setTimeout(() => (self.opened = Array.from({ length: 55 }, () => open("about:blank"))))');
    await vi.waitFor(async () => expect((await bridge.call(browserPort, 'browser.tabs', { profile })).tabs).toHaveLength(50), 40_000);
    await bridge.call(browserPort, 'browser.focus', { tabId, profile });
    await vi.waitFor(async () => expect(await evaluate('opened.filter((each) => !each.closed).length')).toBe(48), 20_000);
  },
  120_000,
);

/** The processes below one, whose command line has a word where one is given. */
async function findDescendants(pid: number, word = ''): Promise<number[]> {
  const all = await listProcesses('');
  const found = new Set([pid]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.add(each.pid);
  }
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, own = '', args = ''] = /^\s*(\d+) (.*)/.exec(line) ?? [];
    return found.has(Number(own)) && Number(own) !== pid && args.includes(word) ? [Number(own)] : [];
  });
}

verifies(
  'browser/killed',
  'a browser or a page that is killed during a call: a clear error, and the next call has a new one',
  async () => {
    await bridge.call(browserPort, 'browser.stop', { profile });
    await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    const [driver = 0] = await listDriverProcesses();
    const waiting = bridge.call(browserPort, 'browser.evaluate', { fn: '() => new Promise(() => {})', profile });
    await vi.waitFor(async () => expect((await findDescendants(driver, '--type=renderer')).length).toBeGreaterThan(0), 10_000);
    for (const pid of await findDescendants(driver, '--type=renderer')) process.kill(pid, 'SIGKILL');
    await expect(waiting).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('The page crashed') });
    await vi.waitFor(async () => expect((await bridge.call(browserPort, 'browser.tabs', { profile })).tabs).toEqual([]), 10_000);
    await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
    const again = bridge.call(browserPort, 'browser.evaluate', { fn: '() => new Promise(() => {})', profile });
    const before = await findDescendants(driver);
    expect(before.length).toBeGreaterThan(2);
    const [first = 0] = before.sort((a, b) => a - b);
    process.kill(first, 'SIGKILL');
    await expect(again).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('was closed during the call') });
    await vi.waitFor(async () => expect((await findDescendants(driver)).filter((pid) => before.includes(pid))).toEqual([]), 10_000);
    expect(await bridge.call(browserPort, 'browser.open', { url: site.url, profile })).toMatchObject({ title: 'A page' });
    expect(await listDriverProcesses()).toEqual([driver]);
  },
  60_000,
);

verifies(
  'browser/abort',
  'a caller that does not wait ends what is under way: a load, and a script',
  async () => {
    const cut = Promise.withResolvers<void>();
    const came = Promise.withResolvers<void>();
    const silent = createServer((request) => {
      request.socket.on('close', () => cut.resolve());
      came.resolve();
    });
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const siteAddress = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    try {
      await bridge.call(browserPort, 'browser.stop', { profile });
      await bridge.call(browserPort, 'browser.allow', { places: [site.place, siteAddress] });
      await bridge.call(browserPort, 'browser.open', { url: site.url, profile });
      const { tabs } = await bridge.call(browserPort, 'browser.tabs', { profile });
      const enough = new AbortController();
      const opening = bridge.call(browserPort, 'browser.open', { url: `http://${siteAddress}/`, profile }, { signal: enough.signal });
      await came.promise;
      enough.abort(new Error('enough'));
      await expect(opening).rejects.toThrow('enough');
      // Long before the 30 s of a load are over.
      await cut.promise;
      await vi.waitFor(async () => expect((await bridge.call(browserPort, 'browser.tabs', { profile })).tabs).toEqual(tabs), 10_000);
      const stop = new AbortController();
      const script = `() => { const ask = new XMLHttpRequest(); ask.open('GET', '/loops', false); ask.send(); for (;;); }`;
      const loop = bridge.call(browserPort, 'browser.evaluate', { fn: script, profile }, { signal: stop.signal });
      await vi.waitFor(() => expect(site.asked).toContain('/loops'), 10_000);
      stop.abort(new Error('enough'));
      await expect(loop).rejects.toThrow('enough');
      expect((await bridge.call(browserPort, 'browser.evaluate', { fn: '1 + 1', profile })).result).toBe(2);
    } finally {
      silent.closeAllConnections();
      silent.close();
      await bridge.call(browserPort, 'browser.allow', { places: [site.place] });
    }
  },
  60_000,
);
