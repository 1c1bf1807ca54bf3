import { describe, expect, it } from 'vitest';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import {
  type ProviderRequest,
  collectOutcome,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { GuideProvider } from '../agent/guide/guide.ts';
import { getProviderKind, listProviderKinds } from '../config/sections/provider-kinds.ts';
import { toModelEntry, withCost } from './model-entry.ts';
import { findModel, PRICES_AS_OF } from './model-table.ts';
import { createListedModel, type ModelRequest } from './provider.ts';
import { Providers } from './providers.ts';

const sources = () => ({ memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) });
const guide = new GuideProvider({ clock: systemClock, sources, paceMs: 0 });
const delta = (part: object, finish: string | null = null) => ({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
const HELLO = toUnnamedEvents(delta({ content: 'Hello' }), delta({}, 'stop'), '[DONE]').replace('"[DONE]"', '[DONE]');

/** All providers, and one of `kind` whose server `answer` mocks. */
function vendor(
  kind: ProviderKind,
  answer: (asked: ProviderRequest, count: number) => Response | Promise<Response>,
  apiKey: string | undefined = 'sk-1',
) {
  const { fetch, asked } = createFakeServer(answer);
  const all = new Providers({ guide, fetch, clock: systemClock, localServers: [] });
  all.configure([
    { id: 'v', name: getProviderKind(kind).name, kind, apiKey, ...(kind === 'openai-compatible' ? { baseUrl: 'http://any.test/v1' } : {}) },
  ]);
  const entries = async () => (await all.list()).filter(({ provider }) => provider === 'v');
  const stream = async (request: Partial<ModelRequest> = {}) => {
    const { provider, model } = await all.resolve('v/some-model');
    return collectOutcome(provider, { model, messages: [{ role: 'user', content: 'Hi' }], ...request });
  };
  return { all, asked, entries, stream };
}

describe('requests', () => {
  const CALL = { id: 'call_9f', tool: 'add', args: {} };
  const wanted: [kind: ProviderKind, url: string, body: object][] = [
    ['openai-compatible', 'http://any.test/v1', { max_tokens: 7, stream_options: { include_usage: true } }],
    ['openai', 'https://api.openai.com/v1', { max_completion_tokens: 7, stream_options: { include_usage: true } }],
    ['openrouter', 'https://openrouter.ai/api/v1', { max_tokens: 7, usage: { include: true } }],
    ['mistral', 'https://api.mistral.ai/v1', { max_tokens: 7, stream_options: undefined }],
    ['groq', 'https://api.groq.com/openai/v1', { max_completion_tokens: 7 }],
    ['deepseek', 'https://api.deepseek.com/v1', { max_tokens: 7 }],
    ['xai', 'https://api.x.ai/v1', { max_completion_tokens: 7 }],
    ['ollama', 'http://127.0.0.1:11434/v1', { max_tokens: 7 }],
    ['lmstudio', 'http://127.0.0.1:1234/v1', { max_tokens: 7 }],
  ];
  verifies('providers/quirks', 'go to each vendor’s own address, as it takes them', async () => {
    for (const [kind, url, body] of wanted) {
      const { asked, stream } = vendor(kind, () => createStreamResponse(HELLO));
      expect(await stream({ maxTokens: 7 }), kind).toMatchObject({ text: 'Hello', error: undefined });
      expect(asked[0]?.url, kind).toBe(`${url}/chat/completions`);
      expect(asked[0]?.headers['authorization'], kind).toBe('Bearer sk-1');
      for (const [name, value] of Object.entries(body)) expect(asked[0]?.body?.[name], `${kind} ${name}`).toEqual(value);
    }
  });

  verifies('providers/quirks', 'name calls by ids that Mistral takes, the same for call and result', async () => {
    const { asked, stream } = vendor('mistral', () => createStreamResponse(HELLO));
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', toolCalls: [CALL, { ...CALL, id: 'abcDEF123' }] },
      { role: 'tool', content: '1', toolCallId: 'call_9f' },
      { role: 'tool', content: '2', toolCallId: 'abcDEF123' },
    ];
    await stream({ messages });
    const [, assistant, first, second] = asked[0]?.body?.['messages'] as { tool_calls?: { id: string }[]; tool_call_id?: string }[];
    const ids = assistant?.tool_calls?.map(({ id }) => id);
    expect(ids).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), 'abcDEF123']);
    expect([first?.tool_call_id, second?.tool_call_id]).toEqual(ids);
  });

  const call = { tool_calls: [{ index: 0, id: 'c1', function: { name: 'add', arguments: '{}' } }] };
  const end = toUnnamedEvents(delta(call), delta({}, 'tool_calls')) + 'data: [DONE]\n\n';
  verifies('providers/quirks', 'give the thoughts back that DeepSeek and OpenRouter want with their calls', async () => {
    const thoughts: Partial<Record<ProviderKind, [stream: string, kept: object]>> = {
      deepseek: [
        toUnnamedEvents(delta({ reasoning_content: 'Let me ' }), delta({ reasoning_content: 'see' })),
        { reasoning_content: 'Let me see' },
      ],
      openrouter: [
        toUnnamedEvents(
          delta({ reasoning: 'Let', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let' }] }),
          delta({ reasoning: ' me', reasoning_details: [{ type: 'reasoning.text', index: 0, text: ' me', signature: 's' }] }),
          delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'eA==', index: 1 }] }),
        ),
        {
          reasoning_details: [
            { type: 'reasoning.text', index: 0, text: 'Let me', signature: 's' },
            { type: 'reasoning.encrypted', data: 'eA==', index: 1 },
          ],
        },
      ],
    };
    for (const kind of ['deepseek', 'openrouter'] as const) {
      const [text, kept] = thoughts[kind] ?? ['', {}];
      const { asked, stream } = vendor(kind, () => createStreamResponse(text + end));
      const { events } = await stream();
      const keep = events.find((event) => event.type === 'keep');
      expect(keep, kind).toEqual({ type: 'keep', kept: { wire: 'openai', value: kept } });
      await stream({
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: '', toolCalls: [CALL], ...(keep ? { kept: keep.kept } : {}) },
          { role: 'tool', content: '1', toolCallId: CALL.id },
        ],
      });
      expect((asked[1]?.body?.['messages'] as object[])[1], kind).toMatchObject({ role: 'assistant', ...kept });
    }
    const { stream } = vendor('openai', () => createStreamResponse(toUnnamedEvents(delta({ reasoning_content: 'x' })) + end));
    expect((await stream()).events.map(({ type }) => type)).toEqual(['reasoning', 'tool_call', 'finish']);
  });

  it('read Mistral’s thoughts, xAI’s and DeepSeek’s counts, and what OpenRouter billed', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hmm' }] },
      { type: 'text', text: 'Yes' },
    ];
    const mistral = vendor('mistral', () => createStreamResponse(toUnnamedEvents(delta({ content }, 'stop'))));
    expect((await mistral.stream()).events).toEqual([
      { type: 'reasoning', text: 'Hmm' },
      { type: 'text', text: 'Yes' },
      { type: 'finish', reason: 'stop' },
    ]);
    const usageOf = async (kind: ProviderKind, usage: object): Promise<unknown> => {
      const { stream } = vendor(kind, () => createStreamResponse(toUnnamedEvents(delta({ content: 'x' }, 'stop'), { choices: [], usage })));
      return (await stream()).events.find((event) => event.type === 'usage')?.usage;
    };
    const thought = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115, completion_tokens_details: { reasoning_tokens: 100 } };
    expect(await usageOf('xai', thought)).toEqual({ inputTokens: 10, outputTokens: 105, totalTokens: 115 });
    const within = { prompt_tokens: 10, completion_tokens: 105, total_tokens: 115, completion_tokens_details: { reasoning_tokens: 100 } };
    expect(await usageOf('openai', within)).toEqual({ inputTokens: 10, outputTokens: 105, totalTokens: 115 });
    expect(await usageOf('deepseek', { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 8 })).toMatchObject({
      cacheReadTokens: 8,
    });
    expect(await usageOf('openrouter', { prompt_tokens: 10, completion_tokens: 5, cost: 0.00012 })).toMatchObject({ cost: 0.00012 });
    expect(await usageOf('openai-compatible', { prompt_tokens: 10, completion_tokens: 5, cost: { total: 1 } })).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
    });
  });
});

