import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PROTOCOL_LIMITS, type ResponseFrame } from '#shared/rpc/frames.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { openConnectedRaw, CONNECT_FRAME, openRawConnection } from '../../../tests/support/raw-connection.ts';

describe('connect', () => {
  verifies(
    ['connect/result', 'connect/features', 'connect/challenge', 'connect/openclaw-params', 'frames/shape'],
    'challenge first, then the answer with what there is',
    async () => {
      await using gw = await createTestGateway();
      const self = openRawConnection(gw);
      await waitFor(() => self.frames.length > 0);
      expect(self.frames[0]).toMatchObject({
        type: 'event',
        event: 'connect.challenge',
        seq: 1,
        payload: { nonce: expect.any(String), ts: expect.any(Number) },
      });
      const params = {
        minProtocol: 3,
        maxProtocol: 3,
        client: { id: 'openclaw', version: '1', platform: 'linux', mode: 'cli' },
        role: 'operator',
        scopes: ['operator.read'],
        caps: [],
        locale: 'en',
        auth: { token: 'x' },
      };
      self.send({ ...CONNECT_FRAME, params });
      const answer = await self.waitForResponse('c');
      expect(answer).toMatchObject({
        type: 'res',
        id: 'c',
        ok: true,
        payload: {
          protocol: 3,
          server: { name: 'perch' },
          policy: { maxPayload: 26214400, maxBufferedBytes: 4194304, tickIntervalMs: 15000 },
        },
      });
      const payload = contracts.connect.result.parse(answer.ok && answer.payload);
      expect(payload.features.methods).toEqual(expect.arrayContaining(['chat.send', 'health']));
      expect(payload.features.methods).toHaveLength(Object.keys(contracts).length);
    },
  );

  verifies(['connect/first-frame', 'errors/codes'], 'another method', async () => {
    await using gw = await createTestGateway();
    const self = openRawConnection(gw);
    self.send({ type: 'req', id: '1', method: 'health', params: {} });
    expect(await self.waitForResponse('1')).toMatchObject({ ok: false, error: { code: 'AUTH_REQUIRED' } });
    await waitFor(() => self.closed !== null);
    expect(self.closed?.code).toBe(1008);
  });

  verifies(['connect/range', 'connect/no-overlap'], '2 to 3 is served, the rest refused', async () => {
    await using gw = await createTestGateway();
    for (const [minProtocol, maxProtocol, chosen] of [
      [1, 2, 2],
      [2, 3, 3],
      [3, 9, 3],
    ] as const) {
      const self = openRawConnection(gw);
      self.send({ ...CONNECT_FRAME, params: { minProtocol, maxProtocol } });
      expect(await self.waitForResponse('c')).toMatchObject({ ok: true, payload: { protocol: chosen } });
    }
    for (const [minProtocol, maxProtocol] of [
      [0, 1],
      [4, 9],
      [3, 2],
    ] as const) {
      const self = openRawConnection(gw);
      self.send({ ...CONNECT_FRAME, params: { minProtocol, maxProtocol } });
      expect(await self.waitForResponse('c')).toMatchObject({
        ok: false,
        error: { code: 'INVALID_PARAMS', details: { expectedProtocol: 3 } },
      });
      await waitFor(() => self.closed !== null);
      expect(self.closed?.code).toBe(1002);
    }
  });

  verifies('connect/protocol-2', 'the earlier shapes of models and tools', async () => {
    await using gw = await createTestGateway();
    const self = await openConnectedRaw(gw, {}, { minProtocol: 2, maxProtocol: 2 });
    self.send({ type: 'req', id: 'm', method: 'models.list' });
    self.send({ type: 'req', id: 't', method: 'tools.list' });
    expect(await self.waitForResponse('m')).toMatchObject({
      ok: true,
      payload: expect.arrayContaining([expect.objectContaining({ id: 'guide/guide', provider: 'guide' })]),
    });
    expect(await self.waitForResponse('t')).toMatchObject({
      ok: true,
      payload: expect.arrayContaining([{ name: 'current_time', description: expect.any(String) }]),
    });
  });

  verifies('connect/timeout', 'silence', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const self = openRawConnection(gw);
    clock.advance(14_900);
    await waitFor(() => self.frames.length > 0, 'the challenge');
    expect(self.closed).toBeNull();
    clock.advance(200);
    await waitFor(() => self.closed !== null);
    expect(self.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('15 s') });
  });
});

