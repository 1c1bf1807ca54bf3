import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { WebSocket, WebSocketServer } from 'ws';
import { importSecret, linked, prove } from '#shared/link/proof.ts';
import { HANDING_OVER } from './lease.ts';
import { startTestBridge, type TestBridge } from './tests/bridge.ts';
import { TestClient } from './tests/client.ts';
import { dialHost } from './tests/fake-host.ts';

async function linkBrowser(gateway: TestBridge) {
  const given = await gateway.http('/link', {
    method: 'POST',
    token: null,
    headers: { origin: gateway.url, 'content-type': 'application/json' },
    body: JSON.stringify({ code: gateway.bridge.issueCode(10_000) }),
  });
  return linked.parse(await given.json());
}

describe('a host that attaches', () => {
  it('proves itself, sees the bridge’s proof, and serves; it can be let go and attach again', async () => {
    await using gateway = await startTestBridge();
    const events: unknown[] = [];
    gateway.bridge.lease.on('attach', (kind) => events.push(['attach', kind]));
    gateway.bridge.lease.on('detach', (kind, code, reason) => events.push(['detach', kind, code, reason]));
    const host = await gateway.attach();
    expect(await host.mux.ready).toMatchObject({ build: 'build-1', capabilities: ['egress'] });
    expect(await (await gateway.http('/health', { token: null })).json()).toEqual({
      status: 'ok',
      version: '0.1.0',
      build: 'build-1',
      mode: 'auto',
      host: 'headless',
    });
    await host.close(1000, 'bye');
    await expect.poll(() => gateway.bridge.lease.current).toBeNull();
    await gateway.attach();
    expect(events).toEqual([
      ['attach', 'headless'],
      ['detach', 'headless', 1000, 'bye'],
      ['attach', 'headless'],
    ]);
  });

  verifies('uplink/mutual-proof', 'a host is refused with a wrong secret, an unknown id, a page’s credential, or garbage', async () => {
    await using gateway = await startTestBridge();
    const { app } = await linkBrowser(gateway);
    const good = gateway.bridge.hostCredential();
    const refused = [
      { credential: { ...good, secret: 'B'.repeat(43) } },
      { credential: { ...good, id: 'constructor' } },
      { credential: app },
      { credential: good, auth: { hello: 'there' } },
    ];
    for (const attempt of refused) {
      await expect(dialHost({ url: gateway.url, ...attempt })).rejects.toMatchObject({ code: 1008, message: 'The proof is not right' });
    }
    expect(gateway.bridge.lease.current).toBeNull();
    await dialHost({ url: gateway.url, credential: good });
  });

  verifies('uplink/mutual-proof', 'a host is refused with a proof that was heard on another connection', async () => {
    await using gateway = await startTestBridge();
    const credential = gateway.bridge.hostCredential();
    const heard = new WebSocket(`${gateway.url.replace('http', 'ws')}/uplink`, { origin: gateway.url });
    const nonce = await new Promise<string>((resolve) =>
      heard.on('message', (data) => resolve((JSON.parse(data.toString()) as { nonce: string }).nonce)),
    );
    const auth = {
      credentialId: credential.id,
      nonce: 'n'.repeat(20),
      proof: await prove(await importSecret(credential.secret), 'client', 'uplink', nonce, 'n'.repeat(20)),
    };
    await expect(dialHost({ url: gateway.url, credential, auth })).rejects.toMatchObject({ code: 1008 });
    heard.terminate();
  });

  verifies(
    'uplink/mutual-proof',
    'a host finds out who only pretends to be the bridge: a squatter learns nothing that serves it',
    async () => {
      const squatter = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      await once(squatter, 'listening');
      const heard: string[] = [];
      squatter.on('connection', (socket) => {
        socket.send(JSON.stringify({ nonce: 'n'.repeat(32) }));
        socket.on('message', (data) => {
          heard.push(data.toString());
          // The best that it can do: give the host's own proof back.
          socket.send(JSON.stringify({ proof: (JSON.parse(data.toString()) as { proof: string }).proof }));
        });
      });
      const { port } = squatter.address() as AddressInfo;
      await using gateway = await startTestBridge();
      const credential = gateway.bridge.hostCredential();
      await expect(dialHost({ url: `http://127.0.0.1:${port}`, credential })).rejects.toThrow('the bridge did not prove itself');
      expect(heard.join()).not.toContain(credential.secret);
      const auth = JSON.parse(heard[0] ?? '') as Record<string, unknown>;
      await expect(dialHost({ url: gateway.url, credential, auth })).rejects.toMatchObject({ code: 1008 });
      squatter.close();
    },
  );

  it('is not waited for endlessly', async () => {
    await using gateway = await startTestBridge({ timing: { handshakeMs: 50 } });
    const silent = new WebSocket(`${gateway.url.replace('http', 'ws')}/uplink`, { origin: gateway.url });
    const closed = await new Promise((resolve) => silent.on('close', (code, reason) => resolve([code, reason.toString()])));
    expect(closed).toEqual([1008, 'no proof came in time']);
  });

  it.each(['http://localhost', 'null', 'https://evil.example'])('is refused from %s', async (origin) => {
    await using gateway = await startTestBridge();
    await expect(dialHost({ url: gateway.url, credential: gateway.bridge.hostCredential(), origin })).rejects.toThrow('403');
  });
});