describe('models.list', () => {
  verifies('models.list/limits-and-prices', 'what each server lists', async () => {
    const list = (...data: object[]): Response => Response.json({ object: 'list', data });
    const openRouter = vendor('openrouter', () =>
      list(
        {
          id: 'anthropic/claude-opus-5.5',
          name: 'Anthropic: Claude Opus 5.5',
          context_length: 1_000_000,
          top_provider: { max_completion_tokens: 128_000 },
          pricing: { prompt: '0.000004', completion: '0.00002', input_cache_read: '0.0000002', input_cache_write: '0.000005' },
          supported_parameters: ['tools', 'reasoning'],
          architecture: { input_modalities: ['text', 'image'] },
        },
        { id: 'openrouter/auto', pricing: { prompt: '-1', completion: '-1' }, supported_parameters: [] },
      ),
    );
    expect(await openRouter.entries()).toMatchObject([
      {
        display_name: 'Anthropic: Claude Opus 5.5',
        context_window: 1_000_000,
        max_tokens: 128_000,
        supports_tools: true,
        supports_vision: true,
        supports_thinking: true,
        cost_per_1m_input: 4,
        cost_per_1m_output: 20,
        cost_per_1m_cached_input: 0.2,
        cost_per_1m_cache_write: 5,
      },
      { cost_per_1m_input: null, supports_tools: false },
    ]);
    const mistral = vendor('mistral', () =>
      list(
        {
          id: 'mistral-large-2512',
          max_context_length: 262_144,
          capabilities: { completion_chat: true, function_calling: false, vision: true },
        },
        { id: 'mistral-embed', capabilities: { completion_chat: false } },
      ),
    );
    expect(await mistral.entries()).toMatchObject([
      { model_id: 'mistral-large-2512', context_window: 262_144, supports_tools: false, supports_vision: true, cost_per_1m_input: 0.5 },
    ]);
    const groq = vendor('groq', () =>
      list(
        { id: 'openai/gpt-oss-120b', active: true, context_window: 131_072, max_completion_tokens: 32_768 },
        { id: 'whisper-large-v3' },
        { id: 'old', active: false },
      ),
    );
    expect(await groq.entries()).toMatchObject([
      { context_window: 131_072, max_tokens: 32_768, supports_thinking: true, cost_per_1m_output: 0.6 },
    ]);
    const openAi = vendor('openai', () =>
      list({ id: 'gpt-6-sol' }, { id: 'gpt-4o-mini-2024-07-18' }, { id: 'text-embedding-3-small' }, { id: 'gpt-99' }),
    );
    expect(await openAi.entries()).toMatchObject([
      { context_window: 1_050_000, max_tokens: 128_000, supports_vision: true, cost_per_1m_input: 2, cost_per_1m_cached_input: 0.2 },
      { context_window: 128_000, max_tokens: 16_384, supports_thinking: false, cost_per_1m_output: 0.6 },
      { model_id: 'gpt-99', context_window: null, max_tokens: null, cost_per_1m_input: null },
    ]);
    expect(await openAi.all.getPricesDate()).toBe(PRICES_AS_OF);
    const any = vendor('openai-compatible', () => list({ id: 'gpt-4o' }));
    expect(await any.entries()).toMatchObject([
      { cost_per_1m_input: null, context_window: null, supports_tools: true, supports_vision: true },
    ]);
    expect(await any.all.getPricesDate()).toBeNull();
  });

  verifies('models.list/limits-and-prices', 'details from Ollama and LM Studio; their models are free', async () => {
    const ollama = vendor('ollama', async ({ url, body }) => {
      if (url.endsWith('/v1/models')) return Response.json({ object: 'list', data: [{ id: 'qwen3:8b' }, { id: 'nomic' }, { id: 'odd' }] });
      expect(url).toBe('http://127.0.0.1:11434/api/show');
      if (body?.['model'] === 'odd') return new Response('no', { status: 500 });
      return Response.json(
        body?.['model'] === 'nomic'
          ? { capabilities: ['embedding'] }
          : { capabilities: ['completion', 'tools', 'thinking'], model_info: { 'qwen3.context_length': 40_960 } },
      );
    });
    expect(await ollama.entries()).toMatchObject([
      {
        model_id: 'qwen3:8b',
        context_window: 40_960,
        supports_tools: true,
        supports_vision: false,
        supports_thinking: true,
        cost_per_1m_input: 0,
      },
      { model_id: 'odd', context_window: null, cost_per_1m_output: 0 },
    ]);
    const lmStudio = (status: number) =>
      vendor('lmstudio', ({ url }) => {
        if (url === 'http://127.0.0.1:1234/v1/models') return Response.json({ object: 'list', data: [{ id: 'plain' }] });
        expect(url).toBe('http://127.0.0.1:1234/api/v0/models');
        const data = [
          { id: 'vl', type: 'vlm', max_context_length: 32_768, loaded_context_length: 8192, capabilities: ['tool_use'] },
          { id: 'embed', type: 'embeddings' },
        ];
        return Response.json({ object: 'list', data }, { status });
      }).entries();
    expect(await lmStudio(200)).toMatchObject([
      { model_id: 'vl', context_window: 8192, supports_vision: true, supports_tools: true, cost_per_1m_input: 0 },
    ]);
    expect(await lmStudio(404)).toMatchObject([{ model_id: 'plain', context_window: null }]);
  });

  it('knows the vendor behind an address that was given by hand', async () => {
    const { fetch } = createFakeServer(() => Response.json({ object: 'list', data: [{ id: 'gpt-6-luna' }] }));
    const all = new Providers({ guide, fetch, clock: systemClock, localServers: [] });
    all.configure([{ id: 'mine', name: 'Mine', baseUrl: 'https://api.openai.com/v1', apiKey: 'k' }]);
    expect(await all.list()).toMatchObject([
      { key: 'guide/guide', cost_per_1m_input: 0 },
      { key: 'mine/gpt-6-luna', cost_per_1m_input: 0.1 },
    ]);
  });
});

