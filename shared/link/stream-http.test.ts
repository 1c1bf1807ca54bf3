import { describe, expect, it } from 'vitest';
import { ExchangeReset, fetchOverStream, type OutgoingRequest, serveHttp } from './stream-http.ts';
import { STREAM_WINDOW_BYTES } from './stream.ts';
import { MuxPair } from './mux-testing.ts';

const never = new AbortController().signal;
const encoder = new TextEncoder();

/** An exchange with `handler` at the far end, over links that deliver automatically. */
function exchange(handler: (request: Request) => Promise<Response> | Response) {
  const pair = new MuxPair({
    onstream: ({ stream, opening }) => serveHttp(stream, opening, 'http://127.0.0.1:7333', async (request) => handler(request)),
  });
  pair.dialerLink.record = pair.acceptorLink.record = false;
  const sendRequest = (
    path: string,
    request: Partial<OutgoingRequest> & { kind?: string; raw?: Record<string, string> } = {},
  ): Promise<Response> => {
    const { kind = 'http', raw, ...rest } = request;
    return fetchOverStream(pair.dialer, { kind, headers: { ':path': path, ...raw } }, { signal: never, ...rest });
  };
  /** Moves everything until the promise is settled. */
  const during = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    promise.then(
      () => (settled = true),
      () => (settled = true),
    );
    await pair.settleAsync(() => settled);
    return promise;
  };
  return { pair, ask: sendRequest, during };
}

/** A body that counts the bytes read from it. */
function createSource(total: number, chunk = 32 * 1024) {
  const state = { pulled: 0, cancelled: undefined as unknown };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.pulled >= total) return controller.close();
        state.pulled += chunk;
        controller.enqueue(new Uint8Array(chunk).fill(state.pulled / chunk));
      },
      cancel: (reason) => void (state.cancelled = reason ?? 'cancelled'),
    },
    { highWaterMark: 0 },
  );
  return { state, body };
}

const createSilentBody = () => {
  const state = { cancelled: false };
  return { state, body: new ReadableStream<Uint8Array>({ cancel: () => void (state.cancelled = true) }) };
};

describe('an exchange', () => {
  it('carries method, path, headers and bodies both ways', async () => {
    const { ask, during, pair } = exchange(async (request) => {
      const { method, url, headers } = request;
      return Response.json(
        { method, url, type: headers.get('x-type'), body: await request.text() },
        { status: 201, headers: { 'x-back': 'yes' } },
      );
    });
    const response = await during(
      ask('/v1/models?a=b', { method: 'POST', headers: { 'x-type': 'ß'.codePointAt(0)!.toString() }, body: 'grüße' }),
    );
    expect([response.status, response.headers.get('x-back')]).toEqual([201, 'yes']);
    expect(await during(response.json())).toEqual({
      method: 'POST',
      url: 'http://127.0.0.1:7333/v1/models?a=b',
      type: '223',
      body: 'grüße',
    });
    expect([pair.dialer.streams, pair.acceptor.streams]).toEqual([0, 0]);
  });

  it('streams large bodies both ways at once, whole', async () => {
    const { ask, during, pair } = exchange((request) => new Response(request.body));
    const { body } = createSource(3 * 1024 * 1024);
    const response = await during(ask('/', { method: 'POST', body }));
    const echoed = new Uint8Array(await during(response.arrayBuffer()));
    expect(echoed.byteLength).toBe(3 * 1024 * 1024);
    expect(echoed.every((byte, i) => byte === ((i >> 15) + 1) % 256)).toBe(true);
    expect([pair.dialer.streams, pair.acceptor.streams]).toEqual([0, 0]);
  });

  it('forwards chunks as they arrive, before the response is complete', async () => {
    let push!: (text: string) => void;
    const { ask, during } = exchange(
      () => new Response(new ReadableStream({ start: (controller) => void (push = (text) => controller.enqueue(encoder.encode(text))) })),
    );
    const reader = (await during(ask('/'))).body!.getReader();
    for (const word of ['Hel', 'lo']) {
      push(word);
      expect(new TextDecoder().decode((await during(reader.read())).value)).toBe(word);
    }
  });

  it.each([204, 205, 304])('has no body at status %i', async (status) => {
    const { ask, during, pair } = exchange(() => new Response(null, { status }));
    const response = await during(ask('/'));
    expect([response.status, response.body, await response.text()]).toEqual([status, null, '']);
    await pair.settleAsync(() => pair.dialer.streams + pair.acceptor.streams === 0);
  });

  it('has no body for HEAD, and cancels the one that the handler made', async () => {
    const { state, body } = createSilentBody();
    const { ask, during } = exchange(() => new Response(body, { headers: { 'content-length': '7' } }));
    const response = await during(ask('/', { method: 'HEAD' }));
    expect([response.headers.get('content-length'), response.body, state.cancelled]).toEqual(['7', null, true]);
  });

  it('takes heads that need several chunks', async () => {
    const { ask, during } = exchange(() => new Response('x', { headers: { big: 'y'.repeat(100_000) } }));
    expect((await during(ask('/'))).headers.get('big')).toHaveLength(100_000);
  });

  it.each(['//elsewhere.example/x', '/@elsewhere.example', '/../..//elsewhere.example'])('asks for no other host: %s', async (path) => {
    const { ask, during } = exchange((request) => new Response(new URL(request.url).host));
    expect(await during((await during(ask(path))).text())).toBe('127.0.0.1:7333');
  });

  it.each<[string, string, Record<string, string>]>([
    ['a path without slash', '@elsewhere.example', {}],
    ['a method that is none', '/', { ':method': 'GE T' }],
    ['a forbidden method', '/', { ':method': 'TRACE' }],
    ['a header that is none', '/', { 'bad name': 'x' }],
  ])('answers 400 at %s', async (_name, path, raw) => {
    const { ask, during } = exchange(() => new Response('never'));
    const response = await during(ask(path, { raw, body: 'x'.repeat(1000) }));
    expect([response.status, (await during(response.json())).error.type]).toEqual([400, 'invalid_request_error']);
  });
});

