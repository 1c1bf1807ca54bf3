import { expect, it } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { removeContext } from '../../../../tests/support/model-context.ts';
import { createClaudeResponse, createVendorGateway } from '../../../../tests/support/vendors.ts';

const GREETING = [{ role: 'user' as const, content: 'Hi' }];
const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };
const tools = [{ type: 'function' as const, function: { name: 'add', description: 'Adds', parameters: schema } }];
const COMMON_PARAMETERS = {
  top_p: 0.5,
  stop: 'END',
  max_completion_tokens: 50,
  response_format: { type: 'json_schema' as const, json_schema: { name: 'sum', schema } },
};
const reasoningShape = z.object({ reasoning_content: z.string() });
/** Parameters that neither change a response nor are sent to other vendors. */
const IGNORED_PARAMETERS = {
  logprobs: false,
  n: 1,
  store: false,
  metadata: {},
  service_tier: 'auto' as const,
  stream_options: null,
  response_format: { type: 'text' as const },
};

verifies('http.chat/translated', 'parameters in each vendor’s words', async () => {
  const { gw, openai, bodies } = await createVendorGateway();
  await using _ = gw;
  await openai.chat.completions.create({
    model: 'claude/claude-opus-5-5',
    messages: GREETING,
    ...COMMON_PARAMETERS,
    tools,
    tool_choice: 'required',
    parallel_tool_calls: false,
    reasoning_effort: 'low',
  });
  await openai.chat.completions.create({
    model: 'gemini/gemini-3.8-flash',
    messages: GREETING,
    ...COMMON_PARAMETERS,
    seed: 7,
    presence_penalty: 0.5,
    reasoning_effort: 'low',
  });
  await openai.chat.completions.create({ model: 'claude/claude-opus-5-5', messages: GREETING, ...IGNORED_PARAMETERS });
  expect(bodies()).toEqual([
    {
      model: 'claude-opus-5-5',
      stream: true,
      max_tokens: 50,
      top_p: 0.5,
      stop_sequences: ['END'],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ name: 'add', description: 'Adds', input_schema: schema }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    },
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: {
        maxOutputTokens: 50,
        topP: 0.5,
        stopSequences: ['END'],
        seed: 7,
        presencePenalty: 0.5,
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
        thinkingConfig: { thinkingLevel: 'low', includeThoughts: true },
      },
    },
    { model: 'claude-opus-5-5', stream: true, max_tokens: 128_000, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  ]);
});

const REFUSED_PARAMETERS: [string, object][] = [
  ['modalities', { modalities: ['text', 'audio'] }],
  ['tool_choice', { tool_choice: 'required' }],
  ['tool_choice', { tools, tool_choice: { type: 'function', function: { name: 'nope' } } }],
  ['response_format', { response_format: { type: 'xml' } }],
  ['reasoning_effort', { reasoning_effort: 'enormous' }],
  ['response_format.schema', { response_format: { type: 'json_object', schema } }],
  ['response_format.json_schema.regex', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema, regex: 'x' } } }],
  ['stop', { stop: ['a', 'b', 'c', 'd', 'e'] }],
  ['n', { n: 9 }],
  ['messages', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }] }],
  [
    'messages[0].content[0]',
    { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }] },
  ],
];

verifies(
  ['http.chat/translated', 'http.chat/agent-params'],
  'unsupported parameters are 400 with their name, and no model is called',
  async () => {
    const { gw, openai, bodies } = await createVendorGateway();
    await using _ = gw;
    const createCompletion = (model: string, more: object): Promise<unknown> =>
      openai.chat.completions.create({ model, messages: GREETING, ...more });
    for (const [param, more] of REFUSED_PARAMETERS)
      await expect(createCompletion('claude/claude-opus-5-5', more), param).rejects.toMatchObject({
        status: 400,
        param: expect.stringContaining(param),
      });
    for (const [param, more] of REFUSED_PARAMETERS.filter(([name]) => !name.startsWith('tool')))
      await expect(createCompletion('perch/main', more), `agent ${param}`).rejects.toMatchObject({
        status: 400,
        param: expect.stringContaining(param),
      });
    await expect(createCompletion('perch/main', { n: 2 })).rejects.toMatchObject({ status: 400, param: 'n' });
    await expect(createCompletion('guide/guide', { response_format: { type: 'json_object' } })).rejects.toMatchObject({
      status: 400,
      param: 'response_format',
    });
    expect([bodies(), gw.faults]).toEqual([[], []]);
  },
);

