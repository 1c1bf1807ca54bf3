import { expect, it } from 'vitest';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import {
  collectOutcome,
  createFakeServer,
  createStreamResponse,
  toNamedEvents,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Anthropic } from './anthropic.ts';
import { Google } from './google.ts';
import { OpenAiCompatible } from './openai-compatible.ts';
import type { ModelRequest, ReasoningEffort } from './provider.ts';

const OPENAI_STREAM = toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] });
const ANTHROPIC_STREAM = toNamedEvents(
  { type: 'message_start', message: {} },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
);
const GOOGLE_STREAM = toUnnamedEvents({ candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] });

/** A provider whose server refuses the first requests with these messages. */
function createProvider(kind: ProviderKind, refusals: readonly string[] = [], baseUrl = 'https://server/v1', hasChatTemplates = false) {
  const { fetch, asked } = createFakeServer((_request, count) => {
    const message = refusals[count - 1];
    if (message !== undefined) return Response.json({ error: { message } }, { status: 400 });
    return createStreamResponse(kind === 'anthropic' ? ANTHROPIC_STREAM : kind === 'google' ? GOOGLE_STREAM : OPENAI_STREAM);
  });
  const options = { id: 'p', name: 'Server', baseUrl, apiKey: 'k', fetch, clock: systemClock };
  const provider =
    kind === 'anthropic'
      ? new Anthropic(options)
      : kind === 'google'
        ? new Google(options)
        : new OpenAiCompatible({ ...options, kind, hasChatTemplates });
  const refused: string[] = [];
  /** Sends a request whose options come from settings, unless others are named. */
  const send = async (model: string, rest: Partial<ModelRequest>, own = Object.keys(rest)) => {
    const outcome = await collectOutcome(provider, {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      ownOptions: new Set(own),
      onRefusedField: (field) => refused.push(field),
      ...rest,
    });
    return { ...outcome, body: asked.at(-1)?.body ?? {} };
  };
  return { send, asked, refused };
}

/** The fields of a body for thinking. */
function pickThinking(body: Record<string, unknown>): object {
  const { reasoning_effort, reasoning, thinking, output_config, generationConfig } = body;
  return JSON.parse(JSON.stringify({ reasoning_effort, reasoning, thinking, output_config, generationConfig })) as object;
}

const LEVELS = ['none', 'low', 'medium', 'high', 'max'] as const;
type Level = (typeof LEVELS)[number];
const effort = (value: ReasoningEffort) => ({ reasoning_effort: value });
const reasoning = (value: ReasoningEffort) => ({ reasoning: { effort: value } });
const deepseek = (value: ReasoningEffort) => ({ thinking: { type: 'enabled' }, ...effort(value) });
const adaptive = (value: ReasoningEffort) => ({
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: value },
});
const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } });
const gemini = (thinkingConfig: object) => ({ generationConfig: { thinkingConfig } });

