import { describe, expect, it } from 'vitest';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import {
  type ProviderRequest,
  toNamedEvents,
  collectOutcome,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';
import { systemClock } from '#shared/async/clock.ts';
import { getProviderKind } from '../config/sections/provider-kinds.ts';
import { createProvider } from './provider-factory.ts';
import type { ModelMessage, ModelRequest } from './provider.ts';
import { toCacheKey } from './cache-key.ts';

const LONG_TEXT = 'Perch keeps every byte of this. '.repeat(200);
const TOOLS = [
  { name: 'first', description: LONG_TEXT, schema: { type: 'object' } },
  { name: 'last', description: 'Last', schema: { type: 'object' } },
];
const SYSTEM: ModelMessage = { role: 'system', content: LONG_TEXT };
const user = (content: ModelMessage['content'], more: Partial<ModelMessage> = {}): ModelMessage => ({ role: 'user', content, ...more });
const reply = (content: string): ModelMessage => ({ role: 'assistant', content });
const CHAT = [SYSTEM, user('One'), reply('Two'), user('Three')];
const CACHE_MARK = { cache_control: { type: 'ephemeral' } };

const ANSWER = {
  anthropic: toNamedEvents(
    { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ),
  openai: toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }),
};

/** A provider of a kind, and the requests that its server received. */
function createServer(
  kind: ProviderKind,
  answer?: (asked: ProviderRequest, count: number) => Response,
  baseUrl = getProviderKind(kind).baseUrl,
) {
  const { fetch, asked } = createFakeServer(answer ?? (() => createStreamResponse(ANSWER[kind === 'anthropic' ? 'anthropic' : 'openai'])));
  const provider = createProvider({
    id: 'p',
    name: 'P',
    kind,
    apiKey: 'k',
    baseUrl: baseUrl ?? 'http://any.test/v1',
    fetch,
    clock: systemClock,
  });
  return { asked, ask: (request: ModelRequest) => collectOutcome(provider, request) };
}

async function readSentBody(kind: ProviderKind, request: Partial<ModelRequest>, baseUrl?: string): Promise<Record<string, unknown>> {
  const { asked, ask } = createServer(kind, undefined, baseUrl ?? getProviderKind(kind).baseUrl);
  const model = kind === 'openrouter' ? 'anthropic/claude-opus-5.5' : 'claude-opus-5-5';
  expect((await ask({ model, messages: CHAT, ...request })).error).toBeUndefined();
  return asked[0]?.body ?? {};
}

/** Paths of a body's breakpoints, in order. */
function breakpoints(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) => (key === 'cache_control' ? [] : breakpoints(each, `${path}/${key}`)));
  return 'cache_control' in value ? [...inner, path] : inner;
}

