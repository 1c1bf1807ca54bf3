import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { waitFor } from '../support/test-gateway.ts';
import { checkedFetch } from '../support/openai-shapes/checked-fetch.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';

// Whole answers by what the core has decided in advance: through the whole core and a real bridge, with real sockets.

const TEXT = UPSTREAM_TEXT.join('');
let upstream: Upstream;
let otherUpstream: Upstream;
let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  otherUpstream = await startUpstream();
  bridge = await startTestBridge({ timing: { receiptsMs: 20 } }, checkedFetch);
  gw = await createBridgedGateway({ egress: true });
  await setProvider(upstream.url);
  await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
  await upstream?.close();
  await otherUpstream?.close();
});

let changeCount = 0;
let providedUrl = '';

/** Changes the configuration, even if the address is the same. */
async function setProvider(baseUrl: string): Promise<void> {
  providedUrl = baseUrl;
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { providers: { up: { baseUrl, name: `Upstream ${++changeCount}` } } } });
  client.close();
}

const postCompletion = (model: string, more: object = {}, init: { token?: string; signal?: AbortSignal } = {}): Promise<Response> =>
  bridge.http('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: `up/${model}`, messages: [{ role: 'user', content: 'Hi' }], ...more }),
    ...init,
  });

/** Asks, and says whether the core was asked what to do. */
async function complete(...ask: Parameters<typeof postCompletion>): Promise<{ status: number; reachedCore: boolean; text: string }> {
  const before = gw.forwardedCalls.length;
  const response = await postCompletion(...ask);
  const text = await response.text();
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  return { status: response.status, reachedCore: gw.forwardedCalls.length > before, text };
}

/** The same over a cached route: on a busy machine the last one may have expired, and the next is requested. */
async function completeCached(...ask: Parameters<typeof postCompletion>): Promise<{ status: number; text: string }> {
  let answer = await complete(...ask);
  await waitFor(async () => !answer.reachedCore || !(answer = await complete(...ask)).reachedCore, 'a decision to stand');
  return answer;
}

/** Asks when no route is cached, so that the core decides anew. */
async function completeUncached(model: string): Promise<void> {
  await setProvider(providedUrl);
  await waitFor(async () => (await complete(model)).reachedCore, 'a new decision');
}

verifies('http.chat/standing', 'the next of a kind is answered alike without the core, which hears of it by its receipt', async () => {
  await completeUncached('normal');
  const before = upstream.requests.length;
  const calls = (await gw.vault.usage.since(0)).length;
  const { status, text } = await completeCached('normal', { temperature: 0.5, seed: 7 });
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: TEXT } }] });
  expect(upstream.requests.length).toBeGreaterThan(before);
  expect(upstream.requests.slice(-1).map(({ body }) => body)).toEqual([
    { model: 'normal', messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5, seed: 7 },
  ]);
  await waitFor(async () => (await gw.vault.usage.since(0)).length >= calls + 1, 'the receipt');
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
    await completeUncached('normal');
    const whole = await completeCached('normal', { stream: true });
    expect(whole.text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(whole.text).toContain('漢字');
    for (const [mode, expectedError] of [
      ['cut', /Upstream/],
      ['garbage', /Upstream/],
      ['error-inside', /out of memory/],
    ] as const) {
      const queued = await readStream(mode, false);
      const alike = await readStream(mode, true);
      expect(alike.replaceAll(/"(?:id|created|model)":[^,]*,/g, '')).toBe(queued.replaceAll(/"(?:id|created|model)":[^,]*,/g, ''));
      expect(alike).toMatch(/"error":\{"message":"[^"]+"/);
      expect(alike).toMatch(expectedError);
      expect(alike.match(/\[DONE\]/g)).toHaveLength(1);
    }
  },
);

/** A stream of that kind as the core processes it, or by a standing decision. */
async function readStream(mode: string, alike: boolean): Promise<string> {
  for (;;) {
    if (alike) await completeCached('normal');
    else await completeUncached('normal');
    // By a model that was not asked for lately it is the core's to decide.
    upstream.queue.push(mode);
    const { reachedCore, text } = await complete(alike ? 'normal' : `normal-${upstream.requests.length}`, { stream: true });
    if (reachedCore !== alike) return text;
  }
}

verifies(
  'http.chat/true-usage',
  'usage on a cached route is hidden from callers that did not ask, and not requested if the server refuses it',
  async () => {
    await completeUncached('normal');
    for (const more of [{}, { stream_options: { include_usage: true } }]) {
      const calls = (await gw.vault.usage.since(0)).length;
      const { text } = await completeCached('normal', { stream: true, ...more });
      expect(text.includes('total_tokens')).toBe('stream_options' in more);
      expect(upstream.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } });
      await waitFor(async () => (await gw.vault.usage.since(0)).length > calls, 'the receipt');
      const { usage } = (await gw.vault.usage.since(0)).at(-1) ?? {};
      expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
      expect(usage?.estimated).toBeUndefined();
    }
    // A whole answer does not tell that the server refuses the option.
    await completeUncached('strict');
    const asks = upstream.requests.length;
    expect(await complete('strict', { stream: true })).toMatchObject({ status: 200, text: expect.stringContaining('[DONE]') });
    expect(upstream.requests.slice(asks).map(({ body }) => 'stream_options' in (body ?? {}))).toEqual([true, false]);
    const again = upstream.requests.length;
    await completeCached('strict', { stream: true });
    expect(upstream.requests.slice(again).filter(({ body }) => 'stream_options' in (body ?? {}))).toEqual([]);
  },
);

