import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { WebSocket, WebSocketServer } from 'ws';
import { importSecret, createProof } from '#shared/link/link-credentials.ts';
import { startTestBridge } from './tests/test-bridge.ts';
import { dialHost } from './tests/fake-host.ts';

describe('an attaching host', () => {
  it('proves itself, sees the bridge’s proof, and serves; it can be let go and attach again', async () => {
    await using gateway = await startTestBridge();
    const events: unknown[] = [];
    gateway.bridge.hosts.on('attach', (kind) => events.push(['attach', kind]));
    gateway.bridge.hosts.on('detach', (kind, code, reason) => events.push(['detach', kind, code, reason]));
    const host = await gateway.attach();
    expect(await host.mux.ready).toMatchObject({
      build: 'build-1',
      capabilities: expect.arrayContaining(['egress', 'journal', 'blobs']) as string[],
    });
    expect(await (await gateway.http('/health', { token: null })).json()).toEqual({
      status: 'ok',
      version: '0.1.0',
      build: 'build-1',
      mode: 'auto',
      host: 'headless',
      hosts: 1,
    });
    await host.close(1000, 'bye');
    await expect.poll(() => gateway.bridge.hosts.current).toBeNull();
    await gateway.attach();
    expect(events).toEqual([
      ['attach', 'headless'],
      ['detach', 'headless', 1000, 'bye'],
      ['attach', 'headless'],
    ]);
  });

  verifies('uplink/mutual-proof', 'a host is refused with a wrong secret, an unknown id, a page’s credential, or garbage', async () => {
    await using gateway = await startTestBridge();
    const app = await gateway.credential('app');
    const good = gateway.bridge.hostCredential();
    const refused = [
      { credential: { ...good, secret: 'B'.repeat(43) } },
      { credential: { ...good, id: 'constructor' } },
      { credential: app },
      { credential: good, auth: { hello: 'there' } },
    ];
    for (const attempt of refused) {
      await expect(dialHost({ url: gateway.url, ...attempt })).rejects.toMatchObject({ code: 1008, message: 'Invalid proof' });
    }
    expect(gateway.bridge.hosts.current).toBeNull();
    await dialHost({ url: gateway.url, credential: good });
  });

  verifies('uplink/mutual-proof', 'a host is refused with a proof that was heard on another connection', async () => {
    await using gateway = await startTestBridge();
    const credential = gateway.bridge.hostCredential();
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/uplink`, { origin: gateway.url });
    const nonce = await new Promise<string>((resolve) =>
      socket.on('message', (data) => resolve((JSON.parse(data.toString()) as { nonce: string }).nonce)),
    );
    const auth = {
      credentialId: credential.id,
      nonce: 'n'.repeat(20),
      proof: await createProof(await importSecret(credential.secret), 'client', 'uplink', nonce, 'n'.repeat(20)),
    };
    await expect(dialHost({ url: gateway.url, credential, auth })).rejects.toMatchObject({ code: 1008 });
    socket.terminate();
  });

  verifies(
    'uplink/mutual-proof',
    'a host finds out who only pretends to be the bridge: a squatter learns nothing that serves it',
    async () => {
      const squatter = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      await once(squatter, 'listening');
      const received: string[] = [];
      squatter.on('connection', (socket) => {
        socket.send(JSON.stringify({ nonce: 'n'.repeat(32) }));
        socket.on('message', (data) => {
          received.push(data.toString());
          // Without the secret, the best it can do is echo the host's own proof.
          socket.send(JSON.stringify({ proof: (JSON.parse(data.toString()) as { proof: string }).proof }));
        });
      });
      const { port } = squatter.address() as AddressInfo;
      await using gateway = await startTestBridge();
      const credential = gateway.bridge.hostCredential();
      await expect(dialHost({ url: `http://127.0.0.1:${port}`, credential })).rejects.toThrow('the bridge did not prove itself');
      expect(received.join()).not.toContain(credential.secret);
      const auth = JSON.parse(received[0] ?? '') as Record<string, unknown>;
      await expect(dialHost({ url: gateway.url, credential, auth })).rejects.toMatchObject({ code: 1008 });
      squatter.close();
    },
  );

  it('is not waited for endlessly', async () => {
    await using gateway = await startTestBridge({ timing: { handshakeMs: 50 } });
    const silent = new WebSocket(`${gateway.url.replace('http', 'ws')}/uplink`, { origin: gateway.url });
    const closed = await new Promise((resolve) => silent.on('close', (code, reason) => resolve([code, reason.toString()])));
    expect(closed).toEqual([1008, 'no proof in time']);
  });

  it.each(['http://localhost', 'null', 'https://evil.example'])('is refused from %s', async (origin) => {
    await using gateway = await startTestBridge();
    await expect(dialHost({ url: gateway.url, credential: gateway.bridge.hostCredential(), origin })).rejects.toThrow('403');
  });
});