describe('breakpoints for Anthropic', () => {
  it('stand after the tools, the system message, the summary and the newest message', async () => {
    const messages = [SYSTEM, user('Summary', { cacheBreakpoint: '5m' }), reply('Two'), user('Three'), reply('Four'), user('Five')];
    const body = await readSentBody('anthropic', { messages, tools: TOOLS, cacheKey: 'k' });
    expect(breakpoints(body).sort()).toEqual(['/messages/0/content/0', '/messages/4/content/0', '/system/0', '/tools/1']);
    expect(body['system']).toEqual([{ type: 'text', text: LONG_TEXT, ...CACHE_MARK }]);
    expect((body['tools'] as object[])[1]).toMatchObject({ name: 'last', ...CACHE_MARK });
  });

  it('stand at the end of the request before, too, if one is left: a step may have more calls than are looked back over', async () => {
    const calls = Array.from({ length: 12 }, (_, at) => ({ id: `c${at}`, tool: 'last', args: {} }));
    const results = calls.map(({ id }): ModelMessage => ({ role: 'tool', content: 'done', toolCallId: id }));
    const messages = [SYSTEM, user('One'), { ...reply(''), toolCalls: calls }, ...results];
    const found = breakpoints(await readSentBody('anthropic', { messages, tools: TOOLS, cacheKey: 'k' }));
    expect(found.sort()).toEqual(['/messages/0/content/0', '/messages/2/content/11', '/system/0', '/tools/1']);
    // The second request looks up the first one's last breakpoint.
    expect(breakpoints(await readSentBody('anthropic', { messages: messages.slice(0, 2), tools: TOOLS, cacheKey: 'k' }))).toContain(
      '/messages/0/content/0',
    );
  });

  it('are left out of a request that will hardly come again, and of what is too short to be cached', async () => {
    expect(breakpoints(await readSentBody('anthropic', { messages: CHAT.slice(0, 2) }))).toEqual([]);
    expect(breakpoints(await readSentBody('anthropic', { messages: CHAT.slice(0, 2), tools: TOOLS, exact: true })).sort()).toEqual([
      '/system/0',
      '/tools/1',
    ]);
    expect(breakpoints(await readSentBody('anthropic', { messages: CHAT, exact: true })).sort()).toEqual([
      ...['/messages/0/content/0', '/messages/2/content/0', '/system/0'],
    ]);
    const short = [{ role: 'system' as const, content: 'x'.repeat(600) }, user('y'.repeat(600)), reply('z'), user('y'.repeat(2900))];
    const of = async (model: string): Promise<string[]> =>
      breakpoints(await readSentBody('anthropic', { model, messages: short, cacheKey: 'k' }));
    expect(await of('claude-opus-5-5')).toEqual(['/messages/0/content/0', '/messages/2/content/0', '/system/0']);
    expect(await of('claude-sonnet-5')).toEqual(['/messages/0/content/0', '/messages/2/content/0']);
    expect(await of('claude-opus-4-7')).toEqual(['/messages/2/content/0']);
    expect(await of('claude-haiku-4-5')).toEqual(['/messages/2/content/0']);
    expect(await of('claude-haiku-4-5-20251001')).toEqual(['/messages/2/content/0']);
    expect(breakpoints(await readSentBody('anthropic', { model: 'claude-opus-4-5', messages: short.slice(0, 3), cacheKey: 'k' }))).toEqual(
      [],
    );
  });

  it('are those that a program sets, at most four; without them Perch’s', async () => {
    const own = [
      SYSTEM,
      ...Array.from({ length: 6 }, (_, at) => [user(`${at}`, { cacheBreakpoint: at === 5 ? '1h' : '5m' }), reply('ok')]).flat(),
      user('Now'),
    ];
    const body = await readSentBody('anthropic', { messages: own as ModelMessage[], tools: TOOLS, exact: true });
    expect(breakpoints(body)).toEqual([4, 6, 8, 10].map((at) => `/messages/${at}/content/0`));
    expect(body).toMatchObject({ messages: { 10: { content: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }] } } });
  });

  it('never stand on thoughts, and are given up where a server behind another address refuses them', async () => {
    const thoughts = { wire: 'anthropic', value: [{ type: 'thinking', thinking: 'x', signature: 's' }] };
    const messages = [user(LONG_TEXT), { ...reply(''), kept: thoughts, cacheBreakpoint: '5m' as const }, user('Go on')];
    expect(breakpoints(await readSentBody('anthropic', { messages, exact: true }))).toEqual([]);
    const { asked, ask } = createServer('anthropic', (_asked, count) =>
      count === 1
        ? Response.json(
            { type: 'error', error: { type: 'invalid_request_error', message: 'cache_control: extra inputs are not permitted' } },
            { status: 400 },
          )
        : createStreamResponse(ANSWER.anthropic),
    );
    const args = { cache_control: 'mine' };
    const called = { ...reply(''), toolCalls: [{ id: 'c', tool: 'last', args }] };
    const asking = [SYSTEM, user('One'), called, { role: 'tool' as const, content: 'done', toolCallId: 'c' }];
    expect(await ask({ model: 'claude-opus-5-5', messages: asking, tools: TOOLS, cacheKey: 'k' })).toMatchObject({
      text: 'Hi',
      error: undefined,
    });
    expect(breakpoints(asked[1]?.body).filter((path) => !path.endsWith('/input'))).toEqual([]);
    expect(asked[1]?.body).toMatchObject({ messages: { 1: { content: [{ input: args }] } } });
  });
});

