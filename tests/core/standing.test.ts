import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/bridge.ts';
import { verifies } from '../requirements.ts';
import { type BridgedGateway, bridgedGateway } from '../support/bridged.ts';
import { until } from '../support/gateway.ts';
import { checkedFetch } from '../support/openai-shapes/checked.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../upstream.ts';

// Whole answers by what the core has decided in advance: through the whole core and a real bridge, with real sockets.

const TEXT = UPSTREAM_TEXT.join('');
let upstream: Upstream;
let other: Upstream;
let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  other = await startUpstream();
  bridge = await startTestBridge({ timing: { receiptsMs: 20 } }, checkedFetch);
  gw = await bridgedGateway({ egress: true });
  await provide(upstream.url);
  await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
  await upstream?.close();
  await other?.close();
});

let changes = 0;
let provided = '';

/** Changes the configuration, even if the address is the same. */
async function provide(baseUrl: string): Promise<void> {
  provided = baseUrl;
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { providers: { up: { baseUrl, name: `Upstream ${++changes}` } } } });
  client.close();
}

const post = (model: string, more: object = {}, init: { token?: string; signal?: AbortSignal } = {}): Promise<Response> =>
  bridge.http('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: `up/${model}`, messages: [{ role: 'user', content: 'Hi' }], ...more }),
    ...init,
  });

/** Asks, and says whether the core was asked what to do. */
async function asked(...ask: Parameters<typeof post>): Promise<{ status: number; heard: boolean; text: string }> {
  const before = gw.forwarded.length;
  const response = await post(...ask);
  const text = await response.text();
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  return { status: response.status, heard: gw.forwarded.length > before, text };
}

/** The same over a cached route: on a busy machine the last one may have expired, and the next is requested. */
async function unheard(...ask: Parameters<typeof post>): Promise<{ status: number; text: string }> {
  let answer = await asked(...ask);
  await until(async () => !answer.heard || !(answer = await asked(...ask)).heard, 'a decision to stand');
  return answer;
}

/** Asks when no route is cached, so that the core decides anew. */
async function decided(model: string): Promise<void> {
  await provide(provided);
  await until(async () => (await asked(model)).heard, 'a new decision');
}

verifies('http.chat/standing', 'the next of a kind is answered alike without the core, which hears of it by its receipt', async () => {
  await decided('normal');
  const before = upstream.requests.length;
  const calls = (await gw.vault.usage.since(0)).length;
  const { status, text } = await unheard('normal', { temperature: 0.5, seed: 7 });
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: TEXT } }] });
  expect(upstream.requests.length).toBeGreaterThan(before);
  expect(upstream.requests.slice(-1).map(({ body }) => body)).toEqual([
    { model: 'normal', messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5, seed: 7 },
  ]);
  await until(async () => (await gw.vault.usage.since(0)).length >= calls + 1, 'the receipt');
  expect((await gw.vault.usage.since(0)).at(-1)).toMatchObject({
    provider: 'up',
    model: 'up/normal',
    principal: 'owner',
    usage: { totalTokens: 18 },
  });
});

verifies(
  'http.chat/standing',
  'streams have the same events, and one that breaks off, errs or is malformed ends as in the core',
  async () => {
    await decided('normal');
    const whole = await unheard('normal', { stream: true });
    expect(whole.text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(whole.text).toContain('漢字');
    for (const [mode, says] of [
      ['cut', /Upstream/],
      ['garbage', /Upstream/],
      ['error-inside', /out of memory/],
    ] as const) {
      const heard = await withQueue(mode, false);
      const alike = await withQueue(mode, true);
      expect(alike.replaceAll(/"(?:id|created|model)":[^,]*,/g, '')).toBe(heard.replaceAll(/"(?:id|created|model)":[^,]*,/g, ''));
      expect(alike).toMatch(/"error":\{"message":"[^"]+"/);
      expect(alike).toMatch(says);
      expect(alike.match(/\[DONE\]/g)).toHaveLength(1);
    }
  },
);

/** A stream of that kind as the core processes it, or by a standing decision. */
async function withQueue(mode: string, alike: boolean): Promise<string> {
  for (;;) {
    if (alike) await unheard('normal');
    else await decided('normal');
    // By a model that was not asked for lately it is the core's to decide.
    upstream.queue.push(mode);
    const { heard, text } = await asked(alike ? 'normal' : `normal-${upstream.requests.length}`, { stream: true });
    if (heard !== alike) return text;
  }
}

verifies(
  'http.chat/true-usage',
  'usage on a cached route is hidden from callers that did not ask, and not requested if the server refuses it',
  async () => {
    await decided('normal');
    for (const more of [{}, { stream_options: { include_usage: true } }]) {
      const calls = (await gw.vault.usage.since(0)).length;
      const { text } = await unheard('normal', { stream: true, ...more });
      expect(text.includes('total_tokens')).toBe('stream_options' in more);
      expect(upstream.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } });
      await until(async () => (await gw.vault.usage.since(0)).length > calls, 'the receipt');
      const { usage } = (await gw.vault.usage.since(0)).at(-1) ?? {};
      expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
      expect(usage?.estimated).toBeUndefined();
    }
    // A whole answer does not tell that the server refuses the option.
    await decided('strict');
    const asks = upstream.requests.length;
    expect(await asked('strict', { stream: true })).toMatchObject({ status: 200, text: expect.stringContaining('[DONE]') });
    expect(upstream.requests.slice(asks).map(({ body }) => 'stream_options' in (body ?? {}))).toEqual([true, false]);
    const again = upstream.requests.length;
    await unheard('strict', { stream: true });
    expect(upstream.requests.slice(again).filter(({ body }) => 'stream_options' in (body ?? {}))).toEqual([]);
  },
);

