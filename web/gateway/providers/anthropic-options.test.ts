import { expect, it } from 'vitest';
import { toNamedEvents, collectOutcome, createFakeServer, createStreamResponse } from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Anthropic } from './anthropic.ts';
import { ANSWER_TOOL } from './anthropic-options.ts';
import type { ModelRequest } from './provider.ts';

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };
const format = { type: 'json_schema', name: 'sum', description: 'The sum.', schema, strict: true } as const;
const add = { name: 'add', description: 'Adds', schema };
const addTool = { name: 'add', description: 'Adds', input_schema: schema };

const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const message = (stop_reason: string, ...blocks: ReturnType<typeof block>[]): string =>
  toNamedEvents(
    { type: 'message_start', message: {} },
    ...blocks.flat(),
    { type: 'message_delta', delta: { stop_reason } },
    { type: 'message_stop' },
  );
const OK_STREAM = message('end_turn', block(0, { type: 'text', text: 'ok' }));

async function sendRequest(rest: Partial<ModelRequest>, answers: (string | Response)[] = []) {
  const { fetch, asked } = createFakeServer((_asked, count) => {
    const answer = answers[count - 1] ?? OK_STREAM;
    return typeof answer === 'string' ? createStreamResponse(answer) : answer;
  });
  const provider = new Anthropic({ id: 'a', name: 'Anthropic', baseUrl: 'https://a/v1', apiKey: 'k', fetch, clock: systemClock });
  const request = { model: 'claude-opus-5-5', messages: [{ role: 'user' as const, content: 'Hi' }], exact: true, ...rest };
  return { ...(await collectOutcome(provider, request)), bodies: asked.map(({ body }) => body) };
}

const createRefusal = (text: string): Response =>
  Response.json({ type: 'error', error: { type: 'invalid_request_error', message: text } }, { status: 400 });

verifies('providers/wishes', 'reach Anthropic: tools, sampling, stops', async () => {
  const { bodies } = await sendRequest({
    maxTokens: 50,
    temperature: 0.4,
    topP: 0.5,
    stop: ['END', '\n'],
    tools: [{ ...add, strict: true }],
  });
  expect(bodies).toEqual([
    {
      model: 'claude-opus-5-5',
      max_tokens: 50,
      stream: true,
      temperature: 0.4,
      top_p: 0.5,
      stop_sequences: ['END', '\n'],
      tools: [{ ...addTool, strict: true }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    },
  ]);
});

it.each<[Partial<ModelRequest>, object | undefined]>([
  [{ toolChoice: 'none' }, { type: 'none' }],
  [{ toolChoice: 'auto' }, { type: 'auto' }],
  [{ toolChoice: 'required' }, { type: 'any' }],
  [{ toolChoice: { name: 'add' } }, { type: 'tool', name: 'add' }],
  [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
  [
    { parallelToolCalls: false, toolChoice: 'required' },
    { type: 'any', disable_parallel_tool_use: true },
  ],
  [{ parallelToolCalls: false, toolChoice: 'none' }, { type: 'none' }],
  [{ parallelToolCalls: true }, undefined],
])('of tools, %o is told as %o', async (wish, choice) => {
  expect((await sendRequest({ tools: [add], ...wish })).bodies[0]?.['tool_choice']).toEqual(choice);
});

it.each<[string, ModelRequest['reasoningEffort'], object]>([
  ['claude-opus-5-5', 'minimal', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } }],
  ['claude-sonnet-4-6', 'high', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } }],
  ['claude-opus-4-10', 'low', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } }],
  ['claude-haiku-4-5-20251001', 'medium', { thinking: { type: 'enabled', budget_tokens: 8192 } }],
  ['claude-sonnet-4-20250514', 'low', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
  ['claude-3-7-sonnet-20250219', 'xhigh', { thinking: { type: 'enabled', budget_tokens: 32_000 } }],
  ['claude-opus-5-5', 'none', { thinking: { type: 'disabled' } }],
  ['claude-3-haiku-20240307', 'none', {}],
])('%s thinks as hard as %s', async (model, reasoningEffort, fields) => {
  const { thinking, output_config } = {
    thinking: undefined,
    output_config: undefined,
    ...(await sendRequest({ model, reasoningEffort })).bodies[0],
  };
  expect({ thinking, output_config }).toEqual({ thinking: undefined, output_config: undefined, ...fields });
});

it('thinks with half of the limit at most, and not in a turn whose thoughts are gone', async () => {
  const model = 'claude-haiku-4-5';
  const budget = async (rest: Partial<ModelRequest>) =>
    (await sendRequest({ model, reasoningEffort: 'high', ...rest })).bodies[0]?.['thinking'];
  expect(await budget({ maxTokens: 6000 })).toEqual({ type: 'enabled', budget_tokens: 3000 });
  const turn = (kept?: object): Partial<ModelRequest> => ({
    tools: [add],
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c', tool: 'add', args: {} }],
        ...(kept ? { kept: { wire: 'anthropic', value: [kept] } } : {}),
      },
      { role: 'tool', content: '2', toolCallId: 'c' },
    ],
  });
  expect(await budget(turn())).toBeUndefined();
  expect(await budget(turn({ type: 'thinking', thinking: 'x', signature: 's' }))).toMatchObject({ type: 'enabled' });
});

it('retries without hidden thinking if the server does not support it', async () => {
  const { text, bodies } = await sendRequest({ reasoningEffort: 'low' }, [
    createRefusal('thinking.adaptive.display: Extra inputs are not permitted'),
  ]);
  expect([text, bodies[1]?.['thinking'], bodies[1]?.['output_config']]).toEqual(['ok', { type: 'adaptive' }, { effort: 'low' }]);
});

