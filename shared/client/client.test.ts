import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Link, memoryPair } from '../link/link.ts';
import { PROTOCOL_VERSION, type RequestFrame } from '../rpc/frames.ts';
import { ConnectionClosed, type ConnectOptions, GatewayClient, RpcError } from './client.ts';

const HELLO = { protocol: 3, server: { name: 'perch', version: '1', connId: 'c' } };
const challenge = { nonce: 'n', ts: 5 };

type MockResponse =
  { payload: unknown } | { error: { code: string; message: string; details?: unknown; retryAfterMs?: number } } | undefined;

/** A server by hand: challenges, accepts, and then does what the test says. */
class Server {
  readonly link: Link<string>;
  readonly requests: RequestFrame[] = [];
  readonly closed: Promise<[number, string]>;
  answer: (request: RequestFrame) => MockResponse = () => undefined;
  #seq = 0;

  constructor(link: Link<string>, accept = true) {
    this.link = link;
    const closed = Promise.withResolvers<[number, string]>();
    this.closed = closed.promise;
    link.receive({
      message: (text) => {
        const request = JSON.parse(text) as RequestFrame;
        this.requests.push(request);
        const answer = request.method === 'connect' && accept ? { payload: HELLO } : this.answer(request);
        if (answer) this.respond(request.id, answer);
      },
      close: (code, reason) => closed.resolve([code, reason]),
    });
  }

  respond(id: string, answer: NonNullable<MockResponse>): void {
    this.raw({ type: 'res', id, ok: 'payload' in answer, ...answer });
  }

  event(event: string, payload: unknown, seq = ++this.#seq): void {
    this.raw({ type: 'event', event, seq, payload });
  }

  raw(frame: unknown): void {
    this.link.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }
}

const options: ConnectOptions = { params: { clientName: 'test' } };

async function connectClient(): Promise<{ client: GatewayClient; server: Server }> {
  const [near, far] = memoryPair<string>();
  const server = new Server(far);
  server.event('connect.challenge', challenge);
  return { client: await GatewayClient.connect(near, options), server };
}

describe('connect', () => {
  it('waits for the challenge, requests protocol 3 and returns what the server reported', async () => {
    const [near, far] = memoryPair<string>();
    const server = new Server(far);
    const received: unknown[] = [];
    const connecting = GatewayClient.connect(near, {
      params: async (challenge) => {
        received.push(challenge);
        return { clientName: 'test', auth: { token: 't' } };
      },
      verify: (result, params) => void received.push(result, params),
    });
    expect(server.requests).toEqual([]);
    server.event('connect.challenge', challenge);
    const client = await connecting;
    expect(client.hello).toEqual(HELLO);
    expect(received).toEqual([challenge, HELLO, challenge]);
    expect(server.requests[0]?.params).toEqual({
      minProtocol: PROTOCOL_VERSION,
      maxProtocol: PROTOCOL_VERSION,
      clientName: 'test',
      auth: { token: 't' },
    });
  });

  it('rejects with what the server refused it for, and closes', async () => {
    const [near, far] = memoryPair<string>();
    const server = new Server(far, false);
    server.answer = () => ({ error: { code: 'AUTH_REQUIRED', message: 'No such token' } });
    server.event('connect.challenge', challenge);
    await expect(GatewayClient.connect(near, options)).rejects.toMatchObject({ code: 'AUTH_REQUIRED', message: 'No such token' });
    expect((await server.closed)[0]).toBe(1000);
  });

  it('rejects when verify refuses, and closes', async () => {
    const [near, far] = memoryPair<string>();
    const server = new Server(far);
    server.event('connect.challenge', challenge);
    const verify = (): Promise<void> => Promise.reject(new Error('not our bridge'));
    await expect(GatewayClient.connect(near, { ...options, verify })).rejects.toThrow('not our bridge');
    expect((await server.closed)[0]).toBe(1000);
  });

  it.each<[string, Partial<ConnectOptions>]>([
    ['before the answer', {}],
    ['while params are made', { params: () => new Promise(() => {}) }],
    ['while it is verified', { verify: () => new Promise(() => {}) }],
  ])('rejects when the link closes %s', async (name, connectOptions) => {
    const [near, far] = memoryPair<string>();
    const server = new Server(far, name === 'while it is verified');
    server.event('connect.challenge', challenge);
    const connecting = GatewayClient.connect(near, { ...options, ...connectOptions });
    setImmediate(() => far.close(1013, 'no gateway'));
    await expect(connecting).rejects.toMatchObject({ name: 'ConnectionClosed', code: 1013, reason: 'no gateway' });
  });

  describe('timeouts', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    it.each<[string, boolean, Partial<ConnectOptions>]>([
      ['there is no challenge', false, {}],
      ['there is no answer', true, {}],
      ['params hang', true, { params: () => new Promise(() => {}) }],
      ['verify hangs', true, { verify: () => new Promise(() => {}) }],
    ])('gives up when %s', async (name, challenged, connectOptions) => {
      const [near, far] = memoryPair<string>();
      const server = new Server(far, name === 'verify hangs');
      if (challenged) server.event('connect.challenge', challenge);
      const connecting = GatewayClient.connect(near, { ...options, timeoutMs: 5000, ...connectOptions });
      const failed = expect(connecting).rejects.toMatchObject({ name: 'ConnectionClosed', code: 4000 });
      await vi.advanceTimersByTimeAsync(4999);
      expect(await Promise.race([server.closed, Promise.resolve('open')])).toBe('open');
      await vi.advanceTimersByTimeAsync(1);
      await failed;
      expect((await server.closed)[0]).toBe(4000);
    });

    it('leaves no timer behind', async () => {
      const { client } = await connectClient();
      expect(vi.getTimerCount()).toBe(0);
      client.close();
    });
  });
});