verifies('http.chat/standing', 'another model, and what is no request, are for the core to decide', async () => {
  await decided('normal');
  expect((await asked('deltas-3')).heard).toBe(true);
  await decided('normal');
  expect(await asked('normal', { messages: [] })).toMatchObject({ status: 400 });
  expect(await asked('normal', { n: 'two' })).toMatchObject({ status: 400 });
  expect(await asked('normal', { stream_options: { a: { model: 'up/normal' } } })).toMatchObject({ status: 200, heard: true });
});

verifies('http.chat/standing', 'a key may have limits, and is looked at each time', async () => {
  const { client } = await gw.client();
  const { secret } = await client.call('keys.create', { name: 'program' });
  client.close();
  await until(async () => (await asked('normal', {}, { token: secret })).status === 200, 'the bridge to know the key');
  await decided('normal');
  for (let i = 0; i < 3; i++) expect(await asked('normal', {}, { token: secret })).toMatchObject({ status: 200, heard: true });
});

verifies('http.chat/standing', 'a failed response goes to the core, which decides again', async () => {
  await decided('normal');
  const before = upstream.requests.length;
  upstream.queue.push('error-400');
  const { status, heard, text } = await asked('normal');
  expect([status, heard]).toEqual([400, true]);
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error' } });
  // There was one request: the core has evaluated the response that had arrived.
  expect(upstream.requests.length).toBe(before + 1);
  expect((await asked('normal')).heard).toBe(true);
});

verifies('http.chat/standing', 'an interrupted error, a slow response, and a caller that disconnects', async () => {
  const message = { role: 'assistant', content: 'Hi', refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  const completion = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices });
  const good = (response: ServerResponse): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(completion);
  let answer = good;
  let requests = 0;
  const server = createServer((request, response) => void request.resume().on('end', () => answer(response))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await provide(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  await decided('normal');
  answer = (response) => void response.writeHead(400, { 'content-length': 99 }).write('half of it', () => response.destroy());
  expect((await asked('normal')).status).toBeGreaterThanOrEqual(400);
  // A slow response is continued by the core, without a second request.
  answer = good;
  await decided('normal');
  const slow = Promise.withResolvers<ServerResponse>();
  answer = (response) => {
    requests++;
    slow.resolve(response);
  };
  const before = gw.forwarded.length;
  const asking = asked('normal');
  const waiting = await slow.promise;
  await until(() => gw.forwarded.length > before, 'the core to hear of it');
  good(waiting);
  expect(await asking).toMatchObject({ status: 200, heard: true });
  expect(requests).toBe(1);
  answer = good;
  await decided('normal');
  const got = Promise.withResolvers<ServerResponse>();
  answer = got.resolve;
  const leaving = new AbortController();
  const left = post('normal', {}, { signal: leaving.signal }).catch(() => 'left');
  const closed = once(await got.promise, 'close');
  leaving.abort();
  await closed;
  expect(await left).toBe('left');
  server.close();
  await provide(upstream.url);
});

verifies('http.chat/standing', 'a change of the configuration ends it at once', async () => {
  await decided('normal');
  const before = [upstream.requests.length, other.requests.length];
  await provide(other.url);
  expect(await asked('normal')).toMatchObject({ status: 200, heard: true });
  expect([upstream.requests.length, other.requests.length]).toEqual([before[0], (before[1] ?? 0) + 1]);
  await unheard('normal');
  expect(upstream.requests.length).toBe(before[0]);
  await provide(upstream.url);
});