describe('breakpoints for OpenRouter', () => {
  it('stand in the texts of models that cache only what is marked', async () => {
    const body = await readSentBody('openrouter', { tools: TOOLS, cacheKey: 'k' });
    expect(body['messages']).toEqual([
      { role: 'system', content: [{ type: 'text', text: LONG_TEXT, ...CACHE_MARK }] },
      { role: 'user', content: [{ type: 'text', text: 'One', ...CACHE_MARK }] },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: [{ type: 'text', text: 'Three', ...CACHE_MARK }] },
    ]);
    expect(body['session_id']).toBe('k');
    expect(breakpoints(body).length).toBeLessThanOrEqual(4);
    for (const model of ['openai/gpt-6-sol', 'google/gemini-3.6-flash', 'deepseek/deepseek-v4-pro'])
      expect(breakpoints(await readSentBody('openrouter', { model, tools: TOOLS, cacheKey: 'k' })), model).toEqual([]);
    expect(breakpoints(await readSentBody('openrouter', { model: 'qwen/qwen4-max', cacheKey: 'k' }))).not.toEqual([]);
    const two = [SYSTEM, SYSTEM, user('One')].map((message) => ({ ...message }));
    expect(breakpoints(await readSentBody('openrouter', { messages: two, cacheKey: 'k' }))).toEqual([
      '/messages/1/content/0',
      '/messages/2/content/0',
    ]);
    const picture = [{ type: 'image' as const, mimeType: 'image/png', data: 'eA==' }];
    expect(breakpoints(await readSentBody('openrouter', { messages: [user(picture)], cacheKey: 'k' }))).toEqual([]);
  });
});

describe('the cache key', () => {
  it('is sent to providers that accept one, and dropped if it is refused', async () => {
    const fields = async (kind: ProviderKind, baseUrl?: string) => {
      const { prompt_cache_key, session_id } = await readSentBody(kind, { cacheKey: 'k' }, baseUrl);
      return { prompt_cache_key, session_id };
    };
    const own = { prompt_cache_key: 'k', session_id: undefined };
    const none = { prompt_cache_key: undefined, session_id: undefined };
    expect(await fields('openai')).toEqual(own);
    expect(await fields('mistral')).toEqual(own);
    expect(await fields('openai-compatible', 'https://api.openai.com/v1')).toEqual(own);
    expect(await fields('openai-compatible', 'https://mine.openai.azure.com/openai/v1')).toEqual(own);
    expect(await fields('openrouter')).toEqual({ prompt_cache_key: undefined, session_id: 'k' });
    for (const kind of ['groq', 'deepseek', 'xai', 'ollama', 'lmstudio', 'anthropic'] as const)
      expect(await fields(kind), kind).toEqual(none);
    expect(await fields('openai-compatible', 'https://openai.azure.com.evil.test/v1')).toEqual(none);
    expect(await readSentBody('openai', {})).not.toHaveProperty('prompt_cache_key');

    const { asked, ask } = createServer('openai', (_asked, count) =>
      count === 1
        ? Response.json({ error: { message: 'Unrecognized request argument supplied: prompt_cache_key' } }, { status: 400 })
        : createStreamResponse(ANSWER.openai),
    );
    expect(await ask({ model: 'm', messages: CHAT, cacheKey: 'k', exact: true })).toMatchObject({ text: 'Hi', error: undefined });
    expect(asked[1]?.body).not.toHaveProperty('prompt_cache_key');
  });

  it('of a session is stable, unique and reveals nothing', async () => {
    const session = { key: 'main/whatsapp:+491701234567', createdAt: 1_764_000_000_000 };
    const key = await toCacheKey(session);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(await toCacheKey({ ...session })).toBe(key);
    expect(await toCacheKey({ ...session, key: 'other/whatsapp:+491701234567' })).not.toBe(key);
    expect(await toCacheKey({ ...session, createdAt: session.createdAt + 1 })).not.toBe(key);
  });
});