const TABLE: [ProviderKind, string, Record<Level, object>][] = [
  ['openai', 'gpt-6-sol', { none: effort('none'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('max') }],
  ['openai', 'gpt-5.4', { none: effort('none'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('xhigh') }],
  ['openai', 'gpt-5', { none: effort('minimal'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') }],
  ['openai', 'o3', { none: effort('low'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') }],
  ['openai', 'gpt-4.1', { none: {}, low: {}, medium: {}, high: {}, max: {} }],
  ['openai-compatible', 'any', { none: {}, low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') }],
  [
    'openrouter',
    'z-ai/glm-5',
    { none: reasoning('none'), low: reasoning('low'), medium: reasoning('medium'), high: reasoning('high'), max: reasoning('max') },
  ],
  [
    'mistral',
    'mistral-small-latest',
    { none: effort('none'), low: effort('high'), medium: effort('high'), high: effort('high'), max: effort('high') },
  ],
  ['mistral', 'magistral-medium-latest', { none: {}, low: {}, medium: {}, high: {}, max: {} }],
  [
    'groq',
    'openai/gpt-oss-120b',
    { none: effort('low'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') },
  ],
  [
    'deepseek',
    'deepseek-v4-pro',
    {
      none: { thinking: { type: 'disabled' } },
      low: deepseek('low'),
      medium: deepseek('medium'),
      high: deepseek('high'),
      max: deepseek('max'),
    },
  ],
  ['xai', 'grok-4.3', { none: effort('none'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') }],
  ['xai', 'grok-3-mini', { none: effort('low'), low: effort('low'), medium: effort('high'), high: effort('high'), max: effort('high') }],
  ['xai', 'grok-4-0709', { none: {}, low: {}, medium: {}, high: {}, max: {} }],
  ['ollama', 'qwen3:8b', { none: effort('none'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') }],
  ['lmstudio', 'qwen3', { none: effort('none'), low: effort('low'), medium: effort('medium'), high: effort('high'), max: effort('high') }],
  [
    'anthropic',
    'claude-opus-5-5',
    {
      none: { thinking: { type: 'disabled' } },
      low: adaptive('low'),
      medium: adaptive('medium'),
      high: adaptive('high'),
      max: adaptive('max'),
    },
  ],
  [
    'anthropic',
    'claude-fable-5',
    { none: adaptive('low'), low: adaptive('low'), medium: adaptive('medium'), high: adaptive('high'), max: adaptive('max') },
  ],
  [
    'anthropic',
    'claude-haiku-4-5',
    { none: { thinking: { type: 'disabled' } }, low: budget(2048), medium: budget(8192), high: budget(16_384), max: budget(32_000) },
  ],
  ['anthropic', 'claude-3-haiku-20240307', { none: {}, low: {}, medium: {}, high: {}, max: {} }],
  [
    'google',
    'gemini-2.5-flash',
    {
      none: gemini({ thinkingBudget: 0, includeThoughts: false }),
      low: gemini({ thinkingBudget: 1024, includeThoughts: true }),
      medium: gemini({ thinkingBudget: 8192, includeThoughts: true }),
      high: gemini({ thinkingBudget: 24_576, includeThoughts: true }),
      max: gemini({ thinkingBudget: 24_576, includeThoughts: true }),
    },
  ],
  [
    'google',
    'gemini-3.8-flash',
    {
      none: gemini({ thinkingLevel: 'minimal', includeThoughts: false }),
      low: gemini({ thinkingLevel: 'low', includeThoughts: true }),
      medium: gemini({ thinkingLevel: 'medium', includeThoughts: true }),
      high: gemini({ thinkingLevel: 'high', includeThoughts: true }),
      max: gemini({ thinkingLevel: 'high', includeThoughts: true }),
    },
  ],
  ['google', 'gemini-2.0-flash', { none: {}, low: {}, medium: {}, high: {}, max: {} }],
];

it.each(TABLE)('%s sends each thinking level as %s accepts it', async (kind, model, fields) => {
  const { send } = createProvider(kind);
  for (const level of LEVELS) {
    const { error, body } = await send(model, { reasoningEffort: level });
    expect([error, pickThinking(body)], level).toEqual([undefined, fields[level]]);
  }
});

it('turns thinking of Qwen models at Groq on or off', async () => {
  const { send } = createProvider('groq');
  expect((await send('qwen/qwen3-32b', { reasoningEffort: 'none' })).body).toMatchObject({ reasoning_effort: 'none' });
  expect((await send('qwen/qwen3-32b', { reasoningEffort: 'high' })).body).toMatchObject({ reasoning_effort: 'default' });
});

it('turns thinking off in the chat template of a local server, and on with the level', async () => {
  const { send } = createProvider('openai-compatible', [], undefined, true);
  expect((await send('qwen3', { reasoningEffort: 'none' })).body).toMatchObject({ chat_template_kwargs: { enable_thinking: false } });
  expect((await send('qwen3', { reasoningEffort: 'none' })).body).not.toHaveProperty('reasoning_effort');
  expect((await send('qwen3', { reasoningEffort: 'max' })).body).toMatchObject({
    ...{ chat_template_kwargs: { enable_thinking: true }, reasoning_effort: 'high' },
  });
  const refusing = createProvider('openai-compatible', ['chat_template_kwargs is not supported'], undefined, true);
  expect(pickThinking((await refusing.send('qwen3', { reasoningEffort: 'max' })).body)).toEqual({});
});

it('recognizes vendors by the address, and sends what an API client requests to others unchanged', async () => {
  const azure = createProvider('openai-compatible', [], 'https://x.openai.azure.com/openai/v1');
  expect((await azure.send('gpt-5.4', { reasoningEffort: 'max' })).body).toMatchObject({ reasoning_effort: 'xhigh' });
  const other = createProvider('openai-compatible');
  for (const reasoningEffort of ['none', 'minimal', 'max'] as const)
    expect((await other.send('any', { reasoningEffort }, [])).body).toMatchObject({ reasoning_effort: reasoningEffort });
});

verifies('providers/thinking', 'with a budget, Anthropic gets a higher output limit and no sampling from settings', async () => {
  const { send } = createProvider('anthropic');
  const options = { reasoningEffort: 'medium', maxTokens: 500, temperature: 0.3, topP: 0.5, seed: 7 } as const;
  const { error, body } = await send('claude-haiku-4-5', options);
  expect(error).toBeUndefined();
  expect(body).toMatchObject({ max_tokens: 8692, thinking: { type: 'enabled', budget_tokens: 8192 } });
  expect(['temperature', 'top_p', 'seed'].filter((field) => field in body)).toEqual([]);
  expect((await send('claude-haiku-4-5', { ...options, reasoningEffort: 'none' })).body).toMatchObject({
    ...{ max_tokens: 500, temperature: 0.3, top_p: 0.5, thinking: { type: 'disabled' } },
  });
  // A caller's own values are never changed.
  expect((await send('claude-haiku-4-5', { ...options, maxTokens: 4000, seed: undefined }, [])).body).toMatchObject({
    ...{ max_tokens: 4000, temperature: 0.3, top_p: 0.5 },
  });
});

verifies('providers/thinking', 'a server that refuses the field is asked once more without it, and not with it again', async () => {
  for (const [kind, model, message, field] of [
    ['openai-compatible', 'any', "Unrecognized request argument supplied: 'reasoning_effort'", 'reasoning_effort'],
    ['openrouter', 'a/b', 'Reasoning is not supported by this endpoint.', 'reasoning'],
    ['anthropic', 'claude-sonnet-4-5', 'thinking: Extra inputs are not permitted', 'thinking'],
    ['google', 'gemini-3.8-flash', 'Thinking level is not supported for this model.', 'generationConfig.thinkingConfig'],
  ] as const) {
    const { send, asked, refused } = createProvider(kind, [message]);
    for (const count of [2, 3]) {
      const { text, body } = await send(model, { reasoningEffort: 'high', temperature: 0.5 });
      expect([text, asked.length, pickThinking(body)], kind).toEqual([
        'ok',
        count,
        kind === 'google' ? { generationConfig: { temperature: 0.5 } } : {},
      ]);
    }
    expect(refused, kind).toEqual([field]);
    // An API client learns of it.
    const strict = createProvider(kind, [message]);
    expect(await strict.send(model, { reasoningEffort: 'high' }, []), kind).toMatchObject({ error: { status: 400 } });
  }
});

verifies('providers/thinking', 'other options from settings are left out in the same way, one by one', async () => {
  const { send, asked, refused } = createProvider('openai', [
    "Unsupported parameter: 'stop' is not supported with this model.",
    "Unsupported parameter: 'top_p' is not supported with this model.",
    "Unknown parameter: 'verbosity'.",
  ]);
  const { text, body } = await send('gpt-5', {
    stop: ['END'],
    topP: 0.4,
    verbosity: 'low',
    seed: 7,
    responseFormat: { type: 'json_object' },
  });
  expect([text, asked.length, refused]).toEqual(['ok', 4, ['stop', 'top_p', 'verbosity']]);
  expect(body).toMatchObject({ seed: 7, response_format: { type: 'json_object' } });
  expect(['stop', 'top_p', 'verbosity'].filter((field) => field in body)).toEqual([]);
  const [first] = asked;
  expect(first?.body).toMatchObject({ stop: ['END'], top_p: 0.4, verbosity: 'low' });
  // A refusal for another reason stays an error.
  const other = createProvider('openai', ['Invalid messages']);
  expect(await other.send('gpt-5', { seed: 7 })).toMatchObject({ error: { status: 400 } });
});

it('leaves JSON mode to the instructions if there are tools and the API does not support both', async () => {
  const tools = [{ name: 'add', description: 'Adds', schema: {} }];
  const json = { responseFormat: { type: 'json_object' } } as const;
  const google = createProvider('google');
  expect((await google.send('gemini-3.8-flash', json)).body['generationConfig']).toEqual({ responseMimeType: 'application/json' });
  expect((await google.send('gemini-3.8-flash', { ...json, tools })).body).not.toHaveProperty('generationConfig');
  const anthropic = createProvider('anthropic');
  expect((await anthropic.send('claude-haiku-4-5', json)).body).toMatchObject({ tool_choice: { name: 'answer_in_json' } });
  expect((await anthropic.send('claude-haiku-4-5', { ...json, tools })).body).not.toHaveProperty('tool_choice');
  expect(await anthropic.send('claude-haiku-4-5', { ...json, reasoningEffort: 'low' })).toMatchObject({ body: budget(2048), text: 'ok' });
});
