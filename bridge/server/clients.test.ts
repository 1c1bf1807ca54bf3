import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { STREAM_WINDOW } from '#shared/link/mux.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import { startTestBridge, type TestBridge } from './tests/bridge.ts';
import { TestClient } from './tests/client.ts';
import type { RpcHandler } from './tests/fake-host.ts';
import { closeOf, connectFrame, rawFrame, rawSocket } from './tests/raw-socket.ts';

describe('a stalled reader', () => {
  /** Sends 64 MiB of events to who asks for them. */
  const flooding: RpcHandler = (link, { id, method, params }) => {
    if (method !== 'flood') return link.send(JSON.stringify({ type: 'res', id, ok: true, payload: params }));
    const event = JSON.stringify({ type: 'event', event: 'noise', seq: 2, payload: { pad: 'x'.repeat(32 * 1024) } });
    for (let i = 0; i < 2048; i++) link.send(event);
  };

  async function stalled(gateway: TestBridge): Promise<Socket> {
    const socket = await rawSocket(gateway.url);
    socket.write(rawFrame(1, Buffer.from(connectFrame({ auth: { token: gateway.token } }))));
    await once(socket, 'data');
    socket.pause();
    socket.write(rawFrame(1, Buffer.from('{"type":"req","id":"f","method":"flood"}')));
    return socket;
  }

  verifies(
    'bridge/stalled-reader',
    'held back at the host, it costs the bridge no more than its credit, and keeps nobody else waiting',
    async () => {
      await using gateway = await startTestBridge();
      const host = await gateway.attach({ rpc: flooding });
      const other = await TestClient.connect(gateway.url, gateway.token);
      const socket = await stalled(gateway);
      const stream = () => host.clients.find(({ opening, stream }) => opening.kind === 'rpc' && stream.buffered > 0)?.stream;
      await expect.poll(stream).toBeDefined();
      // Others go on; when many of their round trips are done, the flood has come to rest against the credit.
      let buffered = -1;
      for (let rounds = 0; rounds < 1000 && buffered !== stream()?.buffered; rounds++) {
        buffered = stream()?.buffered ?? 0;
        for (let i = 0; i < 20; i++) expect(await other.call('echo', { i })).toMatchObject({ payload: { i } });
      }
      expect(buffered).toBeGreaterThan(40 * 1024 * 1024);
      expect(gateway.bridge.stats().unsentBytes).toBeLessThanOrEqual(STREAM_WINDOW);
      socket.destroy();
      await expect.poll(() => host.mux.streams).toBe(1);
    },
  );

  it('is closed when its socket takes nothing for too long', async () => {
    await using gateway = await startTestBridge({ timing: { stallMs: 200, closeMs: 100 } });
    const host = await gateway.attach({ rpc: flooding });
    const socket = await stalled(gateway);
    await expect.poll(() => host.clients.length).toBe(1);
    await expect.poll(() => host.mux.streams).toBe(0);
    // All the time its reader looked away; now it finds the connection cut.
    const closed = closeOf(socket);
    socket.resume();
    await closed;
  });

  it('on the host’s side pauses the client, and then gets all of it', async () => {
    await using gateway = await startTestBridge();
    const frames: number[] = [];
    await gateway.attach({
      rpc: (link, { id, params }) => {
        frames.push(String(params.pad).length);
        if (frames.length === 24) link.send(JSON.stringify({ type: 'res', id, ok: true, payload: {} }));
      },
    });
    const client = await TestClient.connect(gateway.url, gateway.token);
    for (let i = 0; i < 24; i++) client.send(JSON.stringify({ type: 'req', id: 'x', method: 'm', params: { pad: 'x'.repeat(1_000_000) } }));
    await client.next();
    expect(frames).toEqual(Array(24).fill(1_000_000));
  });
});

verifies('limits/connections', 'a thousand clients are taken, and the next is refused at once', async () => {
  await using gateway = await startTestBridge();
  const clients = await Promise.all(Array.from({ length: LIMITS.maxConnections }, () => TestClient.open(gateway.url)));
  await expect(TestClient.open(gateway.url)).rejects.toThrow('503');
  clients[0]?.socket.terminate();
  await expect
    .poll(() =>
      TestClient.open(gateway.url).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  for (const { socket } of clients) socket.terminate();
});