verifies('http.chat/standing', 'another model, and what is no request, are for the core to decide', async () => {
  await completeUncached('normal');
  expect((await complete('deltas-3')).reachedCore).toBe(true);
  await completeUncached('normal');
  expect(await complete('normal', { messages: [] })).toMatchObject({ status: 400 });
  expect(await complete('normal', { n: 'two' })).toMatchObject({ status: 400 });
  expect(await complete('normal', { stream_options: { a: { model: 'up/normal' } } })).toMatchObject({ status: 200, reachedCore: true });
});

verifies('http.chat/standing', 'a key may have limits, and is looked at each time', async () => {
  const { client } = await gw.client();
  const { secret } = await client.call('keys.create', { name: 'program' });
  client.close();
  await waitFor(async () => (await complete('normal', {}, { token: secret })).status === 200, 'the bridge to know the key');
  await completeUncached('normal');
  for (let i = 0; i < 3; i++) expect(await complete('normal', {}, { token: secret })).toMatchObject({ status: 200, reachedCore: true });
});

verifies('budgets/fast-path', 'while the vault has a budget, every call is for the core to decide, from the first on', async () => {
  const { client } = await gw.client();
  await completeUncached('normal');
  await completeCached('normal');
  try {
    await client.call('budgets.set', { scope: 'vault', limits: { day: { tokens: 1_000_000 } } });
    await waitFor(async () => (await complete('normal')).reachedCore, 'the decision to be withdrawn');
    for (let call = 0; call < 3; call++) expect(await complete('normal')).toMatchObject({ status: 200, reachedCore: true });
    await client.call('budgets.set', { scope: 'vault', limits: { day: { tokens: 1 } } });
    expect(await complete('normal')).toMatchObject({ status: 429, text: expect.stringContaining('insufficient_quota') as string });
  } finally {
    await client.call('budgets.set', { scope: 'vault', limits: null });
    client.close();
  }
  await completeCached('normal');
});

verifies('http.chat/standing', 'a failed response goes to the core, which decides again', async () => {
  await completeUncached('normal');
  const before = upstream.requests.length;
  upstream.queue.push('error-400');
  const { status, reachedCore, text } = await complete('normal');
  expect([status, reachedCore]).toEqual([400, true]);
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error' } });
  // There was one request: the core has evaluated the response that had arrived.
  expect(upstream.requests.length).toBe(before + 1);
  expect((await complete('normal')).reachedCore).toBe(true);
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
  await setProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  await completeUncached('normal');
  answer = (response) => void response.writeHead(400, { 'content-length': 99 }).write('half of it', () => response.destroy());
  expect((await complete('normal')).status).toBeGreaterThanOrEqual(400);
  // A slow response is continued by the core, without a second request.
  answer = good;
  await completeUncached('normal');
  const slow = Promise.withResolvers<ServerResponse>();
  answer = (response) => {
    requests++;
    slow.resolve(response);
  };
  const before = gw.forwardedCalls.length;
  const asking = complete('normal');
  const waiting = await slow.promise;
  await waitFor(() => gw.forwardedCalls.length > before, 'the core to hear of it');
  good(waiting);
  expect(await asking).toMatchObject({ status: 200, reachedCore: true });
  expect(requests).toBe(1);
  answer = good;
  await completeUncached('normal');
  const got = Promise.withResolvers<ServerResponse>();
  answer = got.resolve;
  const leaving = new AbortController();
  const aborted = postCompletion('normal', {}, { signal: leaving.signal }).catch(() => 'left');
  const closed = once(await got.promise, 'close');
  leaving.abort();
  await closed;
  expect(await aborted).toBe('left');
  server.close();
  await setProvider(upstream.url);
});

verifies('http.chat/standing', 'a change of the configuration ends it at once', async () => {
  await completeUncached('normal');
  const before = [upstream.requests.length, otherUpstream.requests.length];
  await setProvider(otherUpstream.url);
  expect(await complete('normal')).toMatchObject({ status: 200, reachedCore: true });
  expect([upstream.requests.length, otherUpstream.requests.length]).toEqual([before[0], (before[1] ?? 0) + 1]);
  await completeCached('normal');
  expect(upstream.requests.length).toBe(before[0]);
  await setProvider(upstream.url);
});
