import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { type TestFrame, TestSocketClient } from '../../bridge/server/tests/test-client.ts';
import { awaitClose, connectFrame, createRawFrame, createRawSocket } from '../../bridge/server/tests/raw-socket.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { addProvider, connectOutside, type OutsideClient } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';

// Clumsy or hostile programs against the real gateway: bridge, managed Chromium, worker.

let upstream: Upstream;
let perch: Perch;
let other: OutsideClient;
beforeAll(async () => {
  upstream = await startUpstream();
  perch = await startPerch();
  other = await connectOutside(perch);
  await addProvider(other.client, upstream.url);
});
afterAll(async () => {
  other?.[Symbol.dispose]();
  await perch?.[Symbol.asyncDispose]();
  await upstream?.close();
});

const request = (id: string, method: string, params: object): string => JSON.stringify({ type: 'req', id, method, params });

/** A connected client and its TCP socket: data sent while it is corked arrives in one piece. */
async function connectCorkable(): Promise<{ client: TestSocketClient; tcp: Socket }> {
  const { hostname, port } = new URL(perch.url);
  const tcp = connectTcp(Number(port), hostname);
  return { client: await TestSocketClient.connect(perch.url, perch.token, { createConnection: () => tcp }), tcp };
}

/** Frames until these ids are answered. */
async function waitForResponses(
  client: TestSocketClient,
  ids: readonly string[],
): Promise<{ frames: TestFrame[]; of: Map<string, TestFrame> }> {
  const frames: TestFrame[] = [];
  const of = new Map<string, TestFrame>();
  while (of.size < ids.length) {
    const frame = await client.next();
    frames.push(frame);
    if (frame.type === 'res' && frame.id !== undefined && ids.includes(frame.id)) of.set(frame.id, frame);
  }
  return { frames, of };
}

const isOfSession = (events: readonly EventFrame[], sessionId: string): EventFrame[] =>
  events.filter(
    ({ payload }) => typeof payload === 'object' && payload !== null && 'sessionId' in payload && payload.sessionId === sessionId,
  );

verifies('connect/no-overlap', 'also through the bridge, where the frame is there before the worker listens', async () => {
  const client = await TestSocketClient.open(perch.url);
  const auth = { token: perch.token };
  const answer = await client.call('connect', { minProtocol: 9, maxProtocol: 9, clientName: 'late', auth });
  expect(answer).toMatchObject({ ok: false, error: { code: 'INVALID_PARAMS', details: { expectedProtocol: 3 } } });
  expect((await client.closed).code).toBe(1002);
  const oddClient = await TestSocketClient.open(perch.url);
  expect(await oddClient.call('connect', { minProtocol: -1, maxProtocol: 1e300, clientName: 'odd', auth })).toMatchObject({
    error: { code: 'INVALID_PARAMS' },
  });
  expect((await oddClient.closed).code).toBe(1008);
});

verifies(['chat.abort/aborts', 'runs/one-terminal-event'], 'a Stop in the same packet as its message', async () => {
  const { client, tcp } = await connectCorkable();
  // The last one has to be looked for with every provider before it is known.
  for (const [i, model] of ['guide/guide', 'local/endless', 'endless'].entries()) {
    if (model === 'endless') {
      upstream.models.push(model);
      await other.client.call('models.providers', { refresh: true });
    }
    const sessionId = `stop-${i}`;
    // In one piece nothing has been done about the message yet when the Stop is read.
    tcp.cork();
    client.send(request('send', 'chat.send', { sessionId, message: 'never mind', model }));
    client.send(request('stop', 'chat.abort', { sessionId }));
    tcp.uncork();
    const { frames, of } = await waitForResponses(client, ['send', 'stop']);
    expect(of.get('stop')).toMatchObject({ ok: true, payload: { aborted: true, runIds: [expect.any(String)] } });
    expect(of.get('send')).toMatchObject({ ok: false, error: { code: 'ABORTED' } });
    expect(frames.filter(({ event }) => event === 'chat.error' || event === 'chat.done')).toHaveLength(1);
  }
  client.socket.close();
});

verifies('chat.send/queue', 'messages stay in order where the first model is slower to find', async () => {
  upstream.models.push('normal-by-bare-name');
  // After a configuration change the lists of models are requested again.
  await other.client.call('config.patch', { patch: { providers: { second: { baseUrl: upstream.url } } } });
  await Promise.all([
    other.client.call('chat.send', { sessionId: 'order', message: 'first', model: 'normal-by-bare-name' }),
    other.client.call('chat.send', { sessionId: 'order', message: 'second', model: 'local/normal' }),
  ]);
  const { messages } = await other.client.call('chat.history', { sessionId: 'order' });
  expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['first', 'second']);
});