describe('usage as providers write it', () => {
  const of = async (kind: ProviderKind, usage: object, beside: object = {}): Promise<unknown> => {
    const text = toUnnamedEvents(
      { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] },
      { choices: [], usage, ...beside },
    );
    const { events } = await createServer(kind, () => createStreamResponse(text)).ask({ model: 'm', messages: CHAT });
    return events.find((event) => event.type === 'usage')?.usage;
  };

  it.each<[name: string, kind: ProviderKind, usage: object, read: number | undefined, written?: number]>([
    ['OpenAI', 'openai', { prompt_tokens_details: { audio_tokens: 0, cached_tokens: 1920, cache_write_tokens: 80 } }, 1920, 80],
    [
      'OpenAI before GPT-5.6',
      'openai',
      { prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } },
      0,
    ],
    ['OpenRouter', 'openrouter', { prompt_tokens_details: { cached_tokens: 1900, cache_write_tokens: 100 }, cost: 0.001 }, 1900, 100],
    ['DeepSeek', 'deepseek', { prompt_cache_hit_tokens: 1984, prompt_cache_miss_tokens: 22 }, 1984],
    ['Mistral', 'mistral', { prompt_tokens_details: { cached_tokens: 1024 } }, 1024],
    ['Groq', 'groq', { prompt_tokens_details: { cached_tokens: 1792 }, prompt_time: 0.1, queue_time: 0.01 }, 1792],
    ['xAI', 'xai', { prompt_tokens_details: { text_tokens: 2006, audio_tokens: 0, image_tokens: 0, cached_tokens: 98 } }, 98],
    ['Ollama', 'ollama', { prompt_tokens_details: { cached_tokens: 16 } }, 16],
    ['Ollama before 0.33', 'ollama', {}, undefined],
    ['LM Studio', 'lmstudio', { prompt_tokens_details: { cached_tokens: 12 } }, 12],
    ['Moonshot', 'openai-compatible', { cached_tokens: 256 }, 256],
    [
      'a proxy of Anthropic’s models',
      'openai-compatible',
      { prompt_tokens_details: { cached_tokens: 7 }, cache_creation_input_tokens: 9 },
      7,
      9,
    ],
    ['nonsense', 'openai-compatible', { prompt_cache_hit_tokens: 'many' }, undefined],
  ])('%s', async (_name, kind, more, read, written) => {
    const usage = { prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306, ...more };
    expect(await of(kind, usage)).toEqual({
      ...{ inputTokens: 2006, outputTokens: 300, totalTokens: 2306 },
      ...(read === undefined ? {} : { cacheReadTokens: read }),
      ...(written === undefined ? {} : { cacheWriteTokens: written }),
      ...('cost' in more ? { cost: more.cost } : {}),
    });
  });

  it('llama.cpp, which older releases tell beside the usage', async () => {
    const usage = { prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306 };
    const timings = { cache_n: 236, prompt_n: 1770, prompt_ms: 30.9, predicted_n: 300 };
    expect(await of('openai-compatible', usage, { timings })).toMatchObject({ inputTokens: 2006, cacheReadTokens: 236 });
    const newer = { ...usage, prompt_tokens_details: { cached_tokens: 237 } };
    expect(await of('openai-compatible', newer, { timings })).toMatchObject({ inputTokens: 2006, cacheReadTokens: 237 });
    expect(await of('openai-compatible', usage, { timings: 'none' })).toEqual({ inputTokens: 2006, outputTokens: 300, totalTokens: 2306 });
  });

  it('Anthropic, which counts what it has read and written beside the input', async () => {
    const usageOf = async (usage: object): Promise<unknown> => {
      const text = toNamedEvents(
        { type: 'message_start', message: { usage: { output_tokens: 1, ...usage } } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      );
      const { events } = await createServer('anthropic', () => createStreamResponse(text)).ask({ model: 'm', messages: CHAT });
      return events.find((event) => event.type === 'usage')?.usage;
    };
    const first = { input_tokens: 21, cache_creation_input_tokens: 5000, cache_read_input_tokens: 0 };
    expect(await usageOf(first)).toEqual({
      ...{ inputTokens: 5021, outputTokens: 9, totalTokens: 5030, cacheReadTokens: 0, cacheWriteTokens: 5000 },
    });
    const split = { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 };
    const second = { input_tokens: 4, cache_creation_input_tokens: 556, cache_read_input_tokens: 5000, cache_creation: split };
    const counted = { inputTokens: 5560, outputTokens: 9, totalTokens: 5569, cacheReadTokens: 5000, cacheWriteTokens: 556 };
    expect(await usageOf(second)).toEqual({ ...counted, cacheWrite1hTokens: 100 });
    expect(await usageOf({ ...second, cache_creation_input_tokens: null })).toEqual({ ...counted, cacheWrite1hTokens: 100 });
    expect(await usageOf({ input_tokens: 5 })).toEqual({ inputTokens: 5, outputTokens: 9, totalTokens: 14 });
  });

  it('Google, which leaves a zero out', async () => {
    const usageOf = async (usageMetadata: object): Promise<unknown> => {
      const text = toUnnamedEvents({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }], usageMetadata });
      const { events } = await createServer('google', () => createStreamResponse(text)).ask({ model: 'm', messages: CHAT });
      return events.find((event) => event.type === 'usage')?.usage;
    };
    const counted = { promptTokenCount: 5000, candidatesTokenCount: 10, totalTokenCount: 5010 };
    expect(await usageOf({ ...counted, cachedContentTokenCount: 4096 })).toMatchObject({ inputTokens: 5000, cacheReadTokens: 4096 });
    expect(await usageOf(counted)).toMatchObject({ inputTokens: 5000, cacheReadTokens: 0 });
  });
});

/**
 * Anthropic's cache as documented: entries are written at breakpoints, expire five minutes after their last use, and are looked for up to
 * 20 blocks before each.
 */
