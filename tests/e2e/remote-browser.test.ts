import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { browserPort } from '#shared/ports/browser-port.ts';
import type { BrowserPageEvents } from '#shared/rpc/methods/browser-contracts.ts';
import { createDriverProcess } from '../../bridge/capabilities/browser/driver-process.ts';
import { findDrivenBrowser } from '../../bridge/headless/find-browser.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';

const dir = mkdtempSync(join(tmpdir(), 'perch-remote-'));
const browsers = createDriverProcess({ dir: join(dir, 'profiles'), log: () => {}, keeper: new ProcessKeeper(() => {}) });
const bridge = new FakeBridge(createCapability(browserPort, browsers.handlers));
/** Content of the download, if the cookie was sent. */
const REPORT = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));
let once404 = false;
const site = createServer(({ url, headers }, response) => {
  const as = (type: string): typeof response => response.writeHead(200, { 'content-type': type });
  if (url === '/report.bin') return as('application/octet-stream').end(headers.cookie === 'who=me' ? REPORT : 'nobody');
  if (url === '/once.bin' && !once404) return void ((once404 = true), as('application/octet-stream').end('once'));
  if (url === '/once.bin') return response.writeHead(404).end();
  if (url === '/large.bin') return as('application/octet-stream').end(Buffer.alloc(9 * 1024 * 1024));
  as('text/html').end('<title>A page</title><button>Go</button>');
});
const profile = 'default';
let remote: ChildProcess;
let endpoint = '';
let place = '';

/** The tabs that the other browser has, as it says itself. */
const listRemoteTabs = async (): Promise<string[]> => {
  const list = (await (await fetch(`${endpoint}/json/list`)).json()) as { type: string; url: string }[];
  return list.filter(({ type }) => type === 'page').map(({ url }) => url);
};

