import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { removeContext } from '../../../../tests/support/model-context.ts';
import { createClaudeResponse, createVendorGateway } from '../../../../tests/support/vendors.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const GREETING = [{ role: 'user' as const, content: 'Hi' }];
const LISTEN_TOOLS = [
  {
    role: 'user' as const,
    content: [
      { type: 'text' as const, text: 'Listen' },
      { type: 'input_audio' as const, input_audio: { data: 'AAAA', format: 'wav' as const } },
    ],
  },
];
const toChunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const USAGE_CHUNK = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, completion_tokens_details: { reasoning_tokens: 4 } } })}\n\n`;
/** A server of OpenAI's format whose response ends with this reason. */
const createStreamResponse = (finish: string): Response =>
  new Response(toChunk({ content: 'Well' }) + toChunk({}, finish) + USAGE_CHUNK + 'data: [DONE]\n\n', {
    headers: { 'content-type': 'text/event-stream' },
  });

/** A gateway whose agent uses a server of OpenAI's format; `told` is the last request to it. */
async function createAgentGateway(finish = 'stop') {
  const { gw, client, openai, bodies } = await createVendorGateway(() => createStreamResponse(finish));
  await client.call('config.patch', {
    patch: {
      providers: { up: { baseUrl: 'http://up.test/v1' } },
      chat: { model: 'up/m' },
      agents: { main: { systemPrompt: 'You are Ada.' } },
    },
  });
  const getPrompt = () => removeContext((bodies().at(-1)?.['messages'] ?? []) as { role: string; content: unknown }[]);
  const complete = (messages: readonly object[], more: object = {}) =>
    openai.chat.completions.create({ model: 'perch/main', user: 'ann', messages: messages as typeof GREETING, ...more });
  return { gw, openai, ask: complete, told: getPrompt };
}

verifies('http.chat/agent-session', 'receives system messages in any form, in addition to its own prompt', async () => {
  const { gw, ask, told } = await createAgentGateway();
  await using _ = gw;
  await ask([{ role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }, { role: 'developer', content: 'In verse.' }, ...GREETING]);
  expect(told()[0]).toMatchObject({ role: 'system', content: expect.stringMatching(/^You are Ada\.\n\nBe brief\.\n\nIn verse\.$/) });
  await ask(GREETING);
  expect(told()[0]).toMatchObject({ content: expect.stringMatching(/^You are Ada\.$/) });
});

verifies(
  'http.chat/agent-session',
  'is given sound and pictures, also without a word; a file that a tool reads is named to it',
  async () => {
    const { gw, ask, told } = await createAgentGateway();
    await using _ = gw;
    await ask(LISTEN_TOOLS);
    expect(told().at(-1)?.content).toEqual(LISTEN_TOOLS[0]?.content);
    await ask([{ role: 'user', content: [{ type: 'image_url', image_url: { url: PIXEL } }] }]);
    expect(told().at(-1)?.content).toEqual([{ type: 'image_url', image_url: { url: PIXEL } }]);
    // An earlier message is repeated as it was sent.
    expect(told()[1]?.content).toEqual(LISTEN_TOOLS[0]?.content);
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
    await ask([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Read' },
          { type: 'file', file },
        ],
      },
    ]);
    expect(told().at(-1)?.content).toMatch(/a\.pdf .* read_pdf/);
  },
);

verifies('http.chat/agent-session', 'tells how the answer ended, and how much of it were thoughts', async () => {
  const { gw, openai, ask } = await createAgentGateway('length');
  await using _ = gw;
  const completion = await ask(GREETING);
  expect([completion.choices[0]?.finish_reason, completion.usage?.completion_tokens_details?.reasoning_tokens]).toEqual(['length', 4]);
  const stream = await openai.chat.completions.create({ model: 'perch/main', user: 'ann', messages: GREETING, stream: true });
  const reasons: unknown[] = [];
  for await (const { choices } of stream) reasons.push(choices[0]?.finish_reason);
  expect(reasons.at(-1)).toBe('length');
  expect(await openai.responses.create({ model: 'perch/main', user: 'ann', input: 'Hi' })).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  });
});

verifies(['http.chat/agent-session', 'http.chat/agent-params'], 'unsupported parameters are 400 with their name', async () => {
  const { gw, openai, bodies } = await createVendorGateway(() => createClaudeResponse({}));
  await using _ = gw;
  const completeWith = (more: object): Promise<unknown> =>
    openai.chat.completions.create({ model: 'perch/main', user: 'ann', messages: GREETING, ...more });
  const reply = { role: 'assistant', content: 'Yes?' };
  for (const [param, more] of [
    ['messages', { messages: LISTEN_TOOLS }],
    ['messages', { messages: [...GREETING, reply] }],
    ['messages', { messages: [{ role: 'system', content: 'Be brief.' }] }],
    ['messages', { messages: [{ role: 'user', content: '' }] }],
    ['messages', { messages: [{ role: 'user', content: 'a\0b' }] }],
  ] as const)
    await expect(completeWith(more), JSON.stringify(more)).rejects.toMatchObject({ status: 400, param });
  await expect(openai.responses.create({ model: 'perch/main', user: 'ann', input: '' })).rejects.toMatchObject({
    status: 400,
    param: 'input',
  });
  expect(bodies()).toEqual([]);
  await completeWith({ messages: [{ role: 'user', content: 'One' }, reply, ...GREETING, { role: 'system', content: 'Be brief.' }] });
  expect(bodies()).toHaveLength(1);
});

verifies(['http.chat/agent-session', 'http.chat/agent-params'], 'NUL is 400 in a session and without one', async () => {
  const { gw, openai, bodies } = await createVendorGateway(() => createClaudeResponse({}));
  await using _ = gw;
  const parts = { role: 'user' as const, content: [{ type: 'text' as const, text: 'a\0b' }] };
  for (const user of [{}, { user: 'ann' }]) {
    for (const messages of [
      [{ role: 'user' as const, content: 'a\0b' }],
      [parts],
      [{ role: 'system' as const, content: 'a\0b' }, ...GREETING],
    ])
      await expect(openai.chat.completions.create({ model: 'perch/main', messages, ...user })).rejects.toMatchObject({
        status: 400,
        param: 'messages',
      });
    await expect(openai.responses.create({ model: 'perch/main', input: 'a\0b', ...user })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
  }
  expect(bodies()).toEqual([]);
});

verifies('http.chat/agent-session', 'a request that is sent again because it failed is there once', async () => {
  const fails = [502, 503, 503];
  const { gw, client, openai, bodies } = await createVendorGateway(() => {
    const status = fails.shift();
    return status === undefined
      ? createStreamResponse('stop')
      : Response.json({ error: { message: 'busy' } }, { status, headers: { 'retry-after': '999' } });
  });
  await using _ = gw;
  await client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } }, chat: { model: 'up/m' } } });
  const sendContent = (content: string): Promise<unknown> =>
    openai.chat.completions.create({ model: 'perch/main', user: 'ann', messages: [{ role: 'user', content }] });
  for (const _time of fails.slice())
    await expect(sendContent('Hi')).rejects.toMatchObject({ status: expect.toSatisfy((status: number) => status >= 500) });
  await sendContent('Hi');
  await sendContent('Hi');
  const prompt = removeContext((bodies().at(-1)?.['messages'] ?? []) as { role: string; content: string }[]);
  expect(prompt.slice(1).map(({ role, content }) => `${role} ${content}`)).toEqual(['user Hi', 'assistant Well', 'user Hi']);
  const { messages } = await client.call('chat.history', { sessionId: 'ann' });
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

verifies(
  'http.chat/refused-message',
  'that is too long for the model, with nothing before it to summarise: 400 with the reason',
  async () => {
    const error = { message: "This model's maximum context length is 10 tokens.", code: 'context_length_exceeded', param: 'messages' };
    const { gw, client, openai } = await createVendorGateway(() => Response.json({ error }, { status: 400 }));
    await using _ = gw;
    await client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } }, chat: { model: 'up/m' } } });
    await expect(openai.chat.completions.create({ model: 'perch/main', user: 'ann', messages: GREETING })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      message: expect.stringMatching(/too long for the model.*maximum context length.*All messages are kept/),
    });
    expect((await client.call('sessions.list', {})).sessions.map(({ sessionId }) => sessionId)).not.toContain('ann');
  },
);

verifies('http.chat/refused-message', 'a summary that fails is no refusal: 502, and the message stays', async () => {
  const error = { message: "This model's maximum context length is 10 tokens.", code: 'context_length_exceeded' };
  const answers = [() => createStreamResponse('stop'), () => Response.json({ error }, { status: 400 })];
  const { gw, client, openai } = await createVendorGateway(() => answers.shift()?.() ?? createStreamResponse('stop'));
  await using _ = gw;
  await client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } }, chat: { model: 'up/m' } } });
  const sendContent = (content: string): Promise<unknown> =>
    openai.chat.completions.create({ model: 'perch/main', user: 'ann', messages: [{ role: 'user', content }] });
  await sendContent('One '.repeat(200));
  await expect(sendContent('Two')).rejects.toMatchObject({
    status: 502,
    message: expect.stringMatching(/could not be summarised.*All messages are kept/),
  });
  const { messages } = await client.call('chat.history', { sessionId: 'ann' });
  expect(messages.map(({ content }) => content)).toContain('Two');
});

verifies('http.chat/refused-message', 'an answer cut off by the gateway, the server or a limit can be continued', async () => {
  const answers = [
    () => createStreamResponse('stop'),
    () => Response.json({ error: { message: 'No such parameter', param: 'x' } }, { status: 400 }),
    () => Response.json({ error: { message: 'slow down' } }, { status: 429, headers: { 'retry-after': '999' } }),
    () => createStreamResponse('stop'),
  ];
  const { gw, client, openai, bodies } = await createVendorGateway(() => answers.shift()?.() ?? createStreamResponse('stop'));
  await using _ = gw;
  await client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } } } });
  const sendContent = (content: object | string, more: object = {}): Promise<unknown> =>
    openai.chat.completions.create({
      model: 'perch/main',
      user: 'ann',
      messages: [{ role: 'user', content: content as string }],
      ...more,
    });
  const sessions = async (): Promise<unknown[]> => (await client.call('sessions.list', {})).sessions.map(({ sessionId }) => sessionId);
  const listContents = async (): Promise<unknown[]> =>
    (await client.call('chat.history', { sessionId: 'ann' })).messages.map(({ content }) => content);
  const missed: unknown[] = [];
  client.on('sessions.changed', ({ deleted }) => missed.push(deleted));
  // Claude hears nothing: nothing is asked, and there is no such chat.
  await expect(sendContent(LISTEN_TOOLS[0]?.content ?? '')).rejects.toMatchObject({ status: 400, param: 'messages' });
  expect(await sessions()).not.toContain('ann');
  expect(missed.at(-1)).toBe(true);
  await client.call('config.set', { key: 'chat.model', value: 'up/m' });
  await sendContent('Two');
  await expect(sendContent('Three')).rejects.toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    param: 'x',
    message: expect.stringContaining('No such parameter'),
  });
  await expect(sendContent('Four')).rejects.toMatchObject({ status: 429 });
  expect(await listContents()).toEqual(['Two', 'Well']);
  await sendContent('Five');
  const prompt = removeContext(bodies().at(-1)?.['messages'] as { content: string }[]);
  expect(prompt.slice(1).map(({ content }) => content)).toEqual(['Two', 'Well', 'Five']);
});