describe('cost', () => {
  const usage = { inputTokens: 1000, outputTokens: 100, totalTokens: 1100, cacheReadTokens: 400 };
  const entry = (price: [number, number, number | null] | null, free = false) =>
    toModelEntry(
      'p',
      createListedModel('m', { price: price && { input: price[0], output: price[1], cachedInput: price[2] } }),
      undefined,
      free,
    );

  verifies('usage/cost', 'by real tokens, cached ones by their own price; never over what was billed', () => {
    expect(withCost(usage, entry([4, 20, 0.2]))).toEqual({ ...usage, cost: 0.00448 });
    expect(withCost(usage, entry([4, 20, null]))).toEqual({ ...usage, cost: 0.006 });
    expect(withCost({ ...usage, cost: 1 }, entry([4, 20, 0.2])).cost).toBe(1);
    expect(withCost(usage, entry(null))).toEqual(usage);
    expect(withCost({ ...usage, estimated: true }, entry([4, 20, 0.2]))).not.toHaveProperty('cost');
    expect(withCost({ ...usage, estimated: true }, entry([4, 20, 0.2], true)).cost).toBe(0);
  });

  verifies('usage/cost', 'cache writes by their price, twice the input’s if cached for an hour', async () => {
    const price = (vendor: ProviderKind, id: string) => toModelEntry('p', createListedModel(id), findModel(vendor, id), false);
    // 1,000 at 4, 40,000 at 0.2, 2,000 at 5 and 500 at 20 dollars per million: 0.4 + 0.8 + 1 + 1 cents.
    const claude = { inputTokens: 43_000, outputTokens: 500, totalTokens: 43_500, cacheReadTokens: 40_000, cacheWriteTokens: 2000 };
    expect(withCost(claude, price('anthropic', 'claude-opus-5-5')).cost).toBe(0.032);
    // Half of the written tokens at 8 dollars: 0.3 cents more.
    expect(withCost({ ...claude, cacheWrite1hTokens: 1000 }, price('anthropic', 'claude-opus-5-5')).cost).toBe(0.035);
    // 100 at 2, 1,920 at 0.2, 80 at 2.5 and 300 at 10 dollars.
    const gpt = { inputTokens: 2100, outputTokens: 300, totalTokens: 2400, cacheReadTokens: 1920, cacheWriteTokens: 80 };
    expect(withCost(gpt, price('openai', 'gpt-6-sol')).cost).toBe(0.003784);
    // Written input costs the same as other input if writing is free.
    expect(withCost(gpt, price('openai', 'gpt-5')).cost).toBe(0.003465);
    // The tokens read and written cannot exceed the input.
    expect(withCost({ ...gpt, cacheWriteTokens: 5000 }, price('openai', 'gpt-6-sol')).cost).toBe(0.003834);
    expect(withCost(claude, toModelEntry('p', createListedModel('m'), undefined, true)).cost).toBe(0);
  });

  verifies('usage/cost', 'of a model that was never listed, too', async () => {
    const { all } = vendor('anthropic', () => new Response(null, { status: 500 }));
    expect((await all.addCost('v/claude-opus-5-5', usage)).cost).toBe(0.00448);
    expect(await all.addCost('v/unheard-of', usage)).toEqual(usage);
    expect(await all.addCost('gone/claude-opus-5-5', usage)).toEqual(usage);
    expect((await all.addCost('guide/guide', usage)).cost).toBe(0);
  });
});

