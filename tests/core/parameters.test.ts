import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { vendors } from '../support/vendors.ts';

/**
 * How a public parameter is handled for a model of another format: translated to that format, handled here, treated as a hint that does not
 * change the response, ignored with a warning, or refused. `beside`: parameters that it requires.
 */
interface Fate {
  told?: unknown[];
  here?: unknown[];
  hint?: unknown[];
  ignored?: unknown[];
  refused?: unknown[];
  beside?: Record<string, unknown>;
}

type Chat = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
type Made = OpenAI.Responses.ResponseCreateParamsNonStreaming;

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };
const add = { type: 'function', function: { name: 'add', parameters: schema } };
const grammar = { type: 'custom', custom: { name: 'x' } };
const says = (...messages: object[]) => [...messages, { role: 'user', content: 'Hi' }];
const function_call = { name: 'f', arguments: '{}' };

const CHAT: Record<keyof OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming, Fate> = {
  model: { here: ['claude/claude-opus-5-5'], refused: [''] },
  messages: {
    told: [says({ role: 'system', content: 'Be brief' })],
    refused: [[], says({ role: 'assistant', content: 'x', function_call }), says({ role: 'assistant', content: 'x', audio: { id: 'a' } })],
  },
  audio: { ignored: [{ format: 'wav', voice: 'alloy' }] },
  frequency_penalty: { ignored: [1] },
  function_call: { hint: ['auto'], refused: [{ name: 'f' }] },
  functions: { hint: [[]], ignored: [[{ name: 'f' }]] },
  logit_bias: { hint: [{}], ignored: [{ 5: 1 }] },
  logprobs: { hint: [false], ignored: [true] },
  max_completion_tokens: { told: [50], refused: [0] },
  max_tokens: { told: [50], refused: ['many'] },
  metadata: { hint: [{ a: 'b' }] },
  modalities: { hint: [['text']], refused: [['text', 'audio']] },
  moderation: { ignored: [{ model: 'm' }] },
  n: { here: [1, 2], refused: [9] },
  parallel_tool_calls: { told: [false], beside: { tools: [add] } },
  prediction: { ignored: [{ type: 'content', content: 'x' }] },
  presence_penalty: { ignored: [1] },
  prompt_cache_key: { hint: ['k'] },
  prompt_cache_options: { hint: [{ mode: 'implicit' }] },
  prompt_cache_retention: { hint: ['24h'] },
  reasoning_effort: { told: ['low'], refused: ['max'] },
  response_format: {
    told: [{ type: 'json_schema', json_schema: { name: 'a', schema } }],
    hint: [{ type: 'text' }],
    refused: [{ type: 'x' }],
  },
  safety_identifier: { hint: ['s'] },
  seed: { ignored: [7] },
  service_tier: { hint: ['auto', 'default'], ignored: ['flex', 'priority'] },
  stop: { told: ['END', ['a', 'b']], refused: [''] },
  store: { hint: [false], ignored: [true] },
  stream: { here: [true, false], refused: ['yes'] },
  stream_options: { here: [{ include_usage: true }], ignored: [{ include_obfuscation: true }], beside: { stream: true } },
  temperature: { told: [0.3], ignored: [1.5], refused: [3] },
  tool_choice: {
    told: ['required', { type: 'function', function: { name: 'add' } }],
    refused: [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
      { type: 'custom', custom: { name: 'x' } },
    ],
    beside: { tools: [add] },
  },
  tools: { told: [[add]], ignored: [[grammar]] },
  top_logprobs: { hint: [0], ignored: [2] },
  top_p: { told: [0.5], refused: [2] },
  user: { hint: ['alice'] },
  verbosity: { hint: ['medium'], ignored: ['low'] },
  web_search_options: { ignored: [{}] },
};

const tool = { type: 'function', name: 'add', parameters: schema, strict: null };

