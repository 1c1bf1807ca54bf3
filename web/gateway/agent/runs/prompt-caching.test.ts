import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import {
  type ProviderRequest,
  toNamedEvents,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../../tests/support/fake-provider-server.ts';

const LONG_TEXT = 'Perch keeps every byte of this. '.repeat(200);
const GREETING = { role: 'user', content: 'Hi' };
const tool = { type: 'function', function: { name: 'add', description: 'Adds', parameters: { type: 'object' } } };

const CLAUDE_STREAM = toNamedEvents(
  {
    ...{ type: 'message_start' },
    message: { usage: { input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 800, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } },
  { type: 'message_stop' },
);
const COMPLETION_STREAM = toUnnamedEvents(
  { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] },
  {
    choices: [],
    usage: { prompt_tokens: 1010, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 200 } },
  },
);

async function createCachingGateway() {
  const { fetch, asked } = createFakeServer(({ url }) =>
    createStreamResponse(url.includes('anthropic') ? CLAUDE_STREAM : COMPLETION_STREAM),
  );
  const gw = await createTestGateway({ fetch, useGuide: true });
  const { client } = await gw.client();
  const providers = {
    claude: { kind: 'anthropic', apiKey: 'k' },
    openai: { kind: 'openai', apiKey: 'k' },
    any: { kind: 'openai-compatible', baseUrl: 'http://any.test/v1' },
  };
  await client.call('config.patch', { patch: { providers, chat: { titles: false } } });
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`http://127.0.0.1:7333${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const response = await gw.gateway.fetch(request, { id: 'owner', scopes: ['admin'] });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  };
  const posts = (): ProviderRequest[] => asked.filter(({ method }) => method === 'POST');
  return { gw, client, post, last: () => posts().at(-1)?.body ?? {}, posts };
}

/** How many breakpoints a body has, and the text of its last message's. */
const countBreakpoints = (body: Record<string, unknown>): number => JSON.stringify(body).split('"cache_control"').length - 1;

describe('a chat', () => {
  verifies('usage/cache', 'has one key of its own for OpenAI, over all its turns and for nobody to read', async () => {
    const { gw, client, posts } = await createCachingGateway();
    await using _gw = gw;
    for (const [sessionId, message] of [
      ['one', 'Hi'],
      ['one', 'And now?'],
      ['two', 'Hi'],
    ] as const)
      await client.call('chat.send', { sessionId, message, model: 'openai/gpt-6-sol' });
    const [first, second, other] = posts().map(({ body }) => body?.['prompt_cache_key']);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
    expect(other).toMatch(/^[0-9a-f]{32}$/);
    expect(other).not.toBe(first);
  });

  verifies('usage/cache', 'is marked for Anthropic, and cache reads and writes are reported and priced', async () => {
    const { gw, client, last } = await createCachingGateway();
    await using _gw = gw;
    const send = () => client.call('chat.send', { sessionId: 'one', message: LONG_TEXT, model: 'claude/claude-opus-5-5' });
    const { usage } = await send();
    // 10 at 4, 800 at 0.2, 200 at 5 and 100 at 20 dollars for a million.
    const cost = 0.0032;
    expect(usage).toEqual({
      ...{ inputTokens: 1010, outputTokens: 100, totalTokens: 1110, cacheReadTokens: 800, cacheWriteTokens: 200, cost },
    });
    expect(last()).toMatchObject({ messages: [{ content: { length: expect.any(Number) } }] });
    expect(countBreakpoints(last())).toBe(3);
    await send();
    expect(countBreakpoints(last())).toBe(4);
    const messages = last()['messages'] as { content: object[] }[];
    expect(messages.map(({ content }) => 'cache_control' in (content.at(-1) ?? {}))).toEqual([true, false, true]);
    const report = await client.call('usage.get', {});
    expect(report).toMatchObject({ inputTokens: 2020, cacheReadTokens: 1600, cacheWriteTokens: 400, estimatedCost: 2 * cost });
    const { messages: stored } = await client.call('chat.history', { sessionId: 'one' });
    expect(stored.at(-1)?.usage).toMatchObject({ cacheReadTokens: 800, cacheWriteTokens: 200 });
    expect(JSON.stringify(stored)).not.toContain('cacheBreakpoint');
  });
});

describe('a program', () => {
  verifies('usage/cache', 'passes its own breakpoints and key to a server of its format, and gets no others', async () => {
    const { gw, post, last } = await createCachingGateway();
    await using _gw = gw;
    const marked = { role: 'user', content: [{ type: 'text', text: LONG_TEXT, cache_control: { type: 'ephemeral' } }] };
    const body = { model: 'any/m', messages: [{ role: 'system', content: LONG_TEXT }, marked], tools: [tool], prompt_cache_key: 'mine' };
    await post('/v1/chat/completions', body);
    expect(last()).toEqual({ ...body, model: 'm' });
    await post('/v1/chat/completions', { model: 'openai/gpt-6-sol', messages: [GREETING] });
    expect(last()).toEqual({ model: 'gpt-6-sol', messages: [GREETING] });
  });

  verifies('usage/cache', 'has its own breakpoints on translated requests, else gets those of a chat', async () => {
    const { gw, post, last } = await createCachingGateway();
    await using _gw = gw;
    const model = 'claude/claude-opus-5-5';
    const system = { role: 'system', content: LONG_TEXT };
    const once = await post('/v1/chat/completions', { model, messages: [system, GREETING] });
    expect(countBreakpoints(last())).toBe(0);
    expect(once['usage']).toMatchObject({ prompt_tokens: 1010, prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 200 } });
    await post('/v1/chat/completions', { model, messages: [system, GREETING], prompt_cache_key: 'mine' });
    expect(last()).toMatchObject({ system: [{ cache_control: {} }], messages: [{ content: [{ cache_control: {} }] }] });
    await post('/v1/chat/completions', { model, messages: [system, GREETING], tools: [tool] });
    expect(countBreakpoints(last())).toBe(1);
    const own = { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] };
    await post('/v1/chat/completions', {
      model,
      messages: [system, own, { role: 'assistant', content: 'Yes' }, GREETING],
      prompt_cache_key: 'mine',
    });
    expect(countBreakpoints(last())).toBe(1);
    expect(last()).toMatchObject({ messages: [{ content: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }] }, {}, {}] });
    const response = await post('/v1/responses', { model, input: 'Hi', instructions: LONG_TEXT, prompt_cache_key: 'mine' });
    expect(countBreakpoints(last())).toBe(2);
    expect(response['usage']).toMatchObject({ input_tokens_details: { cached_tokens: 800, cache_write_tokens: 200 } });
    await post('/v1/responses', { model: 'openai/gpt-6-sol', input: 'Hi', prompt_cache_key: 'mine' });
    expect(last()['prompt_cache_key']).toBe('mine');
  });
});