describe('the lease', () => {
  it('is the managed browser’s in mode auto, a tab’s in mode tab', async () => {
    await using auto = await startTestBridge({ mode: 'auto' });
    await expect(dialHost({ url: auto.url, credential: (await linkBrowser(auto)).host })).rejects.toMatchObject({
      code: 4009,
      message: 'the managed browser hosts this gateway',
    });
    await using tab = await startTestBridge({ mode: 'tab' });
    await expect(dialHost({ url: tab.url, credential: tab.bridge.hostCredential() })).rejects.toMatchObject({
      code: 4009,
      message: 'a tab hosts this gateway',
    });
    await tab.attach({ credential: (await linkBrowser(tab)).host });
    expect(tab.bridge.lease.kind).toBe('tab');
  });

  verifies('lease/one-host', 'kept by a holder that lives', async () => {
    await using gateway = await startTestBridge({ mode: 'tab' });
    const { host: credential } = await linkBrowser(gateway);
    await gateway.attach({ credential });
    const client = await TestClient.connect(gateway.url, gateway.token);
    await expect(dialHost({ url: gateway.url, credential })).rejects.toMatchObject({ code: 4009, message: 'another host holds the lease' });
    expect(await client.call('echo', { a: 1 })).toMatchObject({ payload: { a: 1 } });
  });

  verifies('lease/one-host', 'it goes over from a holder that is frozen; its clients are told to come back', async () => {
    await using gateway = await startTestBridge({ mode: 'tab', timing: { aliveMs: 100 } });
    const { host: credential } = await linkBrowser(gateway);
    await gateway.attach({ credential, frozen: true });
    const client = await TestClient.connect(gateway.url, gateway.token);
    await gateway.attach({ credential });
    expect(await client.closed).toMatchObject({ code: 1012 });
    await TestClient.connect(gateway.url, gateway.token);
  });

  verifies('lease/one-host', 'given to one of several that ask at the same time', async () => {
    await using gateway = await startTestBridge({ mode: 'tab' });
    const { host: credential } = await linkBrowser(gateway);
    const tries = await Promise.allSettled([1, 2, 3].map(() => dialHost({ url: gateway.url, credential })));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  verifies('lease/one-host', 'lost by a holder that stops answering heartbeats, kept over many by one that answers', async () => {
    await using gateway = await startTestBridge({ timing: { heartbeatMs: 30 } });
    let beats = 0;
    const healthy = await gateway.attach();
    healthy.socket.on('message', () => beats++);
    const client = await TestClient.connect(gateway.url, gateway.token);
    await expect.poll(() => beats).toBeGreaterThan(5);
    expect(gateway.bridge.lease.current).not.toBeNull();
    healthy.die();
    await client.closed;
    const lost = new Promise((resolve) => gateway.bridge.lease.once('detach', (...args) => resolve(args)));
    await gateway.attach({ frozen: true });
    expect(await lost).toEqual(['headless', 4011, 'the host stopped answering']);
  });

  it('is waited for after a holder that said it hands over, and not after one that left', async () => {
    await using gateway = await startTestBridge();
    const leaving = await gateway.attach();
    leaving.socket.close(HANDING_OVER, 'a new build takes over');
    await expect.poll(() => gateway.bridge.lease.current).toBeNull();
    const waiting = TestClient.connect(gateway.url, gateway.token);
    await expect.poll(() => gateway.bridge.lease.waiting).toBe(1);
    const next = await gateway.attach();
    await waiting;
    next.die();
    await expect.poll(() => gateway.bridge.lease.current).toBeNull();
    expect((await gateway.http('/v1/models')).status).toBe(503);
  });
});
