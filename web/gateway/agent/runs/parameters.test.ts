import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createVendorGateway } from '../../../../tests/support/vendors.ts';

/**
 * How a public parameter is handled for a model of another format: translated to that format, handled here, treated as a hint that does not
 * change the response, ignored with a warning, or refused. `beside`: parameters that it requires.
 */
interface ParameterHandling {
  translated?: unknown[];
  handled?: unknown[];
  hinted?: unknown[];
  ignored?: unknown[];
  refused?: unknown[];
  beside?: Record<string, unknown>;
}

type ChatParams = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
type ResponseParams = OpenAI.Responses.ResponseCreateParamsNonStreaming;

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };
const ADD_TOOL = { type: 'function', function: { name: 'add', parameters: schema } };
const GRAMMAR_TOOL = { type: 'custom', custom: { name: 'x' } };
const appendGreeting = (...messages: object[]) => [...messages, { role: 'user', content: 'Hi' }];
const function_call = { name: 'f', arguments: '{}' };

const CHAT_PARAMETERS: Record<keyof OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming, ParameterHandling> = {
  model: { handled: ['claude/claude-opus-5-5'], refused: [''] },
  messages: {
    translated: [appendGreeting({ role: 'system', content: 'Be brief' })],
    refused: [
      [],
      appendGreeting({ role: 'assistant', content: 'x', function_call }),
      appendGreeting({ role: 'assistant', content: 'x', audio: { id: 'a' } }),
    ],
  },
  audio: { ignored: [{ format: 'wav', voice: 'alloy' }] },
  frequency_penalty: { ignored: [1] },
  function_call: { hinted: ['auto'], refused: [{ name: 'f' }] },
  functions: { hinted: [[]], ignored: [[{ name: 'f' }]] },
  logit_bias: { hinted: [{}], ignored: [{ 5: 1 }] },
  logprobs: { hinted: [false], ignored: [true] },
  max_completion_tokens: { translated: [50], refused: [0] },
  max_tokens: { translated: [50], refused: ['many'] },
  metadata: { hinted: [{ a: 'b' }] },
  modalities: { hinted: [['text']], refused: [['text', 'audio']] },
  moderation: { ignored: [{ model: 'm' }] },
  n: { handled: [1, 2], refused: [9] },
  parallel_tool_calls: { translated: [false], beside: { tools: [ADD_TOOL] } },
  prediction: { ignored: [{ type: 'content', content: 'x' }] },
  presence_penalty: { ignored: [1] },
  prompt_cache_key: { hinted: ['k'] },
  prompt_cache_options: { hinted: [{ mode: 'implicit' }] },
  prompt_cache_retention: { hinted: ['24h'] },
  reasoning_effort: { translated: ['low', 'max'], refused: ['most'] },
  response_format: {
    translated: [{ type: 'json_schema', json_schema: { name: 'a', schema } }],
    hinted: [{ type: 'text' }],
    refused: [{ type: 'x' }],
  },
  safety_identifier: { hinted: ['s'] },
  seed: { ignored: [7] },
  service_tier: { hinted: ['auto', 'default'], ignored: ['flex', 'priority'] },
  stop: { translated: ['END', ['a', 'b']], refused: [''] },
  store: { hinted: [false], ignored: [true] },
  stream: { handled: [true, false], refused: ['yes'] },
  stream_options: { handled: [{ include_usage: true }], ignored: [{ include_obfuscation: true }], beside: { stream: true } },
  temperature: { translated: [0.3], ignored: [1.5], refused: [3] },
  tool_choice: {
    translated: ['required', { type: 'function', function: { name: 'add' } }],
    refused: [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
      { type: 'custom', custom: { name: 'x' } },
    ],
    beside: { tools: [ADD_TOOL] },
  },
  tools: { translated: [[ADD_TOOL]], ignored: [[GRAMMAR_TOOL]] },
  top_logprobs: { hinted: [0], ignored: [2] },
  top_p: { translated: [0.5], refused: [2] },
  user: { hinted: ['alice'] },
  verbosity: { hinted: ['medium'], ignored: ['low'] },
  web_search_options: { ignored: [{}] },
};

const RESPONSE_TOOL = { type: 'function', name: 'add', parameters: schema, strict: null };