describe('frames', () => {
  verifies('frames/malformed', 'an id that can be read gets an answer, else the connection ends with a reason', async () => {
    await using gw = await createTestGateway();
    const self = await openConnectedRaw(gw);
    self.send({ type: 'req', id: 'a', method: 7 });
    self.send({ type: 'oops', id: 'b', method: 'health' });
    self.send({ type: 'req', id: 'd', method: 'health', params: [1] });
    for (const id of ['a', 'b', 'd'])
      expect(await self.waitForResponse(id)).toMatchObject({ ok: false, error: { code: 'INVALID_PARAMS' } });
    expect(self.closed).toBeNull();
    for (const text of ['{"type":"req"', '[]', 'null', '{"type":"req","method":"health"}', '']) {
      const other = await openConnectedRaw(gw);
      other.send(text);
      await waitFor(() => other.closed !== null);
      expect(other.closed).toMatchObject({ code: 1008, reason: expect.stringMatching(/\w/) });
    }
  });

  verifies(['errors/unknown-method', 'errors/invalid-params', 'frames/unknown-param'], 'the specified codes', async () => {
    await using gw = await createTestGateway();
    const self = await openConnectedRaw(gw);
    const sendRequest = async (method: string, params?: unknown): Promise<ResponseFrame> => {
      const id = crypto.randomUUID();
      self.send(
        `{"type":"req","id":"${id}","method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${typeof params === 'string' ? params : JSON.stringify(params)}`}}`,
      );
      return self.waitForResponse(id);
    };
    for (const method of ['nope', 'constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(await sendRequest(method)).toMatchObject({ ok: false, error: { code: 'METHOD_NOT_FOUND' } });
    }
    for (const method of ['wizard.start', 'wizard.step', 'push.send', 'voicewake.status']) {
      expect(await sendRequest(method)).toMatchObject({ ok: false, error: { code: 'NOT_IMPLEMENTED' } });
    }
    expect(await sendRequest('health', { extra: 1 })).toMatchObject({
      error: { code: 'INVALID_PARAMS', message: expect.stringContaining('extra') },
    });
    expect(await sendRequest('chat.send', {})).toMatchObject({
      error: { code: 'INVALID_PARAMS', message: expect.stringContaining('message') },
    });
    expect(await sendRequest('chat.send', { message: 5 })).toMatchObject({ error: { code: 'INVALID_PARAMS' } });
    expect(await sendRequest('chat.send', { message: 'x'.repeat(500_001) })).toMatchObject({ error: { code: 'INVALID_PARAMS' } });
    expect(await sendRequest('chat.send', { message: 'x', sessionId: '../etc' })).toMatchObject({ error: { code: 'INVALID_PARAMS' } });
    expect(await sendRequest('chat.send', { message: 'x', agentId: 'nobody' })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(await sendRequest('chat.send', { message: 'x', model: 'none/none' })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    for (const path of ['x', '../main/main.jsonl', 'main/main.jsonl/..', 'main/none.jsonl']) {
      expect(await sendRequest('sessions.preview', { path })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    }
    expect(gw.faults).toEqual([]);
  });

  verifies('errors/not-implemented', 'the four of section 4.1', async () => {
    await using gw = await createTestGateway();
    const self = await openConnectedRaw(gw);
    self.send({ type: 'req', id: 'w', method: 'wizard.start' });
    expect(await self.waitForResponse('w')).toMatchObject({ ok: false, error: { code: 'NOT_IMPLEMENTED' } });
  });

  verifies('frames/duplicate-id', 'the second is refused, the first answered', async () => {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    await using gw = await createTestGateway({ model: () => [{ wait: gate }, 'done'] });
    const self = await openConnectedRaw(gw);
    self.send({ type: 'req', id: 'x', method: 'chat.send', params: { message: 'hi' } });
    self.send({ type: 'req', id: 'x', method: 'health' });
    expect(await self.waitForResponse('x')).toMatchObject({ ok: false, error: { code: 'INVALID_PARAMS' } });
    go();
    await waitFor(() => self.frames.some((frame) => frame.type === 'res' && frame.id === 'x' && frame.ok));
  });

  verifies('limits/structure', 'a dense frame is refused unparsed, a large plain one is not', async () => {
    await using gw = await createTestGateway();
    const self = await openConnectedRaw(gw);
    self.send(`{"type":"req","id":"dense","method":"health","params":{"a":[${'1,'.repeat(600_000)}1]}}`);
    expect(await self.waitForResponse('dense')).toMatchObject({
      ok: false,
      error: { code: 'INVALID_PARAMS', message: expect.stringContaining('structural') },
    });
    self.send({
      type: 'req',
      id: 'plain',
      method: 'chat.send',
      params: { message: 'x', attachments: [{ filename: 'f', mimeType: 'text/plain', content: 'A'.repeat(2 * 1024 * 1024) }] },
    });
    expect(await self.waitForResponse('plain')).toMatchObject({ ok: true });
  });

  verifies(
    'frames/fuzz',
    'random frames get the right code, and the gateway goes on',
    async () => {
      await using gw = await createTestGateway();
      const method = fc.oneof(fc.constantFrom(...Object.keys(contracts).filter((name) => name !== 'connect')), fc.string());
      const frame = fc.oneof(
        fc.record(
          { type: fc.constantFrom('req', 'res', 'event'), id: fc.string({ minLength: 1 }), method, params: fc.jsonValue() },
          { requiredKeys: ['id'] },
        ),
        fc.jsonValue(),
      );
      const runs = process.env.PERCH_LONG ? 50_000 : 10_000;
      let self = await openConnectedRaw(gw);
      await fc.assert(
        fc.asyncProperty(frame, async (value) => {
          if (self.closed) self = await openConnectedRaw(gw);
          self.frames.length = 0;
          self.send(JSON.stringify(value));
          await waitFor(() => self.closed !== null || self.frames.some((got) => got.type === 'res'), 'an answer or an end');
          for (const got of self.frames) {
            // Without a bridge, methods that need one fail.
            if (got.type !== 'res' || got.ok || got.error.details?.reason === 'needs-bridge') continue;
            expect(got.error.code).not.toBe('INTERNAL_ERROR');
          }
        }),
        { numRuns: runs },
      );
      expect(gw.faults).toEqual([]);
    },
    120_000,
  );
});

describe('events', () => {
  verifies(['events/seq', 'events/scope', 'events/chat-kinds'], 'own sessions only, or all; numbered without a gap', async () => {
    await using gw = await createTestGateway();
    const all = await gw.client({ events: 'all' });
    const mine = await gw.client({ events: 'own' });
    const stranger = await gw.client({ events: 'own' });
    await mine.client.call('chat.send', { message: 'hi', sessionId: 'a' });
    await stranger.client.call('health', {});
    expect(stranger.events.map(({ event }) => event)).toEqual(['connect.challenge']);
    expect(mine.events.map(({ event }) => event)).toContain('chat.done');
    expect(all.events.filter(({ event }) => event.startsWith('chat.')).length).toBe(
      mine.events.filter(({ event }) => event.startsWith('chat.')).length,
    );
    await stranger.client.call('sessions.preview', { path: 'main/a.jsonl' });
    await mine.client.call('chat.send', { message: 'more', sessionId: 'a' });
    expect(stranger.events.map(({ event }) => event)).toContain('chat.done');
    for (const { events } of [all, mine, stranger]) expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  verifies('events/tick', 'every 15 s', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { events } = await gw.client({ events: 'own' });
    clock.advance(45_500);
    await waitFor(() => events.filter(({ event }) => event === 'tick').length >= 3, 'three ticks');
    expect(events.filter(({ event }) => event === 'tick')).toHaveLength(3);
  });

  verifies('limits/slow-consumer', 'closed once 4 MiB wait; deltas were merged; the run goes on', async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await createTestGateway({
      model: () => [...Array.from({ length: 90 }, () => 'x'.repeat(50_000)), { wait: gate.promise }, 'end'],
    });
    let buffered = 0;
    const sentFrames: string[] = [];
    let closed: { code: number; reason: string } | undefined;
    let deliver = (_text: string): void => {};
    gw.gateway.accept(
      {
        get buffered() {
          return buffered;
        },
        send(text) {
          buffered += text.length;
          sentFrames.push(text);
        },
        close: (code = 0, reason = '') => (closed ??= { code, reason }),
        receive: ({ message }) => (deliver = message),
      },
      { principal: 'owner', scopes: ['admin'], challenged: true, socket: true },
    );
    deliver(JSON.stringify(CONNECT_FRAME));
    deliver(JSON.stringify({ type: 'req', id: 's', method: 'chat.send', params: { message: 'flood' } }));
    await waitFor(() => closed !== undefined);
    expect(closed).toEqual({ code: 1008, reason: 'slow consumer' });
    expect(buffered).toBeLessThan(4.2 * 1024 * 1024);
    // From 64 KiB on nothing is sent one by one.
    expect(sentFrames.filter((text) => text.includes('chat.delta')).length).toBeLessThan(5);
    gate.resolve();
    const { client } = await gw.client();
    await waitFor(async () => (await client.call('sessions.list', {})).sessions[0]?.messageCount === 2);
  });
});

verifies('limits/steady-reader', 'three floods do not close a client that reads, and it gets all of them', async () => {
  const PIECES = 200;
  const PIECE = 'x'.repeat(50_000);
  await using gw = await createTestGateway({ model: () => Array.from({ length: PIECES }, () => PIECE) });
  const queue: string[] = [];
  let buffered = 0;
  let highest = 0;
  let closed: unknown;
  const lengths = new Map<string, number>();
  const done: string[] = [];
  let deliver = (_text: string): void => {};
  let drain = (): void => {};
  gw.gateway.accept(
    {
      get buffered() {
        return buffered;
      },
      send(text) {
        queue.push(text);
        highest = Math.max(highest, (buffered += text.length));
      },
      close: (code, reason) => (closed ??= { code, reason }),
      receive: (events) => {
        deliver = events.message;
        drain = () => events.drain?.();
      },
    },
    { principal: 'owner', scopes: ['admin'], challenged: true, socket: true },
  );
  // Slower than the model, and never at rest.
  const reader = setInterval(() => {
    for (let left = 512 * 1024; left > 0 && queue.length > 0;) {
      const text = queue.shift() ?? '';
      left -= text.length;
      buffered -= text.length;
      const frame = JSON.parse(text) as { event?: string; id?: string; payload: { sessionId: string; delta: string; offset: number } };
      if (frame.id?.startsWith('s')) done.push(frame.id);
      if (frame.event !== 'chat.delta') continue;
      const { sessionId, delta, offset } = frame.payload;
      expect(offset).toBe(lengths.get(sessionId) ?? 0);
      lengths.set(sessionId, offset + delta.length);
    }
    if (buffered === 0) drain();
  }, 2);
  try {
    deliver(JSON.stringify(CONNECT_FRAME));
    for (const sessionId of ['s1', 's2', 's3'])
      deliver(JSON.stringify({ type: 'req', id: sessionId, method: 'chat.send', params: { message: 'flood', sessionId } }));
    await waitFor(() => done.length === 3 || closed !== undefined, 'the replies', 30_000);
  } finally {
    clearInterval(reader);
  }
  expect(closed).toBeUndefined();
  expect([...lengths.values()]).toEqual(Array(3).fill(PIECES * PIECE.length));
  expect(highest).toBeLessThan(PROTOCOL_LIMITS.maxBufferedBytes);
});

describe('limits', () => {
  verifies(['limits/rate', 'limits/control-plane'], 'sockets are limited, ports are not', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const socket = await openConnectedRaw(gw, { socket: true });
    for (let index = 0; index < 101; index++) socket.send({ type: 'req', id: `r${index}`, method: 'health' });
    expect(await socket.waitForResponse('r99')).toMatchObject({ ok: true });
    expect(await socket.waitForResponse('r100')).toMatchObject({
      ok: false,
      error: { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 100 },
    });
    clock.advance(100);
    socket.send({ type: 'req', id: 'later', method: 'health' });
    expect(await socket.waitForResponse('later')).toMatchObject({ ok: true });
    clock.advance(60_000);
    for (let index = 0; index < 31; index++)
      socket.send({ type: 'req', id: `w${index}`, method: 'config.set', params: { key: 'chat.model', value: 'a/b' } });
    expect(await socket.waitForResponse('w30')).toMatchObject({ ok: false, error: { code: 'RATE_LIMITED' } });
    const port = await openConnectedRaw(gw, { socket: false });
    for (let index = 0; index < 300; index++) port.send({ type: 'req', id: `p${index}`, method: 'health' });
    expect(await port.waitForResponse('p299')).toMatchObject({ ok: true });
  });

  verifies('idempotency/replay', 'the same key gets the first answer, and nothing happens twice', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const params = { message: 'once', idempotencyKey: 'k1' };
    const [first, second] = await Promise.all([client.call('chat.send', params), client.call('chat.send', params)]);
    const third = await client.call('chat.send', params);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    expect(gw.calls).toHaveLength(1);
    await client.call('chat.send', { ...params, idempotencyKey: 'k2' });
    expect(gw.calls).toHaveLength(2);
  });

  verifies('idempotency/replay', 'after 5 minutes the same key is another call', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'once', idempotencyKey: 'k1' });
    clock.advance(5 * 60_000 + 1);
    await client.call('chat.send', { message: 'late', idempotencyKey: 'k1' });
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['once', 'late']);
  });

  test('scopes', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client({ scopes: ['read'] });
    await client.call('sessions.list', {});
    await expect(client.call('chat.send', { message: 'x' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(client.call('config.set', { key: 'chat.model', value: 'x' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });
});

verifies('health/result', 'status, uptime, connections', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  expect(contracts.health.result.parse(await client.call('health', {}))).toMatchObject({ status: 'ok', connections: 1 });
});
