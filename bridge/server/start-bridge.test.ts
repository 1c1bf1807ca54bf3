import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startBridge } from './start-bridge.ts';
import { startTestBridge, VAULT_KEY } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';

const page = { token: null, headers: { accept: 'text/html' } };

describe('starting', () => {
  it('on a port that another Perch holds says so', async () => {
    await using gateway = await startTestBridge();
    const port = Number(new URL(gateway.url).port);
    await expect(startTestBridge({ port })).rejects.toThrow(
      `Port ${port} is in use by a running Perch 0.1.0 (process ${process.pid}). Stop it, or choose another port with --port.`,
    );
  });

  it.skipIf(process.platform !== 'linux')('on a port that another program holds names it, without its arguments', async () => {
    const script = `const s = require('net').createServer((c) => c.destroy()).listen(0, '127.0.0.1', () => console.log(s.address().port))`;
    const other = spawn(process.execPath, ['-e', script, '--', '--secret=hunter2'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(other, 'exit');
    try {
      const [line] = (await once(other.stdout, 'data')) as [Buffer];
      const failure = await startTestBridge({ port: Number(line.toString()) }).then(String, String);
      expect(failure).toContain(`is in use by "node" (process ${other.pid})`);
      expect(failure).not.toContain('hunter2');
    } finally {
      other.kill();
      await exited;
    }
  });

  it('on a port held by something that never answers still fails soon', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await expect(startTestBridge({ port })).rejects.toThrow(`Port ${port} is in use by`);
    silent.close();
  });

  it('at an address that is not this machine’s, or that others reach, is refused with the way out', async () => {
    await expect(startTestBridge({ bind: '203.0.113.7', expose: true })).rejects.toThrow('203.0.113.7 is not an address of this computer');
    await expect(startTestBridge({ bind: '0.0.0.0' })).rejects.toThrow('--expose');
    await expect(startTestBridge({ bind: '::' })).rejects.toThrow('--expose');
    await expect(startTestBridge({ token: '' })).rejects.toThrow('The token is empty');
  });

  it('with a damaged credentials or build file names it, and leaves the port free', async () => {
    await using gateway = await startTestBridge();
    const { home, token, journal, appDir } = gateway;
    const options = { port: 0, bind: '127.0.0.1', home, token, journal, vaultKey: VAULT_KEY, mode: 'auto', appDir } as const;
    await writeFile(gateway.home.credentialsFile, '{');
    await expect(startBridge(options)).rejects.toThrow(gateway.home.credentialsFile);
    await writeFile(gateway.home.credentialsFile, '{"version":1,"credentials":[]}');
    await writeFile(join(gateway.appDir, 'build.json'), '{');
    await expect(startBridge(options)).rejects.toThrow('build.json is damaged');
  });

  it.skipIf(
    !Object.values(networkInterfaces())
      .flat()
      .some((entry) => entry?.address === '::1'),
  )('works at ::1, under that origin', async () => {
    await using gateway = await startTestBridge({ bind: '::1' });
    expect(gateway.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await gateway.http('/', page)).status).toBe(200);
    await gateway.attach();
  });
});

describe('exposed', () => {
  const own = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;

  it.skipIf(own === undefined)('serves the API alone to others, and the app to this machine', async () => {
    for (const bind of ['0.0.0.0', own ?? '']) {
      await using gateway = await startTestBridge({ bind, expose: true });
      await gateway.attach();
      const outside = gateway.url.replace('127.0.0.1', own ?? '');
      const fetchOutside = (path: string, headers: Record<string, string>) => fetch(`${outside}${path}`, { headers, redirect: 'manual' });
      expect((await fetchOutside('/v1/models', { authorization: `Bearer ${gateway.token}` })).status).toBe(200);
      expect((await fetchOutside('/v1/models', {})).status).toBe(401);
      expect((await fetchOutside('/', page.headers)).status).toBe(404);
      expect((await fetchOutside('/icon.svg', {})).status).toBe(404);
      expect(await (await fetchOutside('/health', {})).json()).not.toHaveProperty('reach');
      expect(await (await gateway.http('/health')).json()).toMatchObject({
        reach: expect.arrayContaining([`${outside.replace('http', 'ws')}/ws`]),
      });
      await TestSocketClient.connect(outside, gateway.token);
      expect((await gateway.http('/', page)).status).toBe(200);
    }
  });
});

describe('closing', () => {
  it('tells clients and host, lets a request finish, and frees the port', async () => {
    const gateway = await startTestBridge();
    const answer = Promise.withResolvers<Response>();
    const received = Promise.withResolvers<void>();
    const host = await gateway.attach({ http: () => (received.resolve(), answer.promise) });
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    const early = await TestSocketClient.open(gateway.url);
    const request = gateway.http('/v1/models');
    await received.promise;
    const closing = gateway.bridge.close();
    expect(await client.closed).toMatchObject({ code: 1001, reason: 'The gateway is shutting down' });
    expect(await early.closed).toMatchObject({ code: 1001 });
    await expect(TestSocketClient.open(gateway.url)).rejects.toThrow('503');
    expect((await gateway.http('/v1/models')).status).toBe(503);
    answer.resolve(new Response('done'));
    expect(await (await request).text()).toBe('done');
    expect(await host.mux.closed).toMatchObject({ code: 1001 });
    await closing;
    await gateway.bridge.close();
    const port = Number(new URL(gateway.url).port);
    await using again = await startTestBridge({ port });
    expect(again.url).toBe(gateway.url);
    await gateway[Symbol.asyncDispose]();
  });

  it('does not wait for who does not go', async () => {
    const gateway = await startTestBridge({ timing: { graceMs: 50, closeMs: 50 } });
    const received = Promise.withResolvers<void>();
    await gateway.attach({ http: () => (received.resolve(), new Promise<Response>(() => {})) });
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    client.socket.pause();
    const request = gateway.http('/v1/models').then(
      (answer) => answer.status,
      () => 'cut',
    );
    await received.promise;
    gateway.bridge.hosts.expectHost(60_000);
    await gateway.bridge.close();
    expect([503, 'cut']).toContain(await request);
    await gateway[Symbol.asyncDispose]();
  });
});

it('health needs no token, and is never stored', async () => {
  await using gateway = await startTestBridge({ mode: 'tab' });
  const answer = await gateway.http('/health', { token: null });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(await answer.json()).toEqual({ status: 'no-host', version: '0.1.0', build: 'build-1', mode: 'tab', host: null, hosts: 0 });
});

verifies('http/prefix', 'the bridge itself responds to requests for other paths', async () => {
  await using gateway = await startTestBridge();
  const host = await gateway.attach();
  for (const path of ['/chat/completions', '/models', '/v2/models', '/V1/models', '/v1x/models', '/apis/tags', '//v1/models', '/']) {
    const answer = await gateway.http(path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    expect([404, 405], `${path} ${answer.status}`).toContain(answer.status);
    await gateway.http(path);
  }
  expect(host.openings).toEqual([]);
  expect((await gateway.http('/v1/models')).status).toBe(200);
  expect(host.openings).toHaveLength(1);
});