describe('calls', () => {
  it('get their own answers, in whatever order these come', async () => {
    const { client, server } = await connectClient();
    const calls = [client.call('health', {}), client.request('any.thing', { a: 1 })];
    await vi.waitUntil(() => server.requests.length === 3);
    const [, health, any] = server.requests;
    expect([health?.method, any?.method, any?.params]).toEqual(['health', 'any.thing', { a: 1 }]);
    server.respond(any!.id, { payload: 'second' });
    server.respond('unknown', { payload: 'nobody’s' });
    server.respond(health!.id, { payload: { status: 'ok' } });
    expect(await Promise.all(calls)).toEqual([{ status: 'ok' }, 'second']);
  });

  it('fail with the server’s error, whole', async () => {
    const { client, server } = await connectClient();
    const error = { code: 'RATE_LIMITED', message: 'Slower', details: { a: 1 }, retryAfterMs: 7 };
    server.answer = () => ({ error });
    const failure = await client.call('health', {}).catch((caught: unknown) => caught);
    expect(failure).toBeInstanceOf(RpcError);
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', message: 'Slower', extra: { details: { a: 1 }, retryAfterMs: 7 } });
  });

  it('stop waiting when their signal aborts; the late answer harms nothing', async () => {
    const { client, server } = await connectClient();
    const abort = new AbortController();
    const call = client.call('health', {}, { signal: abort.signal });
    await vi.waitUntil(() => server.requests.length === 2);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(client.call('health', {}, { signal: abort.signal })).rejects.toThrow('enough');
    server.respond(server.requests[1]!.id, { payload: {} });
    server.answer = () => ({ payload: 'alive' });
    expect(await client.request('x', {})).toBe('alive');
    expect(server.requests).toHaveLength(3);
  });

  it('are counted until the last of them is answered, given up or cut', async () => {
    const { client, server } = await connectClient();
    await client.idle();
    const abort = new AbortController();
    const settled = Promise.allSettled([client.call('health', {}), client.call('health', {}, { signal: abort.signal })]);
    await vi.waitUntil(() => server.requests.length === 3);
    let idle = false;
    const waited = client.idle().then(() => (idle = true));
    abort.abort();
    await new Promise(setImmediate);
    expect([client.pending, idle]).toEqual([1, false]);
    server.respond(server.requests[1]!.id, { payload: {} });
    await Promise.all([waited, settled]);
    expect(client.pending).toBe(0);
    const cut = client.call('health', {}).catch(() => {});
    const idleAgain = client.idle();
    server.link.close(1012, 'restarting');
    await Promise.all([idleAgain, cut]);
    expect(client.pending).toBe(0);
  });

  it('that cannot be written fail alone', async () => {
    const { client, server } = await connectClient();
    await expect(client.request('x', { big: 1n })).rejects.toThrow(TypeError);
    server.answer = () => ({ payload: 'alive' });
    expect(await client.request('x', {})).toBe('alive');
  });

  it('under way, and all later ones, fail when the link closes', async () => {
    const { client, server } = await connectClient();
    const settled = Promise.allSettled([client.call('health', {}), client.request('x', {})]);
    await vi.waitUntil(() => server.requests.length === 3);
    server.link.close(1012, 'restarting');
    for (const result of await settled)
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'ConnectionClosed', code: 1012 } });
    expect(await client.closed).toBeInstanceOf(ConnectionClosed);
    await expect(client.call('health', {})).rejects.toMatchObject({ code: 1012, message: 'restarting' });
  });
});