describe('states', () => {
  verifies('models.providers/states', 'of every kind: ready, no key, a bad key, gone', async () => {
    for (const { id: kind, needsKey } of listProviderKinds()) {
      if (kind === 'openai-compatible') continue;
      const listing = { object: 'list', data: [{ id: 'm' }], models: [{ name: 'models/m' }] };
      const state = async (answer: () => Response | Promise<Response>, key?: string) => {
        const { all, asked } = vendor(kind, answer, key);
        const [, entry] = await all.listStates();
        return { ...entry, asked: asked.length };
      };
      expect(await state(() => Response.json(listing)), kind).toMatchObject({ kind, state: 'ready', models: 1 });
      expect(await state(() => Response.json({ error: { message: 'bad key' } }, { status: 401 })), kind).toMatchObject({
        state: 'needs_key',
        message: expect.stringContaining('bad key'),
      });
      expect(await state(() => Response.json({}, { status: 403 })), kind).toMatchObject({ state: 'needs_key' });
      expect(await state(() => Promise.reject(new TypeError('refused'))), kind).toMatchObject({ state: 'unreachable' });
      if (needsKey)
        expect(await state(() => Response.json(listing), ''), kind).toMatchObject({
          state: 'needs_key',
          asked: 0,
          message: expect.stringContaining('needs an API key'),
        });
    }
  });

  it('the table is of a day, and its first row that fits decides', () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(findModel('anthropic', 'claude-opus-5-20260401')?.price).toEqual({ input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 });
    expect(findModel('anthropic', 'claude-3-haiku-20240307')?.price?.cacheWrite).toBe(0.3);
    expect(findModel('openai', 'gpt-6-luna')?.price?.cacheWrite).toBe(0.125);
    expect(findModel('openai', 'gpt-5.5')?.price?.cacheWrite).toBeNull();
    expect(findModel('anthropic', 'claude-opus-5-5')?.price?.input).toBe(4);
    expect(findModel('openai', 'gpt-5-mini')?.price?.input).toBe(0.25);
    expect(findModel('openai', 'gpt-5.6')?.price?.input).toBe(4);
    expect(findModel('openai-compatible', 'gpt-5')).toBeUndefined();
  });
});
