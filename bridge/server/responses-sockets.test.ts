import { once } from 'node:events';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import { MAX_RESPONSES_SOCKETS } from './responses-sockets.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';

const dialSocket = ({ url, token }: TestBridge, headers: Record<string, string> = {}): WebSocket =>
  new WebSocket(`${url.replace('http', 'ws')}/v1/responses/`, { headers: { authorization: `Bearer ${token}`, ...headers } });

const readRefusal = async (socket: WebSocket): Promise<{ status: number; body: string; retryAfter: string | undefined }> => {
  socket.on('error', () => {});
  const [, answer] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number; headers: Record<string, string> },
  ];
  let body = '';
  for await (const chunk of answer) body += chunk.toString();
  return { status: answer.statusCode, body, retryAfter: answer.headers['retry-after'] };
};

verifies('http.responses/websocket-admission', 'is forwarded to the host with the caller’s session', async () => {
  await using bridge = await startTestBridge();
  const host = await bridge.attach();
  const socket = dialSocket(bridge, { 'x-perch-session': 'mine', 'x-perch-proof': 'no' });
  await once(socket, 'open');
  await waitFor(() => host.openings.length > 0);
  expect(host.openings).toMatchObject([{ kind: RESPONSES_KIND, principal: 'owner', headers: { 'x-perch-session': 'mine' } }]);
  expect(host.openings[0]?.headers).not.toHaveProperty('x-perch-proof');
  host.die();
  const [code] = (await once(socket, 'close')) as [number];
  expect(code).toBe(1012);
});

verifies('http.responses/websocket-admission', 'waits for a host, and is refused without one', async () => {
  await using bridge = await startTestBridge({ timing: { hostWaitMs: 20 } });
  expect(await readRefusal(dialSocket(bridge))).toMatchObject({
    status: 503,
    body: expect.stringContaining('No gateway is running'),
    retryAfter: '1',
  });
});

verifies('http.responses/websocket-admission', 'of the gateway’s own request is refused', async () => {
  await using bridge = await startTestBridge({ via: 'own' });
  await bridge.attach();
  expect(await readRefusal(dialSocket(bridge, { 'x-perch-via': 'own' }))).toMatchObject({ status: 508 });
});

verifies(
  'http.responses/websocket-admission',
  `is refused beside ${MAX_RESPONSES_SOCKETS} others, and closed with the bridge`,
  async () => {
    await using bridge = await startTestBridge();
    await bridge.attach();
    const sockets = Array.from({ length: MAX_RESPONSES_SOCKETS }, () => dialSocket(bridge));
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    expect(await readRefusal(dialSocket(bridge))).toMatchObject({ status: 503, retryAfter: '1' });
    const [first, ...others] = sockets;
    first?.close();
    await waitFor(async () => {
      const next = dialSocket(bridge);
      next.on('error', () => {});
      const opened = await Promise.race([once(next, 'open').then(() => true), once(next, 'unexpected-response').then(() => false)]);
      if (opened) others.push(next);
      return opened;
    });
    const closed = others.map((socket) => once(socket, 'close'));
    await bridge.bridge.close();
    expect(new Set((await Promise.all(closed)).map(([code]) => Number(code)))).toEqual(new Set([1001]));
  },
);

verifies('http.responses/websocket-admission', 'is closed if its client takes nothing, and then the host hears of it', async () => {
  await using bridge = await startTestBridge({ timing: { stallMs: 200, closeMs: 100 } });
  let ended = '';
  await bridge.attach({
    onstream(stream) {
      stream.receive({ data: (chunk) => stream.release(chunk.byteLength), end: () => {}, reset: (_code, reason) => (ended = reason) });
      for (let i = 0; i < 64; i++) stream.send('x'.repeat(1024 * 1024));
    },
  });
  const socket = dialSocket(bridge);
  await once(socket, 'open');
  socket.pause();
  await waitFor(() => ended !== '', 'the end of the stream');
  expect(ended).toBe('slow consumer');
  socket.terminate();
});