const MADE: Record<keyof OpenAI.Responses.ResponseCreateParamsStreaming, Fate> = {
  model: { here: ['claude/claude-opus-5-5'], refused: [''] },
  input: { told: ['Hello'], refused: [[], 5] },
  access_programs: { ignored: [{ cyber: 'standard' }] },
  background: { hint: [false], here: [true], beside: { stream: true } },
  context_management: { hint: [[]], ignored: [[{ type: 'compaction' }]] },
  conversation: { refused: [7, { name: 'conv_1' }] },
  image: { ignored: [{ context_compression: 'enabled' }] },
  include: { here: [['reasoning.encrypted_content']], ignored: [['message.output_text.logprobs'], ['file_search_call.results']] },
  instructions: { told: ['Be brief'], refused: [5] },
  max_output_tokens: { told: [50], refused: [0] },
  max_tool_calls: { ignored: [3] },
  metadata: { here: [{ a: 'b' }], refused: [{ a: 1 }] },
  moderation: { ignored: [{ model: 'm' }] },
  parallel_tool_calls: { told: [false], beside: { tools: [tool] } },
  previous_response_id: { refused: ['resp_none'] },
  prompt: { refused: [{ id: 'p' }] },
  prompt_cache_key: { hint: ['k'] },
  prompt_cache_options: { hint: [{ mode: 'implicit' }] },
  prompt_cache_retention: { hint: ['24h'] },
  reasoning: {
    told: [{ effort: 'low' }],
    hint: [{ summary: 'auto' }],
    ignored: [{ summary: 'detailed' }, { mode: 'pro' }, { context: 'all_turns' }],
    refused: [{ effort: 'max' }],
  },
  safety_identifier: { hint: ['s'] },
  service_tier: { hint: ['auto', 'default'], ignored: ['flex', 'priority'] },
  store: { here: [true, false], refused: [1] },
  stream: { here: [true, false], refused: ['yes'] },
  stream_options: { hint: [{ include_obfuscation: false }], ignored: [{ include_obfuscation: true }], beside: { stream: true } },
  temperature: { told: [0.3], ignored: [1.5], refused: [3] },
  text: {
    told: [{ format: { type: 'json_schema', name: 'a', schema } }],
    hint: [{ verbosity: 'medium' }],
    ignored: [{ verbosity: 'low' }],
    refused: [{ format: { type: 'grammar' } }],
  },
  tool_choice: {
    told: ['required', { type: 'function', name: 'add' }],
    refused: [{ type: 'web_search' }, { type: 'custom', name: 'x' }, { type: 'allowed_tools', mode: 'auto', tools: [] }],
    beside: { tools: [tool] },
  },
  tools: {
    told: [[tool], [{ ...tool, defer_loading: false, async: false, allowed_callers: ['direct'], output_schema: null }]],
    ignored: [
      ...[{ type: 'web_search' }, { type: 'custom', name: 'x' }, { type: 'mcp', server_label: 'x' }].map((each) => [each]),
      ...[{ defer_loading: true }, { async: true }, { allowed_callers: ['programmatic'] }, { output_schema: {} }].map((each) => [
        { ...tool, ...each },
      ]),
    ],
  },
  top_logprobs: { hint: [0], ignored: [2] },
  top_p: { told: [0.5], refused: [2] },
  truncation: { here: ['auto', 'disabled'], refused: ['some'] },
  user: { hint: ['alice'] },
};

describe.each<[string, Record<string, Fate>, object]>([
  ['completions', CHAT, { messages: says() }],
  ['responses', MADE, { input: 'Hi' }],
])('every public parameter of %s', (api, table, base) => {
  verifies(['http.chat/translated', 'http.responses/refused'], 'is told, dealt with, a hint, ignored, or 400 by its name', async () => {
    const { gw, openai, bodies } = await vendors();
    await using _ = gw;
    const ask = async (more: object): Promise<unknown> => {
      const body = { model: 'claude/claude-opus-5-5', ...base, ...more };
      const answer = await (api === 'responses' ? openai.responses.create(body as Made) : openai.chat.completions.create(body as Chat));
      if (Symbol.asyncIterator in answer) for await (const _event of answer as AsyncIterable<unknown>);
      return bodies().at(-1);
    };
    for (const [name, { told = [], here = [], hint = [], ignored = [], refused = [], beside = {} }] of Object.entries(table)) {
      const without = await ask(beside);
      for (const value of told) expect(await ask({ ...beside, [name]: value }), `${name} ${JSON.stringify(value)}`).not.toEqual(without);
      for (const value of hint) expect(await ask({ ...beside, [name]: value }), `${name} ${JSON.stringify(value)}`).toEqual(without);
      for (const value of [...here, ...ignored]) await ask({ ...beside, [name]: value });
      const asked = bodies().length;
      for (const value of refused)
        await expect(ask({ ...beside, [name]: value }), `${name} ${JSON.stringify(value)}`).rejects.toMatchObject({
          status: 400,
          param: expect.stringMatching(new RegExp(`^${name}\\b`)) as string,
        });
      expect(bodies(), name).toHaveLength(asked);
    }
    // Of no vendor's format, or of another one's.
    await ask({ top_k: 5 });
    expect(gw.faults).toEqual([]);
  });
});

it('every public parameter of completions reaches a server of the same format as it is', async () => {
  const { gw, openai, bodies, client } = await vendors(() =>
    Response.json({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'stop' }],
    }),
  );
  await using _ = gw;
  await client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } } } });
  for (const [name, { told = [], here = [], hint = [], ignored = [], refused = [], beside }] of Object.entries(CHAT)) {
    if (['model', 'messages', 'n', 'stream', 'stream_options'].includes(name)) continue;
    for (const value of [...told, ...here, ...hint, ...ignored, ...refused]) {
      await openai.chat.completions.create({ messages: says(), ...beside, [name]: value, model: 'up/m' } as Chat);
      expect(bodies().at(-1)).toEqual({ messages: says(), ...beside, [name]: value, model: 'm' });
    }
  }
  await openai.chat.completions.create({ messages: says(), model: 'up/m', top_k: 5 } as Chat);
  expect(bodies().at(-1)).toMatchObject({ top_k: 5 });
});