verifies('providers/wishes', 'a schema is enforced by the model if possible, else by a tool whose arguments are the answer', async () => {
  const native = await sendRequest({ responseFormat: format });
  expect(native.bodies).toMatchObject([
    { output_config: { format: { type: 'json_schema', schema: { ...schema, description: 'The sum.' } } } },
  ]);
  const answer = message(
    'tool_use',
    block(
      0,
      { type: 'tool_use', id: 't', name: ANSWER_TOOL, input: {} },
      { type: 'input_json_delta', partial_json: '{"a"' },
      { type: 'input_json_delta', partial_json: ':3}' },
    ),
    block(1, { type: 'tool_use', id: 'u', name: ANSWER_TOOL, input: {} }, { type: 'input_json_delta', partial_json: '{"a":4}' }),
  );
  for (const [model, answers] of [
    ['claude-3-5-sonnet', [answer]],
    ['claude-opus-5-5', [createRefusal('output_config.format.schema: For number type, property minimum is not supported'), answer]],
  ] as const) {
    const { text, events, bodies } = await sendRequest({ model, responseFormat: format }, [...answers]);
    expect([text, events.at(-1), events.length]).toEqual(['{"a":3}', { type: 'finish', reason: 'stop' }, 3]);
    expect(bodies.at(-1)).toMatchObject({
      tools: [{ name: ANSWER_TOOL, description: expect.stringContaining('The sum.'), input_schema: schema }],
      tool_choice: { type: 'tool', name: ANSWER_TOOL, disable_parallel_tool_use: true },
    });
    expect(bodies.at(-1)).not.toHaveProperty('output_config');
  }
});

it('gives any JSON object by the tool, beside tools that may be called first', async () => {
  const empty = message('tool_use', block(0, { type: 'tool_use', id: 't', name: ANSWER_TOOL, input: {} }));
  const { text, bodies } = await sendRequest({ responseFormat: { type: 'json_object' }, tools: [add] }, [empty]);
  expect(text).toBe('{}');
  expect(bodies[0]).toMatchObject({
    tools: [addTool, { name: ANSWER_TOOL, input_schema: { type: 'object' } }],
    tool_choice: { type: 'any' },
  });
  const called = message('tool_use', block(0, { type: 'tool_use', id: 't', name: 'add', input: {} }));
  const { events } = await sendRequest({ responseFormat: { type: 'json_object' }, tools: [add] }, [called]);
  expect(events).toMatchObject([
    { type: 'tool_call', call: { tool: 'add' } },
    { type: 'finish', reason: 'tool_calls' },
  ]);
  const first = await sendRequest({ responseFormat: { type: 'json_object' }, tools: [add], toolChoice: 'required' });
  expect(first.bodies[0]).toMatchObject({ tools: [addTool], tool_choice: { type: 'any' } });
});

verifies('providers/wishes', 'that Anthropic cannot honour are refused by name, and nobody is asked', async () => {
  const cases: [keyof ModelRequest, Partial<ModelRequest>][] = [
    ['seed', { seed: 1 }],
    ['presencePenalty', { presencePenalty: 0.5 }],
    ['frequencyPenalty', { frequencyPenalty: -1 }],
    ['temperature', { temperature: 1.5 }],
    ['reasoningEffort', { model: 'claude-3-haiku', reasoningEffort: 'low' }],
    ['reasoningEffort', { model: 'claude-haiku-4-5', reasoningEffort: 'low', maxTokens: 1024 }],
    ['responseFormat', { responseFormat: { type: 'json_object' }, reasoningEffort: 'low' }],
    ['tools', { model: 'claude-3-haiku', tools: [{ ...add, strict: true }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'file', mimeType: 'audio/wav', data: 'AAAA', filename: 'a.wav' }] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'image', mimeType: 'image/tiff', data: 'AAAA' }] }] }],
  ];
  for (const [field, wish] of cases)
    expect(await sendRequest(wish), field).toMatchObject({ error: { name: 'UnsupportedOptionError', field, status: 400 }, bodies: [] });
  expect((await sendRequest({ presencePenalty: 0, frequencyPenalty: 0 })).text).toBe('ok');
});

it('omits defaults', async () => {
  const { bodies } = await sendRequest({ temperature: 1, topP: 1, parallelToolCalls: true, toolChoice: 'auto', stop: [] });
  expect(Object.keys(bodies[0] ?? {}).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream']);
});

it('sends all that a program says, which may begin with the assistant', async () => {
  const { bodies } = await sendRequest({
    messages: [
      { role: 'assistant', content: 'Welcome' },
      { role: 'user', content: 'Hi' },
    ],
  });
  expect(bodies[0]?.['messages']).toEqual([
    { role: 'user', content: [{ type: 'text', text: '…' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Welcome' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ]);
});

verifies('chat/steps', 'tools that may be called no more stay declared, for the blocks in the messages', async () => {
  const { bodies } = await sendRequest({ spentTools: [add] });
  expect(bodies[0]).toMatchObject({ tools: [addTool], tool_choice: { type: 'none' } });
});

verifies(
  'providers/wishes',
  'calls in the messages have their tools declared where the program brings none, and may not be called',
  async () => {
    const calls = ['add', 'add', 'sub'].map((tool, index) => ({ id: `c${index}`, tool, args: {} }));
    const { bodies } = await sendRequest({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '', toolCalls: calls },
        ...calls.map(({ id }) => ({ role: 'tool' as const, content: '2', toolCallId: id })),
        { role: 'user', content: 'And?' },
      ],
    });
    expect(bodies[0]).toMatchObject({
      tools: [
        { name: 'add', input_schema: { type: 'object' } },
        { name: 'sub', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'none' },
    });
  },
);