describe('events', () => {
  it('come in order to who listens, until that stops', async () => {
    const { client, server } = await connectClient();
    const received: unknown[] = [];
    const stop = client.on('tick', ({ ts }, { seq }) => received.push([ts, seq]));
    client.on('tick', ({ ts }) => received.push(ts));
    for (const ts of [10, 11]) server.event('tick', { ts });
    server.event('something.new', {});
    await vi.waitUntil(() => received.length === 4);
    stop();
    server.event('tick', { ts: 12 });
    await vi.waitUntil(() => received.length > 4);
    expect(received).toEqual([[10, 2], 10, [11, 3], 11, 12]);
  });

  it.each([
    ['a missing', 3],
    ['a repeated', 1],
  ])('close the connection at %s one, and nothing more is heard', async (_name, seq) => {
    const { client, server } = await connectClient();
    const received: unknown[] = [];
    client.on('tick', ({ ts }) => received.push(ts));
    server.event('tick', { ts: 1 }, seq);
    server.event('tick', { ts: 2 }, 2);
    expect(await client.closed).toMatchObject({ code: 4001, reason: 'Event 2 is missing' });
    expect((await server.closed)[0]).toBe(4001);
    expect(received).toEqual([]);
  });

  it('a listener that throws disturbs no other, and is reported', async () => {
    const { client, server } = await connectClient();
    const reported = vi.spyOn(globalThis, 'queueMicrotask');
    const received: number[] = [];
    client.on('tick', () => {
      throw new Error('a bug');
    });
    client.on('tick', ({ ts }) => received.push(ts));
    // The report itself would fail this test run: it is caught here, and looked at.
    const reports: (() => void)[] = [];
    server.event('tick', { ts: 1 });
    reported.mockImplementation((report) => void reports.push(report));
    await vi.waitUntil(() => received.length > 0);
    reported.mockRestore();
    expect(received).toEqual([1]);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toThrow('a bug');
    server.answer = () => ({ payload: 'alive' });
    expect(await client.request('x', {})).toBe('alive');
  });
});

describe('a server that sends invalid data', () => {
  it.each([
    'no JSON',
    'null',
    '[]',
    '7',
    '{}',
    '{"type":"res","id":1,"ok":true}',
    '{"type":"res","id":"2","ok":false}',
    '{"type":"event","event":"tick","seq":"2","payload":{}}',
    '{"type":"event","event":"tick","seq":2}',
  ])('is left: %s', async (text) => {
    const { client, server } = await connectClient();
    const call = client.call('health', {});
    server.raw(text);
    await expect(call).rejects.toMatchObject({ code: 1002 });
    expect((await server.closed)[0]).toBe(1002);
  });

  it('may send kinds of frames that are not known yet', async () => {
    const { client, server } = await connectClient();
    server.answer = () => ({ payload: 'alive' });
    server.raw({ type: 'notice', text: 'hello' });
    expect(await client.request('x', {})).toBe('alive');
  });
});

describe('frames', () => {
  it('are reported as they progress, in both directions, until unsubscribed', async () => {
    const { client, server } = await connectClient();
    server.answer = () => ({ payload: 'alive' });
    const frames: [string, unknown][] = [];
    const stop = client.watch((direction, text) => frames.push([direction, JSON.parse(text)]));
    await client.request('x', { a: 1 });
    server.event('tick', { ts: 1 });
    await client.request('y', {});
    stop();
    await client.request('z', {});
    expect(frames).toEqual([
      ['sent', expect.objectContaining({ type: 'req', method: 'x', params: { a: 1 } })],
      ['received', expect.objectContaining({ type: 'res', payload: 'alive' })],
      ['sent', expect.objectContaining({ method: 'y' })],
      ['received', expect.objectContaining({ type: 'event', event: 'tick' })],
      ['received', expect.objectContaining({ type: 'res' })],
    ]);
  });
});