const RESPONSE_PARAMETERS: Record<keyof OpenAI.Responses.ResponseCreateParamsStreaming, ParameterHandling> = {
  model: { handled: ['claude/claude-opus-5-5'], refused: [''] },
  input: { translated: ['Hello'], refused: [[], 5] },
  access_programs: { ignored: [{ cyber: 'standard' }] },
  background: { hinted: [false], handled: [true], beside: { stream: true } },
  context_management: { hinted: [[]], ignored: [[{ type: 'compaction' }]] },
  conversation: { refused: [7, { name: 'conv_1' }] },
  image: { ignored: [{ context_compression: 'enabled' }] },
  include: { handled: [['reasoning.encrypted_content'], ['file_search_call.results']], ignored: [['message.output_text.logprobs']] },
  instructions: { translated: ['Be brief'], refused: [5] },
  max_output_tokens: { translated: [50], refused: [0] },
  max_tool_calls: { ignored: [3] },
  metadata: { handled: [{ a: 'b' }], refused: [{ a: 1 }] },
  moderation: { ignored: [{ model: 'm' }] },
  parallel_tool_calls: { translated: [false], beside: { tools: [RESPONSE_TOOL] } },
  previous_response_id: { refused: ['resp_none'] },
  prompt: { refused: [{ id: 'p' }] },
  prompt_cache_key: { hinted: ['k'] },
  prompt_cache_options: { hinted: [{ mode: 'implicit' }] },
  prompt_cache_retention: { hinted: ['24h'] },
  reasoning: {
    translated: [{ effort: 'low' }, { effort: 'max' }],
    hinted: [{ summary: 'auto' }],
    ignored: [{ summary: 'detailed' }, { mode: 'pro' }, { context: 'all_turns' }],
    refused: [{ effort: 'most' }],
  },
  safety_identifier: { hinted: ['s'] },
  service_tier: { hinted: ['auto', 'default'], ignored: ['flex', 'priority'] },
  store: { handled: [true, false], refused: [1] },
  stream: { handled: [true, false], refused: ['yes'] },
  stream_options: { hinted: [{ include_obfuscation: false }], ignored: [{ include_obfuscation: true }], beside: { stream: true } },
  temperature: { translated: [0.3], ignored: [1.5], refused: [3] },
  text: {
    translated: [{ format: { type: 'json_schema', name: 'a', schema } }],
    hinted: [{ verbosity: 'medium' }],
    ignored: [{ verbosity: 'low' }],
    refused: [{ format: { type: 'grammar' } }],
  },
  tool_choice: {
    translated: ['required', { type: 'function', name: 'add' }],
    refused: [{ type: 'web_search' }, { type: 'custom', name: 'x' }, { type: 'allowed_tools', mode: 'auto', tools: [] }],
    beside: { tools: [RESPONSE_TOOL] },
  },
  tools: {
    translated: [
      [RESPONSE_TOOL],
      [{ ...RESPONSE_TOOL, defer_loading: false, async: false, allowed_callers: ['direct'], output_schema: null }],
    ],
    ignored: [
      ...[{ type: 'web_search' }, { type: 'custom', name: 'x' }, { type: 'mcp', server_label: 'x' }].map((each) => [each]),
      ...[{ defer_loading: true }, { async: true }, { allowed_callers: ['programmatic'] }, { output_schema: {} }].map((each) => [
        { ...RESPONSE_TOOL, ...each },
      ]),
    ],
  },
  top_logprobs: { hinted: [0], ignored: [2] },
  top_p: { translated: [0.5], refused: [2] },
  truncation: { handled: ['auto', 'disabled'], refused: ['some'] },
  user: { hinted: ['alice'] },
};

describe.each<[string, Record<string, ParameterHandling>, object]>([
  ['completions', CHAT_PARAMETERS, { messages: appendGreeting() }],
  ['responses', RESPONSE_PARAMETERS, { input: 'Hi' }],
])('every public parameter of %s', (api, table, base) => {
  verifies(['http.chat/translated', 'http.responses/refused'], 'is told, dealt with, a hint, ignored, or 400 by its name', async () => {
    const { gw, openai, bodies } = await createVendorGateway();
    await using _ = gw;
    const sendWith = async (more: object): Promise<unknown> => {
      const body = { model: 'claude/claude-opus-5-5', ...base, ...more };
      const answer = await (api === 'responses'
        ? openai.responses.create(body as ResponseParams)
        : openai.chat.completions.create(body as ChatParams));
      if (Symbol.asyncIterator in answer) for await (const _event of answer as AsyncIterable<unknown>);
      return bodies().at(-1);
    };
    for (const [name, { translated = [], handled = [], hinted = [], ignored = [], refused = [], beside = {} }] of Object.entries(table)) {
      const without = await sendWith(beside);
      for (const value of translated)
        expect(await sendWith({ ...beside, [name]: value }), `${name} ${JSON.stringify(value)}`).not.toEqual(without);
      for (const value of hinted) expect(await sendWith({ ...beside, [name]: value }), `${name} ${JSON.stringify(value)}`).toEqual(without);
      for (const value of [...handled, ...ignored]) await sendWith({ ...beside, [name]: value });
      const requestCountBefore = bodies().length;
      for (const value of refused)
        await expect(sendWith({ ...beside, [name]: value }), `${name} ${JSON.stringify(value)}`).rejects.toMatchObject({
          status: 400,
          param: expect.stringMatching(new RegExp(`^${name}\\b`)) as string,
        });
      expect(bodies(), name).toHaveLength(requestCountBefore);
    }
    // Of no vendor's format, or of another one's.
    await sendWith({ top_k: 5 });
    expect(gw.faults).toEqual([]);
  });
});

it('every public parameter of completions reaches a server of the same format as it is', async () => {
  const { gw, openai, bodies, client } = await createVendorGateway(() =>
    Response.json({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'stop' }],
    }),
  );
  await using _ = gw;
  await client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } } } });
  for (const [name, { translated = [], handled = [], hinted = [], ignored = [], refused = [], beside }] of Object.entries(
    CHAT_PARAMETERS,
  )) {
    if (['model', 'messages', 'n', 'stream', 'stream_options'].includes(name)) continue;
    for (const value of [...translated, ...handled, ...hinted, ...ignored, ...refused]) {
      await openai.chat.completions.create({ messages: appendGreeting(), ...beside, [name]: value, model: 'up/m' } as ChatParams);
      expect(bodies().at(-1)).toEqual({ messages: appendGreeting(), ...beside, [name]: value, model: 'm' });
    }
  }
  await openai.chat.completions.create({ messages: appendGreeting(), model: 'up/m', top_k: 5 } as ChatParams);
  expect(bodies().at(-1)).toMatchObject({ top_k: 5 });
});