beforeAll(async () => {
  await once(site.listen(0, '127.0.0.1'), 'listening');
  place = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  const folder = join(dir, 'other');
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--remote-debugging-port=0',
    `--user-data-dir=${folder}`,
    `http://${place}/theirs`,
  ];
  remote = spawn((await findDrivenBrowser()) ?? '', args, { stdio: 'ignore' });
  const port = await vi.waitFor(() => {
    const [first = ''] = readFileSync(join(folder, 'DevToolsActivePort'), 'utf8').split('\n');
    // The file exists before it has content.
    expect(first).toMatch(/^\d+$/);
    return first;
  }, 20_000);
  endpoint = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect(await listRemoteTabs()).toHaveLength(1), 10_000);
});
afterAll(async () => {
  await browsers.close();
  remote.kill('SIGKILL');
  site.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

verifies('browser/remote', 'another Chrome is driven over CDP, says so, and keeps what it had', async () => {
  expect(await bridge.call(browserPort, 'browser.status', { profile })).toMatchObject({ started: false, remote: false });
  await bridge.call(browserPort, 'browser.allow', { places: [place], cdpEndpoint: endpoint });
  const { tabs } = await bridge.call(browserPort, 'browser.tabs', { profile });
  expect(tabs).toEqual([]);
  expect(await bridge.call(browserPort, 'browser.open', { url: `http://${place}/`, profile })).toMatchObject({ title: 'A page' });
  expect(await listRemoteTabs()).toEqual(expect.arrayContaining([`http://${place}/`, `http://${place}/theirs`]));
  expect(await bridge.call(browserPort, 'browser.status', { profile })).toMatchObject({ started: true, remote: true, tabCount: 2 });
  const { accessibility = '' } = await bridge.call(browserPort, 'browser.snapshot', { profile, mode: 'accessibility' });
  const [, ref = ''] = /button "Go" \[ref=(\w+)\]/.exec(accessibility) ?? [];
  expect(await bridge.call(browserPort, 'browser.click', { ref, profile })).toEqual({ clicked: true, ref });
  expect((await bridge.call(browserPort, 'browser.screenshot', { profile })).sizeBytes).toBeGreaterThan(100);
  // Addresses are checked there too.
  await expect(bridge.call(browserPort, 'browser.open', { url: endpoint, profile })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await bridge.call(browserPort, 'browser.stop', { profile });
  await vi.waitFor(async () => expect(await listRemoteTabs()).toEqual([`http://${place}/theirs`]), 10_000);
});

verifies('browser/remote', 'a profile has cookies of its own there, and another setting lets all of them go', async () => {
  await bridge.call(browserPort, 'browser.allow', { places: [place], cdpEndpoint: endpoint });
  await bridge.call(browserPort, 'browser.createProfile', { name: 'work' });
  const cookies = async (name: string, fn: string): Promise<unknown> => {
    await bridge.call(browserPort, 'browser.open', { url: `http://${place}/`, profile: name });
    return (await bridge.call(browserPort, 'browser.evaluate', { fn, profile: name })).result;
  };
  await cookies('work', 'document.cookie = "who=work"');
  expect(await cookies('work', 'document.cookie')).toBe('who=work');
  expect(await cookies('default', 'document.cookie')).toBe('');
  await bridge.call(browserPort, 'browser.allow', { places: [place] });
  expect(await bridge.call(browserPort, 'browser.status', { profile: 'work' })).toMatchObject({ started: false, remote: false });
  await vi.waitFor(async () => expect(await listRemoteTabs()).toEqual([`http://${place}/theirs`]), 10_000);
});

verifies('browser/remote', 'downloads of a remote page arrive here, with its cookies; failed ones are reported', async () => {
  await bridge.call(browserPort, 'browser.allow', { places: [place], cdpEndpoint: endpoint });
  await bridge.call(browserPort, 'browser.open', { url: `http://${place}/`, profile });
  await bridge.call(browserPort, 'browser.evaluate', { fn: 'document.cookie = "who=me"', profile });
  const downloaded = async (href: string): Promise<BrowserPageEvents['downloads'][number] | undefined> => {
    const fn = `() => { const link = document.createElement('a'); link.href = ${href}; link.download = ''; document.body.append(link); link.click(); }`;
    const downloads = [...((await bridge.call(browserPort, 'browser.evaluate', { fn, profile })).happened?.downloads ?? [])];
    await vi.waitFor(async () => {
      downloads.push(...((await bridge.call(browserPort, 'browser.snapshot', { profile })).happened?.downloads ?? []));
      expect(downloads).toHaveLength(1);
    }, 20_000);
    return downloads[0];
  };
  const report = await downloaded('"/report.bin"');
  expect(report).toEqual({ downloadId: expect.any(String), filename: 'report.bin', sizeBytes: REPORT.length, error: null });
  const { contentB64 } = await bridge.call(browserPort, 'browser.download', { downloadId: report?.downloadId ?? '', profile });
  expect(Buffer.from(contentB64, 'base64').equals(REPORT)).toBe(true);
  expect(await downloaded('"/once.bin"')).toMatchObject({ error: expect.stringContaining('Couldn’t fetch the file again (404)') });
  expect(await downloaded('"/large.bin"')).toMatchObject({ error: expect.stringContaining('limited to 8 MiB in total') });
  expect(await downloaded('URL.createObjectURL(new Blob(["made"]))')).toMatchObject({
    error: 'The file was created by the page and stays on the browser’s computer',
  });
  await bridge.call(browserPort, 'browser.stop', { profile });
  await vi.waitFor(async () => expect(await listRemoteTabs()).toEqual([`http://${place}/theirs`]), 10_000);
});

verifies(
  'browser/remote',
  'a remote browser that disconnects during a call, or is unreachable, is reported without its address',
  async () => {
    await bridge.call(browserPort, 'browser.allow', { places: [place], cdpEndpoint: `${endpoint}/?token=hush-hush` });
    await bridge.call(browserPort, 'browser.open', { url: `http://${place}/`, profile });
    const waiting = bridge.call(browserPort, 'browser.evaluate', { fn: '() => new Promise(() => {})', profile });
    remote.kill('SIGKILL');
    await expect(waiting).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('was closed during the call') });
    const error: unknown = await bridge
      .call(browserPort, 'browser.open', { url: `http://${place}/`, profile })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('Couldn’t control the browser at browser.cdpEndpoint'),
    });
    expect(String(error)).not.toContain('hush-hush');
  },
);