verifies('sessions.delete/deletes', 'during a run, with a message right behind it', async () => {
  const cut = other.client
    .call('chat.send', { sessionId: 'gone', message: 'old', model: 'local/endless' })
    .catch((error: unknown) => error);
  await waitFor(() => isOfSession(other.events, 'gone').some(({ event }) => event === 'chat.delta'), 'the run to be under way');
  const [deleted, sent] = await Promise.all([
    other.client.call('sessions.delete', { path: 'main/gone.jsonl' }),
    other.client.call('chat.send', { sessionId: 'gone', message: 'new', model: 'local/normal' }),
  ]);
  expect(await cut).toMatchObject({ code: 'ABORTED' });
  expect([deleted, sent.completed]).toMatchObject([{ deleted: true }, true]);
  const { messages } = await other.client.call('chat.history', { sessionId: 'gone' });
  expect(messages.map(({ role, content }) => (role === 'user' ? content : role))).toEqual(['new', 'assistant']);
});

verifies('providers/not-itself', 'as the default model, and in the list of models', async () => {
  const before = (await other.client.call('config.get', {})).hash;
  await other.client.call('config.patch', {
    patch: { providers: { loop: { baseUrl: `${perch.url}/v1`, apiKey: perch.token } }, chat: { model: 'loop/perch/main' } },
    baseHash: before,
  });
  const body = JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'round and round' }] });
  const answer = await perch.fetch('/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain('its own provider');
  const { providers } = await other.client.call('models.providers', { refresh: true });
  expect(providers.find(({ id }) => id === 'loop')).toMatchObject({
    state: 'unreachable',
    message: expect.stringContaining('own provider'),
  });
  await other.client.call('config.patch', { patch: { providers: { loop: null }, chat: { model: null } } });
  expect((await perch.fetch('/v1/models')).status).toBe(200);
});

verifies('egress/guard', 'errors of the rate limiter reach the person at once', async () => {
  await other.client.call('config.patch', { patch: { providers: { meta: { name: 'Meta', baseUrl: 'http://0xa9fea9fe/v1' } } } });
  const pendingSend = other.client.call('chat.send', { sessionId: 'meta', message: 'hi', model: 'meta/x' });
  await expect(pendingSend).rejects.toThrow(/^Couldn’t send the request to Meta: 169\.254\.169\.254 .*\(linkLocal\)$/);
  const named = { patch: { providers: { meta: { baseUrl: 'http://me:secret@127.0.0.1:9/v1' } } } };
  await expect(other.client.call('config.patch', named)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  for (const baseUrl of ['javascript:alert(1)', 'file:///etc/passwd', 'data:,x']) {
    await expect(other.client.call('config.patch', { patch: { providers: { meta: { baseUrl } } } })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
  }
});

verifies('errors/invalid-params', 'a configuration 50,000 levels deep', async () => {
  const client = await TestSocketClient.connect(perch.url, perch.token);
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  client.send(`{"type":"req","id":"deep","method":"config.patch","params":{"patch":${deep}}}`);
  expect((await waitForResponses(client, ['deep'])).of.get('deep')).toMatchObject({ ok: false, error: { code: 'INVALID_PARAMS' } });
  client.socket.close();
});

verifies(['limits/slow-consumer', 'bridge/stalled-reader'], 'a client that never reads, beside one that does', async () => {
  const stalled = await createRawSocket(perch.url);
  stalled.write(createRawFrame(1, Buffer.from(connectFrame({ auth: { token: perch.token }, clientName: 'stalled', events: 'all' }))));
  await once(stalled, 'data');
  stalled.pause();
  const pendingSend = await other.client.call('chat.send', { sessionId: 'large', message: 'all of it', model: 'local/large-1200' });
  expect(pendingSend.completed).toBe(true);
  const text = isOfSession(other.events, 'large').map(({ payload }) => (payload as { delta?: string }).delta ?? '');
  expect(text.join('')).toHaveLength(12_000_000);
  // The server had dropped it, and it learns so when it finally reads.
  await waitFor(async () => (await other.client.call('health', {})).connections === 1, 'the stalled client to be given up');
  let tail = Buffer.alloc(0);
  stalled.on('data', (data: Buffer) => (tail = Buffer.concat([tail, data]).subarray(-64)));
  const closed = awaitClose(stalled);
  stalled.resume();
  await closed;
  expect(tail.toString('latin1')).toContain('\x03\xf0slow consumer');
});