verifies(['http.chat/translated', 'http.chat/agent-params'], 'with several speakers, the name precedes each message', async () => {
  const { gw, openai, bodies } = await createVendorGateway(() => createClaudeResponse({ text: 'Hello' }));
  await using _ = gw;
  const messages = [
    { role: 'user' as const, name: 'Ada', content: 'Hi' },
    { role: 'assistant' as const, name: 'Robin', content: [{ type: 'text' as const, text: 'Hello' }] },
    { role: 'user' as const, content: 'Who?' },
  ];
  for (const model of ['claude/claude-opus-5-5', 'perch/main']) await openai.chat.completions.create({ model, messages });
  const sentBodies = bodies().map((body) => JSON.stringify(body?.messages));
  for (const each of sentBodies) for (const phrase of ['Ada: Hi', 'Robin:', 'Hello', 'Who?']) expect(each).toContain(phrase);
  expect(sentBodies).toHaveLength(2);
});

verifies('http.chat/agent-params', 'the agent’s own temperature is lessened for a model, whatever else is told to the letter', async () => {
  const { gw, client, openai, bodies } = await createVendorGateway(() => createClaudeResponse({ text: 'Hello' }));
  await using _ = gw;
  await client.call('config.set', { key: 'agents.main.temperature', value: 1.4 });
  const see = [{ type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } }];
  for (const user of [undefined, 'ada'])
    await openai.chat.completions.create({ model: 'perch/main', messages: [{ role: 'user', content: see }], ...(user && { user }) });
  expect(bodies().map((body) => body?.temperature)).toEqual([1, 1]);
  const pendingCompletion = openai.chat.completions.create({ model: 'perch/main', messages: GREETING, temperature: 1.4 });
  // Without it the agent’s own counts.
  await expect(pendingCompletion).resolves.toBeDefined();
});

verifies('http.chat/agent-params', 'reach the agent’s model, and its thoughts come back', async () => {
  const { gw, openai, bodies } = await createVendorGateway(() => createClaudeResponse({ thought: 'Let me see' }));
  await using _ = gw;
  const png = 'data:image/png;base64,AAAA';
  const messages = [
    {
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: 'See' },
        { type: 'image_url' as const, image_url: { url: png } },
      ],
    },
  ];
  const { choices } = await openai.chat.completions.create({
    model: 'perch/main',
    messages,
    ...COMMON_PARAMETERS,
    temperature: 0.3,
    tool_choice: 'none',
  });
  expect(choices[0]?.message).toMatchObject({ content: 'Hello', reasoning_content: 'Let me see' });
  const body = bodies()[0];
  expect({ ...body, messages: removeContext(body?.['messages'] as { content: unknown }[]) }).toMatchObject({
    max_tokens: 50,
    top_p: 0.5,
    temperature: 0.3,
    stop_sequences: ['END'],
    tool_choice: { type: 'none' },
    output_config: { format: { type: 'json_schema', schema } },
    messages: [
      {
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { media_type: 'image/png' } },
        ],
      },
    ],
  });
  const inSession = await openai.chat.completions.create({
    model: 'perch/main',
    messages: GREETING,
    user: 'alice',
    ...COMMON_PARAMETERS,
    temperature: 0.3,
  });
  expect(inSession.choices[0]?.message).toMatchObject({ content: 'Hello', reasoning_content: 'Let me see' });
  expect(bodies()[1]).toMatchObject({ max_tokens: 50, top_p: 0.5, temperature: 0.3, stop_sequences: ['END'] });
  // The message of a refused try is not in its session.
  await openai.chat.completions.create({ model: 'perch/main', messages: [{ role: 'user', content: 'Once' }], user: 'alice', seed: 1 });
  expect(JSON.stringify(bodies().at(-1)?.messages).split('Once')).toHaveLength(2);
});

