import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';

const FAST = { timing: { headMs: 300, requestMs: 600 } };

/** Sends the first text at once, then one byte at a time until the socket closes. */
function drip({ url, token }: TestBridge, first: (head: string) => string): Socket {
  const { host, port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(first(`Host: ${host}\r\nAuthorization: Bearer ${token}\r\n`));
  const timer = setInterval(() => socket.write('a'), 20);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

describe('slow HTTP', () => {
  verifies('http/slow', 'a head that never ends is answered 408 and closed, while others are served', async () => {
    await using gateway = await startTestBridge(FAST);
    await gateway.attach();
    const slow = Array.from({ length: 20 }, () => drip(gateway, (head) => `GET /v1/models HTTP/1.1\r\n${head}X-Slow: `));
    expect((await gateway.http('/v1/models')).status).toBe(200);
    for (const answer of await Promise.all(slow.map((socket) => text(socket)))) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  verifies('http/slow', 'so is a body, and the host hears that its caller has gone', async () => {
    await using gateway = await startTestBridge(FAST);
    const host = await gateway.attach();
    const slow = Array.from({ length: 20 }, () =>
      drip(gateway, (head) => `POST /v1/responses HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`),
    );
    await expect.poll(() => host.mux.streams).toBe(20);
    expect((await gateway.http('/v1/models')).status).toBe(200);
    for (const answer of await Promise.all(slow.map((socket) => text(socket)))) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    await expect.poll(() => host.mux.streams).toBe(0);
  });
});

verifies('load/overload', 'more exchanges than there may be are refused at once, health answers, and then it is as before', async () => {
  await using gateway = await startTestBridge();
  const release = Promise.withResolvers<void>();
  let waiting = 0;
  await gateway.attach({ http: async () => (waiting++, await release.promise, new Response('done')) });
  const taken = Array.from({ length: 1_000 }, () => gateway.http('/v1/models'));
  await expect.poll(() => waiting).toBe(1_000);
  const refused = await Promise.all(Array.from({ length: 100 }, () => gateway.http('/v1/models')));
  for (const { status, headers } of refused) expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect((await gateway.http('/health')).status).toBe(200);
  release.resolve();
  expect((await Promise.all(taken)).every(({ status }) => status === 200)).toBe(true);
  expect((await gateway.http('/v1/models')).status).toBe(200);
});
