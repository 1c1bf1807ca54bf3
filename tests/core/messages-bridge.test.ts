import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KeyScope } from '#shared/rpc/scopes.ts';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../requirements.ts';
import { ANTHROPIC_KEY, type AnthropicUpstream, messageEvents, startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startScriptedChat, type ScriptedChat } from '../support/scripted-chat.ts';
import { checkedFetch } from '../support/openai-shapes/checked-fetch.ts';

// Anthropic's Messages API through the whole core and a real bridge, with real sockets all the way.

const TEXT = 'Hello wörld 漢字! '.repeat(20);
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }];
const BODY = { model: 'claude/claude-test', max_tokens: 100, messages };

let upstream: AnthropicUpstream;
let otherUpstream: ScriptedChat;
let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  [upstream, otherUpstream] = await Promise.all([startAnthropicUpstream(), startScriptedChat()]);
  bridge = await startTestBridge({ timing: { receiptsMs: 20 } }, checkedFetch);
  gw = await createBridgedGateway({ egress: true });
  const { client } = await gw.client();
  const claude = { kind: 'anthropic' as const, baseUrl: upstream.url, name: 'Claude', apiKey: ANTHROPIC_KEY };
  const providers = { claude, other: { baseUrl: otherUpstream.url, name: 'Other' } };
  await client.call('config.patch', { patch: { workspaces: { mirror: false }, providers, chat: { model: 'other/model' } } });
  client.close();
  await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await otherUpstream?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.respond = undefined;
  upstream.script = () => [{ thinking: 'Hm "well"\n', text: TEXT }];
});

const postMessages = (more: object = {}, headers: Record<string, string> = {}, path = '/v1/messages'): Promise<Response> =>
  bridge.http(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
    body: JSON.stringify({ ...BODY, ...more }),
  });
const getExpectedBody = (): string => messageEvents('claude-test', upstream.script({ url: '', headers: {}, body: BODY })).join('');
const countForwarded = (): number => gw.forwardedCalls.length;

describe('an answer of an Anthropic model', () => {
  verifies('http.messages/passed-on', 'goes past the host, and by its decision the next time', async () => {
    const before = countForwarded();
    const first = await postMessages({ stream: true }, { 'anthropic-beta': 'one' });
    expect(await first.text()).toBe(getExpectedBody());
    expect(first.headers.get('request-id')).toBe(first.headers.get('x-request-id'));
    await waitFor(() => gw.splicedCalls.length === countForwarded(), 'the answer that went past');
    expect(countForwarded()).toBe(before + 1);
    const second = await postMessages({ stream: true }, { 'anthropic-beta': 'one' });
    expect(await second.text()).toBe(getExpectedBody());
    const whole = await postMessages({}, { 'anthropic-beta': 'one' });
    expect(await whole.json()).toMatchObject({ type: 'message', content: [{ type: 'thinking' }, { type: 'text', text: TEXT }] });
    expect(countForwarded()).toBe(before + 1);
    // Another feature is another decision.
    await (await postMessages({ stream: true }, { 'anthropic-beta': 'two' })).text();
    await (await postMessages({ stream: true }, {}, '/v1/messages?beta=true')).text();
    expect(countForwarded()).toBe(before + 3);
    expect(upstream.requests.map(({ url, headers }) => [url, headers['anthropic-beta']])).toEqual([
      ...[1, 2, 3].map(() => ['/v1/messages', 'one']),
      ['/v1/messages', 'two'],
      ['/v1/messages?beta=true', undefined],
    ]);
    let found: number[] = [];
    await waitFor(async () => (found = (await gw.vault.usage.since(0)).map(({ usage }) => usage.totalTokens)).length >= 5, 'the receipts');
    expect(found).toEqual(found.map(() => 56));
  });

  verifies(['http.messages/passed-on', 'http.messages/errors'], 'that breaks off ends in an event of its own', async () => {
    const [start = '', ...rest] = messageEvents('claude-test', [{ text: TEXT }]);
    const before = rest.slice(0, 10).join('');
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    for (const isCached of [false, true])
      for (const [end, type] of [
        [error, 'overloaded_error'],
        ['', 'api_error'],
      ]) {
        const beta = { 'anthropic-beta': `${isCached}-${type}` };
        upstream.respond = undefined;
        if (isCached) await (await postMessages({ stream: true }, beta)).text();
        upstream.respond = (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start + before);
          setTimeout(() => response.end(end), 20);
          return true;
        };
        const count = countForwarded();
        const text = await (await postMessages({ stream: true }, beta)).text();
        expect(countForwarded() - count).toBe(isCached ? 0 : 1);
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
    const text = await (await postMessages({ stream: true }, { 'anthropic-beta': 'trailer' })).text();
    expect(text).not.toContain('event: error');
    expect(text).toContain('"stop_reason":"end_turn"');
  });

  verifies('http.messages/errors', 'that is an error has its status', async () => {
    upstream.respond = (_request, response) =>
      !!response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}');
    const response = await postMessages({ stream: true });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('prompt is too long: 9 tokens > 8 maximum') },
      },
    ]);
  });
});