describe('back-pressure', () => {
  it('a slow reader of the response limits how much is read from its source', async () => {
    const { state, body } = createSource(16 * 1024 * 1024);
    const { ask, during, pair } = exchange(() => new Response(body));
    const response = await during(ask('/'));
    await pair.settleAsync(() => state.pulled >= STREAM_WINDOW_BYTES);
    for (let i = 0; i < 20; i++) {
      pair.settle();
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The sender's queue, the credit, and the reader's own queue.
    expect(state.pulled).toBeLessThanOrEqual(4 * STREAM_WINDOW_BYTES);
    expect((await during(response.arrayBuffer())).byteLength).toBe(16 * 1024 * 1024);
  });

  it('a handler that does not read limits how much of the request is read', async () => {
    const { state, body } = createSource(16 * 1024 * 1024);
    const read = Promise.withResolvers<void>();
    const { ask, during, pair } = exchange(async (request) => {
      await read.promise;
      return new Response(String((await request.arrayBuffer()).byteLength));
    });
    const pending = ask('/', { method: 'POST', body });
    await pair.settleAsync(() => state.pulled >= STREAM_WINDOW_BYTES);
    for (let i = 0; i < 20; i++) {
      pair.settle();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(state.pulled).toBeLessThanOrEqual(4 * STREAM_WINDOW_BYTES);
    read.resolve();
    expect(await during((await during(pending)).text())).toBe(String(16 * 1024 * 1024));
  });

  it('a handler may answer without reading, or cancel, a large request: the rest is not sent', async () => {
    for (const cancel of [false, true]) {
      const { state, body } = createSource(64 * 1024 * 1024);
      const { ask, during, pair } = exchange(async (request) => {
        if (cancel) await request.body?.cancel();
        return new Response('no', { status: 413 });
      });
      const response = await during(ask('/', { method: 'POST', body }));
      expect([response.status, await during(response.text())]).toEqual([413, 'no']);
      await pair.settleAsync(() => pair.dialer.streams + pair.acceptor.streams === 0 && state.cancelled !== undefined);
      expect(state.pulled).toBeLessThan(64 * 1024 * 1024);
    }
  });
});

describe('a failed exchange', () => {
  it('a handler that throws is a 500 without details', async () => {
    const { ask, during } = exchange(() => {
      throw new Error('secret detail');
    });
    const response = await during(ask('/'));
    expect(response.status).toBe(500);
    expect(await during(response.json())).toEqual({
      error: { message: 'The gateway failed to respond.', type: 'api_error', param: null, code: 'api_error' },
    });
  });

  it('on the way out it is a TypeError with the reason, as with fetch', async () => {
    const { ask, during } = exchange(() => {
      throw new TypeError('connect ECONNREFUSED');
    });
    await expect(during(ask('/', { raw: { ':url': 'http://localhost:1/' } }))).rejects.toThrow(
      new ExchangeReset(1011, 'connect ECONNREFUSED'),
    );
    await expect(during(ask('/', { raw: { ':url': 'nowhere' } }))).rejects.toThrow(TypeError);
  });

  it('an answer that fails midway fails at its reader after what came', async () => {
    let fail!: () => void;
    const { ask, during } = exchange(
      () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(encoder.encode('half'));
              fail = () => controller.error(new Error('upstream broke off'));
            },
          }),
        ),
    );
    const reader = (await during(ask('/'))).body!.getReader();
    expect((await during(reader.read())).value).toEqual(encoder.encode('half'));
    fail();
    await expect(during(reader.read())).rejects.toThrow('upstream broke off');
  });

  it('a request that fails midway rejects at the caller, and the handler’s reading fails', async () => {
    const failures: unknown[] = [];
    const { ask, during, pair } = exchange(async (request) => {
      await request.text().catch((error: unknown) => failures.push(error, request.signal.aborted));
      return new Response('too late');
    });
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('disk gone')) });
    await expect(during(ask('/', { method: 'POST', body }))).rejects.toThrow('disk gone');
    await pair.settleAsync(() => failures.length > 0);
    expect(failures[1]).toBe(true);
  });

  it('an abort reaches the handler’s signal and cancels its answer, also while it is silent', async () => {
    const { state, body } = createSilentBody();
    let signal: AbortSignal | undefined;
    const { ask, during, pair } = exchange((request) => {
      signal = request.signal;
      return new Response(body);
    });
    const abort = new AbortController();
    const response = await during(ask('/', { signal: abort.signal }));
    const reading = response.text();
    abort.abort(new Error('changed my mind'));
    await expect(during(reading)).rejects.toThrow('changed my mind');
    await pair.settleAsync(() => state.cancelled);
    expect(signal?.aborted).toBe(true);
    expect([pair.dialer.streams, pair.acceptor.streams]).toEqual([0, 0]);
  });

  it('an abort before the head rejects with its reason; a late answer is cancelled unread', async () => {
    const { state, body } = createSilentBody();
    const late = Promise.withResolvers<Response>();
    const { ask, during, pair } = exchange(() => late.promise);
    const abort = new AbortController();
    const pending = ask('/', { signal: abort.signal });
    pair.settle();
    abort.abort('why');
    await expect(during(pending)).rejects.toBe('why');
    late.resolve(new Response(body));
    await pair.settleAsync(() => state.cancelled);
    await expect(ask('/', { signal: abort.signal })).rejects.toBe('why');
  });

  it('a reader who leaves cancels the source of the answer, and stops the request', async () => {
    const answer = createSilentBody();
    const request = createSilentBody();
    const { ask, during, pair } = exchange(() => new Response(answer.body));
    const response = await during(ask('/', { method: 'POST', body: request.body }));
    await during(response.body!.cancel());
    await pair.settleAsync(() => answer.state.cancelled && request.state.cancelled);
    expect([pair.dialer.streams, pair.acceptor.streams]).toEqual([0, 0]);
  });

  it('a link that closes rejects the waiting, fails the reading and cancels the sources', async () => {
    const answer = createSilentBody();
    const request = createSilentBody();
    let calls = 0;
    const { ask, during, pair } = exchange(() => (calls++ === 0 ? new Response(answer.body) : new Promise<Response>(() => {})));
    const reading = (await during(ask('/'))).text();
    const waiting = ask('/', { method: 'POST', body: request.body });
    pair.settle();
    pair.dialer.close(1000, 'bye');
    const bye = { status: 'rejected', reason: new ExchangeReset(1001, 'bye') };
    expect(await during(Promise.allSettled([reading, waiting]))).toEqual([bye, bye]);
    await pair.settleAsync(() => answer.state.cancelled && request.state.cancelled);
    const later = createSilentBody();
    await expect(during(ask('/', { method: 'POST', body: later.body }))).rejects.toThrow(new ExchangeReset(1001, 'the link is closed'));
    await pair.settleAsync(() => later.state.cancelled);
  });

  it.each<[string, (stream: Parameters<typeof serveHttp>[0]) => void]>([
    ['no head', (stream) => stream.end()],
    ['a body first', (stream) => stream.send(Uint8Array.of(1))],
    ['a head that is no JSON', (stream) => stream.send('HTTP/1.1 200 OK')],
    ['a status that is none', (stream) => stream.send('{"status":101,"headers":{}}')],
    ['headers that are none', (stream) => stream.send('{"status":200,"headers":{"a b":"c"}}')],
    ['a head without end', (stream) => stream.send(`{"${'x'.repeat(600_000)}`, { fin: false })],
    ['a reset', (stream) => stream.reset(1011, 'no such capability')],
  ])('rejects with a TypeError at %s, and the link lives', async (_name, answer) => {
    const pair = new MuxPair({
      onstream: ({ stream }) => (stream.receive({ data: () => {}, end: () => {}, reset: () => {} }), answer(stream)),
    });
    const pending = fetchOverStream(pair.dialer, { kind: 'http' }, { signal: never });
    const caught = pending.catch((error: unknown) => error);
    pair.settle();
    expect(await caught).toBeInstanceOf(TypeError);
    pair.settle();
    expect([pair.dialer.streams, pair.dialerLink.closeEvent, pair.acceptorLink.closeEvent]).toEqual([0, undefined, undefined]);
  });
});