class AnthropicCache {
  readonly #entries = new Map<string, number>();

  /** Tokens (four characters each) that a request reads, writes and sends uncached, at a time in milliseconds. */
  ask({ tools, system, messages }: Record<string, unknown>, now: number): { read: number; written: number; plain: number } {
    const turns = (messages as { role: string; content: object[] }[]).flatMap(({ role, content }) =>
      content.map((block) => ({ role, block })),
    );
    const blocks = [tools, system, turns].flatMap((list) => (list ?? []) as object[]);
    const texts = blocks.map((block) => JSON.stringify(block, (key, value: unknown) => (key === 'cache_control' ? undefined : value)));
    const prefix = (end: number): string => texts.slice(0, end).join('\n');
    const marked = blocks.flatMap((block, at) => (JSON.stringify(block).includes('"cache_control"') ? [at + 1] : []));
    const fresh = (end: number): boolean => now - (this.#entries.get(prefix(end)) ?? -Infinity) <= 300_000;
    const found = marked.flatMap((end) => Array.from({ length: 21 }, (_, back) => end - back).find((at) => at > 0 && fresh(at)) ?? 0);
    const read = Math.max(0, ...found);
    for (const end of [...marked, read]) this.#entries.set(prefix(end), now);
    const tokens = (end: number): number => Math.round(prefix(end).length / 4);
    const last = Math.max(read, ...marked);
    return { read: tokens(read), written: tokens(last) - tokens(read), plain: tokens(blocks.length) - tokens(last) };
  }
}

describe('twenty turns in forty minutes with Anthropic', () => {
  const words = (tokens: number, name: string): string => `${name} `.padEnd(tokens * 4, 'abc ');
  const tools = [{ name: 'last', description: words(2400, 'tools'), schema: { type: 'object' } }];
  const system: ModelMessage = { role: 'system', content: words(300, 'system') };

  /** Tokens that the requests of a chat read, write and send uncached: one per turn, or two with `calls` parallel calls. */
  async function run(calls: number, ask: Partial<ModelRequest>, minutes = 2): Promise<{ read: number; written: number; plain: number }[]> {
    const cache = new AnthropicCache();
    const messages: ModelMessage[] = [system];
    const counted = [];
    for (let turn = 0; turn < 20; turn++) {
      messages.push(user(words(180, `question ${turn}`)));
      counted.push(cache.ask(await readSentBody('anthropic', { messages, tools, ...ask }), turn * minutes * 60_000));
      if (calls > 0) {
        const toolCalls = Array.from({ length: calls }, (_, at) => ({ id: `c${turn}-${at}`, tool: 'last', args: {} }));
        messages.push({ ...reply(''), toolCalls });
        messages.push(...toolCalls.map(({ id }): ModelMessage => ({ role: 'tool', content: `done ${id}`, toolCallId: id })));
        counted.push(cache.ask(await readSentBody('anthropic', { messages, tools, ...ask }), turn * minutes * 60_000));
      }
      messages.push(reply(words(250, `reply ${turn}`)));
    }
    return counted;
  }
  const cost = (counted: Awaited<ReturnType<typeof run>>): number =>
    counted.reduce((sum, { read, written, plain }) => sum + read * 0.2 + written * 5 + plain * 4, 0) / 1e6;

  it('reads from the cache all that the request before has sent, and writes what is new', async () => {
    const [first, ...rest] = await run(0, { cacheKey: 'k' });
    expect(first).toMatchObject({ read: 0, plain: 0 });
    let before = first?.written ?? 0;
    for (const each of rest) {
      expect(Math.abs(each.read - before)).toBeLessThan(5);
      expect(each.plain).toBe(0);
      before = each.read + each.written;
    }
  });

  it('does so after steps with more calls than are looked back over', async () => {
    for (const each of (await run(15, { cacheKey: 'k' })).slice(1)) {
      expect(each.plain).toBe(0);
      expect(each.written).toBeLessThan(1000);
    }
  });

  it('costs less than a fifth for its input; and a little more where each turn comes too late for the cache', async () => {
    const cached = await run(0, { cacheKey: 'k' });
    const late = await run(0, { cacheKey: 'k' }, 6);
    const input = cached.reduce((sum, { read, written, plain }) => sum + read + written + plain, 0);
    expect(cost(cached) / ((input * 4) / 1e6)).toBeLessThan(0.2);
    expect(cost(late) / ((input * 4) / 1e6)).toBeCloseTo(1.25, 2);
  });
});
