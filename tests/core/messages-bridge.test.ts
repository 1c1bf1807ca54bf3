import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/bridge.ts';
import { verifies } from '../requirements.ts';
import { ANTHROPIC_KEY, type AnthropicUpstream, messageEvents, startAnthropic } from '../support/anthropic-upstream.ts';
import { type BridgedGateway, bridgedGateway } from '../support/bridged.ts';
import { until } from '../support/gateway.ts';
import { checkedFetch } from '../support/openai-shapes/checked.ts';

// Anthropic's Messages API through the whole core and a real bridge, with real sockets all the way.

const TEXT = 'Hello wörld 漢字! '.repeat(20);
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }];
const BODY = { model: 'claude/claude-test', max_tokens: 100, messages };

let upstream: AnthropicUpstream;
let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  upstream = await startAnthropic();
  bridge = await startTestBridge({ timing: { receiptsMs: 20 } }, checkedFetch);
  gw = await bridgedGateway({ egress: true });
  const { client } = await gw.client();
  const claude = { kind: 'anthropic' as const, baseUrl: upstream.url, name: 'Claude', apiKey: ANTHROPIC_KEY };
  await client.call('config.patch', { patch: { workspaces: { mirror: false }, providers: { claude } } });
  client.close();
  await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.respond = undefined;
  upstream.script = () => [{ thinking: 'Hm "well"\n', text: TEXT }];
});

const post = (more: object = {}, headers: Record<string, string> = {}, path = '/v1/messages'): Promise<Response> =>
  bridge.http(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
    body: JSON.stringify({ ...BODY, ...more }),
  });
const expected = (): string => messageEvents('claude-test', upstream.script({ url: '', headers: {}, body: BODY })).join('');
const asked = (): number => gw.forwarded.length;

describe('an answer of an Anthropic model', () => {
  verifies('http.messages/passed-on', 'goes past the host, and by its decision the next time', async () => {
    const before = asked();
    const first = await post({ stream: true }, { 'anthropic-beta': 'one' });
    expect(await first.text()).toBe(expected());
    expect(first.headers.get('request-id')).toBe(first.headers.get('x-request-id'));
    await until(() => gw.spliced.length === asked(), 'the answer that went past');
    expect(asked()).toBe(before + 1);
    const second = await post({ stream: true }, { 'anthropic-beta': 'one' });
    expect(await second.text()).toBe(expected());
    const whole = await post({}, { 'anthropic-beta': 'one' });
    expect(await whole.json()).toMatchObject({ type: 'message', content: [{ type: 'thinking' }, { type: 'text', text: TEXT }] });
    expect(asked()).toBe(before + 1);
    // Another feature is another decision.
    await (await post({ stream: true }, { 'anthropic-beta': 'two' })).text();
    await (await post({ stream: true }, {}, '/v1/messages?beta=true')).text();
    expect(asked()).toBe(before + 3);
    expect(upstream.requests.map(({ url, headers }) => [url, headers['anthropic-beta']])).toEqual([
      ...[1, 2, 3].map(() => ['/v1/messages', 'one']),
      ['/v1/messages', 'two'],
      ['/v1/messages?beta=true', undefined],
    ]);
    let found: number[] = [];
    await until(async () => (found = (await gw.vault.usage.since(0)).map(({ usage }) => usage.totalTokens)).length >= 5, 'the receipts');
    expect(found).toEqual(found.map(() => 56));
  });

  verifies(['http.messages/passed-on', 'http.messages/errors'], 'that breaks off ends in an event of its own', async () => {
    const [start = '', ...rest] = messageEvents('claude-test', [{ text: TEXT }]);
    const before = rest.slice(0, 10).join('');
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    for (const standing of [false, true])
      for (const [end, type] of [
        [error, 'overloaded_error'],
        ['', 'api_error'],
      ]) {
        const beta = { 'anthropic-beta': `${standing}-${type}` };
        upstream.respond = undefined;
        if (standing) await (await post({ stream: true }, beta)).text();
        upstream.respond = (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start + before);
          setTimeout(() => response.end(end), 20);
          return true;
        };
        const count = asked();
        const text = await (await post({ stream: true }, beta)).text();
        expect(asked() - count).toBe(standing ? 0 : 1);
        expect(text.startsWith(start + before)).toBe(true);
        const last = text.slice((start + before).length);
        expect(last).toMatch(/^event: error\ndata: \{.*\}\n\n$/);
        expect(JSON.parse(last.split('data: ')[1] ?? '')).toMatchObject({ type: 'error', error: { type }, request_id: expect.any(String) });
      }
  });

  verifies('http.messages/passed-on', 'is complete without its last event', async () => {
    const events = messageEvents('claude-test', [{ text: TEXT }]);
    upstream.respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.slice(0, -1).join(''));
      return true;
    };
    const text = await (await post({ stream: true }, { 'anthropic-beta': 'trailer' })).text();
    expect(text).not.toContain('event: error');
    expect(text).toContain('"stop_reason":"end_turn"');
  });

  verifies('http.messages/errors', 'that is an error has its status', async () => {
    upstream.respond = (_request, response) =>
      !!response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}');
    const response = await post({ stream: true });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('prompt is too long: 9 tokens > 8 maximum') },
      },
    ]);
  });
});

describe('admission', () => {
  const raw = (headers: Record<string, string>, path = '/v1/messages', method = 'POST'): Promise<Response> =>
    fetch(bridge.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(method === 'POST' ? { body: JSON.stringify(BODY) } : {}),
    });

  verifies('http.messages/sdk', 'takes the key from x-api-key or as a bearer token', async () => {
    for (const key of [{ apiKey: bridge.token }, { apiKey: null, authToken: bridge.token }]) {
      const client = new Anthropic({ baseURL: bridge.url, maxRetries: 0, ...key });
      const final = await client.messages.stream(BODY).finalMessage();
      expect(final.content.at(-1)).toMatchObject({ type: 'text', text: TEXT });
      expect(upstream.requests.at(-1)?.headers['x-api-key']).toBe(ANTHROPIC_KEY);
      expect(upstream.requests.at(-1)?.headers.authorization).toBeUndefined();
    }
  });

  verifies('http.messages/errors', 'refuses in Anthropic’s form', async () => {
    const wrong = await raw({ 'x-api-key': 'wrong' });
    expect([wrong.status, await wrong.json()]).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error' }, request_id: wrong.headers.get('request-id') },
    ]);
    const client = new Anthropic({ baseURL: bridge.url, maxRetries: 0, apiKey: 'wrong' });
    await expect(client.messages.create(BODY)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(client.models.list()).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  });

  it('keeps the rules of origins', async () => {
    const foreign = await raw({ 'x-api-key': bridge.token, origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
    const preflight = await fetch(`${bridge.url}/v1/messages`, {
      method: 'OPTIONS',
      headers: {
        origin: new URL(bridge.url).origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key,anthropic-version,anthropic-beta',
      },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect(preflight.headers.get('access-control-expose-headers')).toContain('X-Perch-Ignored');
  });
});
