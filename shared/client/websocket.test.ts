import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket as NodeSocket, WebSocketServer } from 'ws';
import type { Link } from '../link/link.ts';
import { Mux } from '../link/mux.ts';
import { testHello, recordStream } from '../link/mux-testing.ts';
import { binarySocketLink, socketLink } from './websocket.ts';

let server: WebSocketServer;
let url: string;

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `ws://127.0.0.1:${address.port}`;
});

afterEach(async () => {
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

function collectMessages<M>(link: Link<M>): { messages: M[]; closed: Promise<[number, string]> } {
  const messages: M[] = [];
  const { promise, resolve } = Promise.withResolvers<[number, string]>();
  link.receive({ message: (message) => messages.push(message), close: (code, reason) => resolve([code, reason]) });
  return { messages, closed: promise };
}

const kinds: Record<string, () => WebSocket | NodeSocket> = { platform: () => new WebSocket(url), ws: () => new NodeSocket(url) };

describe.each(Object.keys(kinds))('a link over a WebSocket (%s)', (kind) => {
  const connect = async (): Promise<[WebSocket | NodeSocket, NodeSocket]> => {
    const accepted = once(server, 'connection');
    const socket = kinds[kind]!();
    const opened = new Promise((resolve) => (socket.onopen = resolve));
    const [far] = (await accepted) as [NodeSocket];
    await opened;
    return [socket, far];
  };

  it('carries texts both ways, passes over bytes, and tells the close', async () => {
    const [near, far] = await connect();
    const link = socketLink(near);
    const collected = collectMessages(link);
    far.on('message', (data) => {
      far.send(`re: ${data.toString()}`);
      far.send(Uint8Array.of(1));
      far.close(4005, 'done');
    });
    link.send('hello');
    expect(await collected.closed).toEqual([4005, 'done']);
    expect(collected.messages).toEqual(['re: hello']);
    link.send('late');
  });

  it('buffers messages until someone listens', async () => {
    const [near, far] = await connect();
    const link = socketLink(near);
    const closeEvent = new Promise((resolve) => near.addEventListener('close', resolve));
    far.send('challenge');
    far.close(4006, 'at once');
    await closeEvent;
    const collected = collectMessages(link);
    expect([collected.messages, await collected.closed]).toEqual([['challenge'], [4006, 'at once']]);
  });

  it('tells of a socket that had closed before', async () => {
    const [near, far] = await connect();
    const closeEvent = new Promise((resolve) => near.addEventListener('close', resolve));
    far.terminate();
    await closeEvent;
    expect((await collectMessages(socketLink(near)).closed)[0]).toBe(1006);
  });

  it.each([
    [1000, 1000],
    [1002, 4000],
    [4010, 4010],
    [5000, 4000],
  ])('closes with %i as %i, whatever the length of the reason', async (code, sent) => {
    const [near, far] = await connect();
    const closed = once(far, 'close') as Promise<[number, Buffer]>;
    socketLink(near).close(code, `a${'😀'.repeat(100)}`);
    const [got, reason] = await closed;
    expect([got, reason.toString()]).toEqual([sent, `a${'😀'.repeat(30)}`]);
  });

  it('carries a multiplexer', async () => {
    const [near, far] = await connect();
    const dialer = new Mux(binarySocketLink(near), { side: 'dialer', hello: testHello, onstream: () => {} });
    new Mux(binarySocketLink(far), {
      side: 'acceptor',
      hello: testHello,
      onstream: (stream) =>
        stream.receive({
          data(chunk, fin, text) {
            stream.release(chunk.byteLength);
            if (text) stream.sendText(chunk.slice(), fin);
          },
          end: () => stream.end(),
          reset: () => {},
        }),
    });
    const stream = dialer.open({ kind: 'echo' });
    const ended = Promise.withResolvers<void>();
    const log = recordStream(stream, { onend: ended.resolve });
    stream.send('x'.repeat(1_000_000));
    stream.end();
    await ended.promise;
    expect(log.messages.map(({ bytes, text }) => [bytes.byteLength, text])).toEqual([[1_000_000, true]]);
    dialer.close();
  });
});