describe('an agent', () => {
  const tools: Anthropic.Tool[] = [{ name: 'get_weather', description: 'Weather', input_schema: { type: 'object' } }];
  const client = (): Anthropic => new Anthropic({ baseURL: bridge.url, maxRetries: 0, apiKey: bridge.token });

  verifies('http.messages/translated', 'uses its own tools, and gives calls of the caller’s tools back', async () => {
    otherUpstream.requests.length = 0;
    otherUpstream.script = ({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length;
      if (results === 0) return { tool: 'current_time', input: {} };
      return messages.some(({ content }) => content === 'sunny')
        ? { text: 'It is sunny.' }
        : { tool: 'get_weather', input: { city: 'Köln' } };
    };
    const first = await client().messages.stream({ model: 'perch/main', max_tokens: 100, messages, tools }).finalMessage();
    expect(first).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', name: 'get_weather', input: { city: 'Köln' } }] });
    expect(otherUpstream.requests).toHaveLength(2);
    const [call] = first.content;
    const result = { type: 'tool_result' as const, tool_use_id: call?.type === 'tool_use' ? call.id : '', content: 'sunny' };
    const next = [...messages, { role: 'assistant' as const, content: first.content }, { role: 'user' as const, content: [result] }];
    const second = await client().messages.create({ model: 'perch/main', max_tokens: 100, messages: next, tools });
    expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'It is sunny.' }] });
  });

  it('chooses among the caller’s tools if it has to call one', async () => {
    otherUpstream.requests.length = 0;
    otherUpstream.script = () => ({ tool: 'get_weather', input: {} });
    const forced = { tools, tool_choice: { type: 'any' as const } };
    expect((await client().messages.create({ model: 'perch/main', max_tokens: 9, messages, ...forced })).stop_reason).toBe('tool_use');
    expect(otherUpstream.requests.map(({ tools: offered }) => offered)).toMatchObject([[{ function: { name: 'get_weather' } }]]);
    expect(otherUpstream.requests[0]?.tools).toHaveLength(1);
  });
});

describe('a key', () => {
  async function createKey(scopes: KeyScope[]): Promise<string> {
    const { client } = await gw.client();
    const { secret } = await client.call('keys.create', { name: scopes.join(), scopes });
    client.close();
    await waitFor(async () => (await bridge.http('/metrics', { token: secret })).status === 403, 'the bridge to know the key');
    return secret;
  }

  verifies(['http.messages/errors', 'http.messages/passed-on'], 'needs the scope v1, and its usage counts', async () => {
    const raw = async (key: string): Promise<Response> =>
      fetch(`${bridge.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify(BODY),
      });
    const refused = await raw(await createKey(['mcp']));
    expect([refused.status, await refused.json()]).toMatchObject([403, { type: 'error', error: { type: 'permission_error' } }]);
    const key = await createKey(['v1']);
    expect((await raw(key)).status).toBe(200);
    let used: { principal?: string | undefined; usage: { totalTokens: number } }[] = [];
    await waitFor(
      async () => (used = (await gw.vault.usage.since(0)).filter((each) => each.principal?.startsWith('key:'))).length > 0,
      'the receipt',
    );
    expect(used[0]?.usage.totalTokens).toBe(56);
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