verifies('http.chat/translated', 'calls side by side and thoughts, which go back with the turn', async () => {
  const { gw, openai, bodies } = await createVendorGateway((_asked, count) =>
    count % 2 === 1 ? createClaudeResponse({ thought: 'Let me see', calls: ['toolu_1', 'toolu_2'] }) : createClaudeResponse(),
  );
  await using _ = gw;
  const baseParams = { model: 'claude/claude-haiku-4-5', tools, reasoning_effort: 'low' as const };
  const runner = openai.chat.completions.stream({ ...baseParams, messages: GREETING });
  let thoughts = '';
  for await (const { choices } of runner) thoughts += reasoningShape.safeParse(choices[0]?.delta).data?.reasoning_content ?? '';
  const { choices } = await runner.finalChatCompletion();
  const [choice] = choices;
  expect(thoughts).toBe('Let me see');
  expect(choice).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ id: 'toolu_1', function: { name: 'add', arguments: '{"a":1}' } }, { id: 'toolu_2' }] },
  });
  const results = ['toolu_1', 'toolu_2'].map((tool_call_id) => ({ role: 'tool' as const, tool_call_id, content: '2' }));
  const calls = choice?.message.tool_calls ?? [];
  const second = await openai.chat.completions.create({
    ...baseParams,
    messages: [...GREETING, { role: 'assistant', content: null, tool_calls: calls }, ...results],
  });
  expect(second.choices[0]?.message.content).toBe('Hello');
  expect(bodies()[1]).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: 2048 },
    messages: [
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Let me see', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_1' },
          { type: 'tool_use', id: 'toolu_2' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1' },
          { type: 'tool_result', tool_use_id: 'toolu_2' },
        ],
      },
    ],
  });
});

it('the guide keeps to the limit and the stops', async () => {
  const { gw, openai } = await createVendorGateway();
  await using _ = gw;
  const guideParams = { model: 'guide/guide', messages: [{ role: 'user' as const, content: 'How do I add a model?' }] };
  const full =
    (await openai.chat.completions.create({ ...guideParams, seed: 1, temperature: 0, top_p: 1 })).choices[0]?.message.content ?? '';
  const short = await openai.chat.completions.create({ ...guideParams, max_tokens: 5 });
  expect(short.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: full.slice(0, 20) } });
  const stopped = await openai.chat.completions.create({ ...guideParams, stop: ['Settings'] });
  expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: full.slice(0, full.indexOf('Settings')) } });
});

verifies(['http.chat/reasoning-tokens', 'http.responses/usage'], 'of each vendor, of an agent, streamed and whole', async () => {
  const { gw, openai } = await createVendorGateway();
  await using _ = gw;
  for (const model of ['claude/claude-opus-5-5', 'gemini/gemini-3.8-flash', 'perch/main']) {
    const completion = await openai.chat.completions.create({ model, messages: GREETING });
    expect([model, completion.usage]).toMatchObject([model, { completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 3 } }]);
    const streamed = openai.chat.completions.stream({ model, messages: GREETING, stream_options: { include_usage: true } });
    expect((await streamed.finalChatCompletion()).usage?.completion_tokens_details).toEqual({ reasoning_tokens: 3 });
    const response = await openai.responses.create({ model, input: 'Hi' });
    expect(response.usage).toMatchObject({ output_tokens: 5, output_tokens_details: { reasoning_tokens: 3 } });
  }
  const choices = await openai.chat.completions.create({ model: 'claude/claude-opus-5-5', messages: GREETING, n: 2 });
  expect(choices.usage?.completion_tokens_details).toEqual({ reasoning_tokens: 6 });
  const guide = await openai.chat.completions.create({ model: 'guide/guide', messages: GREETING });
  expect(guide.usage).not.toHaveProperty('completion_tokens_details');
});
