import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { fetchOverStream, serveHttp } from '#shared/link/stream-http.ts';
import {
  type ForwardRequest,
  FORWARD_HEADER,
  FORWARD_KIND,
  isBypassResponse,
  type SpliceEnd,
  createSplicedResponse,
} from '#shared/link/splice.ts';
import { CompletionFilter } from './completion-filter.ts';
import { startTestBridge, type TestBridge } from '../server/tests/test-bridge.ts';
import type { FakeHost } from '../server/tests/fake-host.ts';

const call = { id: 'c1', provider: 'p', model: 'p/m', principal: 'owner', inputTokens: 3 };
const WISH: Omit<ForwardRequest, 'to'> = {
  call,
  wire: 'chat',
  stream: true,
  choices: 1,
  idleMs: 30_000,
  trailerMs: 30_000,
  stripUsage: false,
  thinksFirst: false,
};
const chunk = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

/** A server that streams what the test writes. `asked` resolves to its n-th response. */
async function startWriter() {
  const answers: ServerResponse[] = [];
  const waiting = new Map<number, (response: ServerResponse) => void>();
  const server = createServer((_request, response) => {
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'text/event-stream', held: 'true', spliced: 'true' });
    waiting.get(answers.push(response))?.(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    count: () => answers.length,
    asked: (n = 1): Promise<ServerResponse> => {
      const answer = answers[n - 1];
      return answer ? Promise.resolve(answer) : new Promise((resolve) => waiting.set(n, resolve));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Requests `url` for the caller on stream `to`. */
const forwarded = (host: FakeHost, url: string, signal: AbortSignal, wish: Partial<ForwardRequest> & { to: number }): Promise<Response> =>
  fetchOverStream(
    host.mux,
    { kind: FORWARD_KIND, headers: { ':method': 'POST', ':url': url, [FORWARD_HEADER]: JSON.stringify({ ...WISH, ...wish }) } },
    { signal },
  );

/** A host that answers every request through `url` and records how responses end. `to`: stream of a different caller. */
async function splicer(gateway: TestBridge, url: string, overrides: Partial<ForwardRequest> = {}, to = (own: number): number => own) {
  const ends: SpliceEnd[] = [];
  const exchanges: number[] = [];
  const relayed: Response[] = [];
  const host: FakeHost = await gateway.attach({
    onstream: (stream, opening) =>
      serveHttp(stream, opening, gateway.url, async (request) => {
        exchanges.push(stream.id);
        const answer = await forwarded(host, url, request.signal, { ...overrides, to: to(stream.id) });
        if (!isBypassResponse(answer)) {
          relayed.push(answer);
          return answer;
        }
        const rest = new ReadableStream<Uint8Array>({
          async start(controller) {
            const end = (await answer.json()) as SpliceEnd;
            ends.push(end);
            if (end.how !== 'done') controller.enqueue(new TextEncoder().encode(`data: ${end.how}\n\n`));
            controller.close();
          },
        });
        return createSplicedResponse(rest);
      }),
  });
  return { host, ends, exchanges, relayed };
}

const sendRequest = (gateway: TestBridge): Promise<Response> => gateway.http('/v1/chat/completions', { method: 'POST', body: '{}' });

describe('a splice', () => {
  it('starts with the first event; data passes unchanged, and the host is only notified of the end', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const { ends } = await splicer(gateway, server.url);
    const response = sendRequest(gateway);
    const upstream = await server.asked();
    upstream.write(': a comment\n\n');
    upstream.write(chunk('a').slice(0, 9));
    upstream.write(chunk('a').slice(9));
    const answer = await response;
    upstream.end(`${chunk('b', 'stop')}data: [DONE]\n\n`);
    expect(await answer.text()).toBe(`: a comment\n\n${chunk('a')}${chunk('b', 'stop')}data: [DONE]\n\n`);
    await expect.poll(() => ends).toEqual([{ how: 'done' }]);
  });

  it('drops an upstream that goes silent, and lets the host report it', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const { ends } = await splicer(gateway, server.url, { idleMs: 50 });
    const response = sendRequest(gateway);
    const upstream = await server.asked();
    const closed = once(upstream, 'close');
    upstream.write(chunk('a'));
    expect(await (await response).text()).toBe(`${chunk('a')}data: silent\n\n`);
    expect(ends).toEqual([{ how: 'silent' }]);
    await closed;
  });

  it('does not wait behind endless comments, which are not buffered', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const { relayed } = await splicer(gateway, server.url);
    const response = sendRequest(gateway);
    const upstream = await server.asked();
    const comments = `: still thinking\n\n`.repeat(100_000);
    upstream.write(comments);
    const answer = await response;
    upstream.end(chunk('a', 'stop'));
    expect(await answer.text()).toBe(comments + chunk('a', 'stop'));
    expect(relayed).toHaveLength(1);
  }, 5000);

  verifies('http.chat/splice-back-pressure', 'waits for a slow caller as long as needed, with a small buffer', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const { ends } = await splicer(gateway, server.url, { idleMs: 200 });
    const { port, host } = new URL(gateway.url);
    const caller = connect(Number(port), '127.0.0.1');
    caller.write(`POST /v1/x HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.token}\r\nContent-Length: 2\r\n\r\n{}`);
    const upstream = await server.asked();
    const piece = chunk('x'.repeat(64 * 1024));
    let written = 0;
    const write = (): void => {
      do written += piece.length;
      while (written < 512 * 1024 * 1024 && upstream.write(piece));
    };
    upstream.on('drain', write);
    write();
    // Each of these is silent for longer than the stalled one was allowed to be.
    for (let others = 2, before = -1; others < 6 || before !== written; others++) {
      before = written;
      const response = sendRequest(gateway);
      (await server.asked(others)).write(chunk('a'));
      expect(await (await response).text()).toContain('silent');
    }
    expect(ends.every(({ how }) => how === 'silent')).toBe(true);
    expect(upstream.destroyed).toBe(false);
    // The kernel buffers some megabytes for each of the two loopback connections.
    expect(written).toBeLessThan(32 * 1024 * 1024);
    upstream.off('drain', write).end(`${chunk('', 'stop')}data: [DONE]\n\n`);
    let read = 0;
    caller.on('data', (bytes) => (read += bytes.byteLength));
    await expect.poll(() => ends.at(-1)).toEqual({ how: 'done' });
    await expect.poll(() => read).toBeGreaterThan(written);
    caller.destroy();
  });

  it('takes an answer that only lacks its trailer for whole', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    await splicer(gateway, server.url, { trailerMs: 50 });
    const response = sendRequest(gateway);
    (await server.asked()).write(chunk('a', 'stop'));
    expect(await (await response).text()).toBe(`${chunk('a', 'stop')}data: [DONE]\n\n`);
  });

  verifies(
    'http.chat/true-usage',
    'leaves out the figures of usage that the caller did not ask for, wherever the bytes are cut',
    async () => {
      const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } })}\n\n`;
      const sent = Buffer.from(`: hi\n\n${chunk('ä')}${usage}${chunk('b')}${usage}${usage}${chunk('c', 'stop')}${usage}`);
      for (const size of [1, 7, 64, 1000]) {
        const passage = new CompletionFilter({ wire: 'chat', choices: 1, stripUsage: true, thinksFirst: false });
        const out: Uint8Array[] = [];
        for (let at = 0; at < sent.length; at += size) out.push(...passage.push(sent.subarray(at, at + size)));
        out.push(...passage.end());
        expect(Buffer.concat(out).toString(), String(size)).toBe(`: hi\n\n${chunk('ä')}${chunk('b')}${chunk('c', 'stop')}`);
        expect([passage.stopped, passage.watch.usage?.totalTokens]).toEqual([{ how: 'done' }, 3]);
      }
    },
  );

  it('tells the host the event that does not belong there', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const { ends } = await splicer(gateway, server.url);
    const response = sendRequest(gateway);
    (await server.asked()).end(`${chunk('a')}data: {"error":{"message":"no room"}}\n\n${chunk('b')}`);
    expect(await (await response).text()).toBe(`${chunk('a')}data: odd\n\n`);
    expect(ends).toEqual([{ how: 'odd', text: '{"error":{"message":"no room"}}' }]);
  });

  for (const [what, number] of [
    ['of no stream', () => 99_999],
    ['of a stream of another kind', (own: number) => own + 1],
  ] as const)
    verifies('http.chat/splice-walls', `refuses ${what} as a number, without calling the upstream`, async () => {
      await using gateway = await startTestBridge();
      await using server = await startWriter();
      await splicer(gateway, server.url, {}, number);
      expect((await sendRequest(gateway)).status).toBe(500);
      expect(server.count()).toBe(0);
    });

  verifies('http.chat/splice-walls', 'is for the host’s own callers, and each gets only one', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    let owned = 0;
    const own = await splicer(gateway, server.url, {}, (id) => (owned ||= id));
    const response = sendRequest(gateway);
    (await server.asked(1)).write(chunk('mine'));
    const answer = await response;
    // The second caller does not get the first one's response.
    expect((await sendRequest(gateway)).status).toBe(500);
    expect(server.count()).toBe(1);
    // Another host guesses the stream number of a caller that waits for a different host.
    const stranger = await gateway.attach({});
    await expect(forwarded(stranger, server.url, AbortSignal.timeout(5000), { to: own.exchanges[0] ?? 0 })).rejects.toThrow(
      'no longer waiting',
    );
    (await server.asked(1)).end(chunk('', 'stop'));
    expect(await answer.text()).toBe(`${chunk('mine')}${chunk('', 'stop')}data: [DONE]\n\n`);
    stranger.die();
  });

  verifies('http.chat/splice-walls', 'that a host only claims is no answer', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach({ http: async () => createSplicedResponse('claimed') });
    expect((await sendRequest(gateway)).status).toBe(502);
  });

  it('that has not begun ends with the host, and at once with the caller', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const { host } = await splicer(gateway, server.url);
    for (const [n, leave] of [
      [1, (abort: AbortController) => abort.abort()],
      [2, () => host.die()],
    ] as const) {
      const abort = new AbortController();
      const response = gateway.http('/v1/x', { method: 'POST', body: '{}', signal: abort.signal });
      const settled = response.then(
        ({ status }) => status,
        () => 'gone',
      );
      const upstream = await server.asked(n);
      const closed = once(upstream, 'close');
      upstream.write(': nothing yet\n\n');
      leave(abort);
      await closed;
      expect(await settled).toBe(n === 1 ? 'gone' : 503);
    }
  });

  verifies('http/hang-up', 'that has not begun ends with the caller, whatever its host is doing', async () => {
    await using gateway = await startTestBridge();
    await using server = await startWriter();
    const host: FakeHost = await gateway.attach({
      // This host is not notified about the caller.
      onstream: (stream) => void forwarded(host, server.url, AbortSignal.timeout(60_000), { to: stream.id }).catch(() => {}),
    });
    const abort = new AbortController();
    const left = expect(gateway.http('/v1/x', { method: 'POST', body: '{}', signal: abort.signal })).rejects.toThrow();
    const closed = once(await server.asked(), 'close');
    abort.abort();
    await Promise.all([left, closed]);
  });

  it('ends with the bridge, for the caller and the upstream', async () => {
    await using gateway = await startTestBridge({ timing: { graceMs: 10 } });
    await using server = await startWriter();
    await splicer(gateway, server.url);
    const response = sendRequest(gateway);
    const upstream = await server.asked();
    const closed = once(upstream, 'close');
    upstream.write(chunk('a'));
    const answer = await response;
    const text = expect(answer.text()).rejects.toThrow();
    await gateway.bridge.close();
    await text;
    await closed;
  });
});
