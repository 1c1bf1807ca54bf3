import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { STREAM_WINDOW_BYTES } from '#shared/link/mux.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';
import type { RpcHandler } from './tests/fake-host.ts';
import { awaitClose, connectFrame, createRawFrame, createRawSocket } from './tests/raw-socket.ts';

describe('a stalled reader', () => {
  /** Sends 64 MiB of events on request. */
  const flooding: RpcHandler = (link, { id, method, params }) => {
    if (method !== 'flood') return link.send(JSON.stringify({ type: 'res', id, ok: true, payload: params }));
    const event = JSON.stringify({ type: 'event', event: 'noise', seq: 2, payload: { pad: 'x'.repeat(32 * 1024) } });
    for (let i = 0; i < 2048; i++) link.send(event);
  };

  async function stalled(gateway: TestBridge): Promise<Socket> {
    const socket = await createRawSocket(gateway.url);
    socket.write(createRawFrame(1, Buffer.from(connectFrame({ auth: { token: gateway.token } }))));
    await once(socket, 'data');
    socket.pause();
    socket.write(createRawFrame(1, Buffer.from('{"type":"req","id":"f","method":"flood"}')));
    return socket;
  }

  verifies('bridge/stalled-reader', 'if the host stalls, it costs the bridge at most its credit, and blocks no other client', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach({ rpc: flooding });
    const other = await TestSocketClient.connect(gateway.url, gateway.token);
    const socket = await stalled(gateway);
    const stream = () => host.clients.find(({ opening, stream }) => opening.kind === 'rpc' && stream.buffered > 0)?.stream;
    await expect.poll(stream).toBeDefined();
    // Other clients keep working. After many round trips the flood has stopped at the credit limit.
    let buffered = -1;
    for (let rounds = 0; rounds < 1000 && buffered !== stream()?.buffered; rounds++) {
      buffered = stream()?.buffered ?? 0;
      for (let i = 0; i < 20; i++) expect(await other.call('echo', { i })).toMatchObject({ payload: { i } });
    }
    expect(buffered).toBeGreaterThan(40 * 1024 * 1024);
    expect(gateway.bridge.stats().unsentBytes).toBeLessThanOrEqual(STREAM_WINDOW_BYTES);
    socket.destroy();
    await expect.poll(() => host.mux.streams).toBe(1);
  });

  it('is closed if its socket accepts no data for too long', async () => {
    await using gateway = await startTestBridge({ timing: { stallMs: 200, closeMs: 100 } });
    const host = await gateway.attach({ rpc: flooding });
    const socket = await stalled(gateway);
    await expect.poll(() => host.clients.length).toBe(1);
    await expect.poll(() => host.mux.streams).toBe(0);
    // The reader was paused all the time; now it finds the connection closed.
    const closed = awaitClose(socket);
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
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    for (let i = 0; i < 24; i++) client.send(JSON.stringify({ type: 'req', id: 'x', method: 'm', params: { pad: 'x'.repeat(1_000_000) } }));
    await client.next();
    expect(frames).toEqual(Array(24).fill(1_000_000));
  });
});

verifies('limits/connections', 'a thousand clients are taken, and the next is refused at once', async () => {
  await using gateway = await startTestBridge();
  await gateway.attach();
  const clients: TestSocketClient[] = [];
  while (clients.length < PROTOCOL_LIMITS.maxConnections)
    clients.push(...(await Promise.all(Array.from({ length: 50 }, () => TestSocketClient.connect(gateway.url, gateway.token)))));
  await expect(TestSocketClient.open(gateway.url)).rejects.toThrow('503');
  clients[0]?.socket.terminate();
  await expect
    .poll(() =>
      TestSocketClient.open(gateway.url).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  for (const { socket } of clients) socket.terminate();
});

verifies('load/many', '500 clients that each call once in a while are all answered, in order', async () => {
  await using gateway = await startTestBridge();
  await gateway.attach();
  const clients: TestSocketClient[] = [];
  while (clients.length < 500)
    clients.push(...(await Promise.all(Array.from({ length: 50 }, () => TestSocketClient.connect(gateway.url, gateway.token)))));
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(clients.map((client, i) => client.call('echo', { i, round })));
    expect(answers.map(({ payload }) => payload)).toEqual(clients.map((_, i) => ({ i, round })));
  }
  for (const { socket } of clients) socket.terminate();
});

describe('sockets that never send connect', () => {
  const MAX_SILENT = 256;

  /** Opens sockets that send nothing and do not answer a close. */
  async function silent(gateway: TestBridge, count: number): Promise<Socket[]> {
    const sockets: Socket[] = [];
    while (sockets.length < count)
      sockets.push(
        ...(await Promise.all(Array.from({ length: Math.min(64, count - sockets.length) }, () => createRawSocket(gateway.url)))),
      );
    return sockets;
  }

  verifies('limits/silent-sockets', 'the oldest of them is dropped for a newcomer, who gets in', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const sockets = await silent(gateway, MAX_SILENT);
    const closed: number[] = [];
    for (const [i, socket] of sockets.entries()) {
      socket.once('close', () => closed.push(i));
      socket.resume();
    }
    await TestSocketClient.connect(gateway.url, gateway.token);
    await expect.poll(() => closed).toEqual([0]);
    // The newcomer is connected, which frees its place.
    await TestSocketClient.connect(gateway.url, gateway.token);
    expect(closed).toEqual([0]);
    expect(gateway.bridge.stats()).toMatchObject({ clients: 2, silent: MAX_SILENT - 1 });
    for (const socket of sockets) socket.destroy();
  });

  verifies('limits/silent-sockets', 'they take no place of a connected client', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const owner = await TestSocketClient.connect(gateway.url, gateway.token);
    const sockets = await silent(gateway, PROTOCOL_LIMITS.maxConnections + MAX_SILENT);
    expect(await owner.call('echo', { still: 'here' })).toMatchObject({ payload: { still: 'here' } });
    await TestSocketClient.connect(gateway.url, gateway.token);
    expect(gateway.bridge.stats()).toMatchObject({ clients: 2, silent: MAX_SILENT - 1 });
    for (const socket of sockets) socket.destroy();
  });

  verifies('limits/silent-sockets', 'refused ones that do not answer their close keep nobody out either', async () => {
    await using gateway = await startTestBridge({ timing: { closeMs: 60_000 } });
    await gateway.attach();
    const refused = createRawFrame(1, Buffer.from(connectFrame({ auth: { token: 'wrong' } })));
    const sockets: Socket[] = [];
    for (let i = 0; i < 20; i++) {
      const some = await silent(gateway, 60);
      for (const socket of some) socket.write(refused);
      await Promise.all(some.map((socket) => once(socket, 'data')));
      sockets.push(...some);
    }
    await TestSocketClient.connect(gateway.url, gateway.token);
    for (const socket of sockets) socket.destroy();
  });

  verifies('limits/silent-sockets', 'also where they never send a whole HTTP request', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const { host, port } = new URL(gateway.url);
    const sockets = Array.from({ length: 1_100 }, () => {
      const socket = connectTcp(Number(port), '127.0.0.1');
      socket.on('error', () => {}).write(`GET / HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
      return socket;
    });
    await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(70);
    expect((await gateway.http('/v1/models')).status).toBe(200);
    expect(sockets.at(-1)?.destroyed).toBe(false);
    for (const socket of sockets) socket.destroy();
  });
});
