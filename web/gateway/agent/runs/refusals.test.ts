import { expect } from 'vitest';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { verifies } from '../../../../tests/requirements.ts';
import { removeContext } from '../../../../tests/support/model-context.ts';
import {
  type ProviderRequest,
  toNamedEvents,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../../tests/support/fake-provider-server.ts';
import { createVendorGateway } from '../../../../tests/support/vendors.ts';

const REASON = 'This could do harm.';
const GREETING = [{ role: 'user' as const, content: 'Hi' }];

/** A Messages API server that says `text`, begins a call, and refuses in the middle of it. */
const createClaudeRefusal = (text: string, explanation?: string): Response =>
  createStreamResponse(
    toNamedEvents(
      { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
      ...(text === ''
        ? []
        : [
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
          ]),
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't', name: 'add', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
      {
        type: 'message_delta',
        delta: { stop_reason: 'refusal', ...(explanation ? { stop_details: { type: 'refusal', category: 'cyber', explanation } } : {}) },
        usage: { output_tokens: 5 },
      },
      { type: 'message_stop' },
    ),
  );
const createGeminiRefusal = (text: string): Response =>
  createStreamResponse(
    toUnnamedEvents({ candidates: [{ content: { parts: text === '' ? [] : [{ text }] }, finishReason: 'SAFETY', finishMessage: REASON }] }),
  );
const createBlockedResponse = (): Response =>
  createStreamResponse(toUnnamedEvents({ promptFeedback: { blockReason: 'OTHER' }, usageMetadata: { promptTokenCount: 4 } }));
/** A server of OpenAI's format, whose model refuses in two pieces. */
const createOpenaiRefusal = (): Response => {
  const piece = (delta: object, finish: string | null = null): object => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
  return createStreamResponse(
    toUnnamedEvents(piece({ role: 'assistant', refusal: 'I am sorry, ' }), piece({ refusal: 'no.' }), piece({}, 'stop')),
  );
};

/** A gateway whose vendors refuse like this; `claude` is its agent's model unless `model` is given. */
async function createRefusingGateway(answer: (asked: ProviderRequest) => Response, model = 'up/m') {
  const all = await createVendorGateway(answer);
  await all.client.call('config.patch', { patch: { providers: { up: { baseUrl: 'http://up.test/v1' } }, chat: { model } } });
  return all;
}

verifies('http.chat/refusal', 'of a model of any format, and of an agent, with a session or without', async () => {
  const { gw, openai } = await createRefusingGateway(({ url }) =>
    url.includes('up.test') ? createOpenaiRefusal() : url.includes('google') ? createGeminiRefusal('') : createClaudeRefusal('', REASON),
  );
  await using _ = gw;
  const no = { content: null, refusal: 'I am sorry, no.' };
  for (const [params, finish_reason, message] of [
    [{ model: 'claude/claude-opus-5-5' }, 'content_filter', { content: null, refusal: REASON }],
    [{ model: 'gemini/g' }, 'content_filter', { refusal: expect.stringMatching(/blocked the reply .*SAFETY: This could do harm\./) }],
    [{ model: 'perch/main' }, 'stop', no],
    [{ model: 'perch/main', user: 'ann' }, 'stop', no],
  ] as const) {
    const completion = await openai.chat.completions.create({ ...params, messages: GREETING });
    expect(completion.choices).toMatchObject([{ finish_reason, message }]);
    const stream = openai.chat.completions.stream({ ...params, messages: GREETING });
    const streamedDeltas: string[] = [];
    stream.on('refusal.delta', ({ delta }) => streamedDeltas.push(delta));
    expect((await stream.finalChatCompletion()).choices).toMatchObject([{ finish_reason, message }]);
    expect(streamedDeltas.join('')).toBe(completion.choices[0]?.message.refusal);
  }
  // The chat shows the original text.
  const { messages } = await gw.client().then(({ client }) => client.call('chat.history', { sessionId: 'ann' }));
  expect(messages.map(({ content }) => content)).toEqual(['Hi', 'I am sorry, no.', 'Hi', 'I am sorry, no.']);
});

verifies('http.chat/refusal', 'follows the text before it; calls are dropped, and a missing reason is filled in', async () => {
  const { gw, client, openai } = await createRefusingGateway(
    ({ url }) => (url.includes('google') ? createGeminiRefusal('Well') : createClaudeRefusal('Well')),
    'claude/claude-opus-5-5',
  );
  await using _ = gw;
  const refusal = expect.stringMatching(/safety reasons/);
  for (const params of [{ model: 'claude/claude-opus-5-5' }, { model: 'gemini/g' }, { model: 'perch/main', user: 'ann' }]) {
    const { choices } = await openai.chat.completions.create({ ...params, messages: GREETING });
    expect(choices).toMatchObject([{ finish_reason: 'content_filter', message: { content: 'Well', refusal } }]);
    expect(choices[0]?.message.tool_calls).toBeUndefined();
  }
  const { messages } = await client.call('chat.history', { sessionId: 'ann' });
  expect(messages.at(-1)?.content).toMatch(/^Well\n\nClaude declined .*safety reasons\.$/i);
});

verifies('http.chat/refusal', 'a prompt that is blocked is refused, with what it has used', async () => {
  const { gw, openai } = await createRefusingGateway(createBlockedResponse);
  await using _ = gw;
  const { choices, usage } = await openai.chat.completions.create({ model: 'gemini/g', messages: GREETING });
  expect(choices).toMatchObject([
    { finish_reason: 'content_filter', message: { refusal: expect.stringMatching(/blocked the request .*OTHER/) } },
  ]);
  expect(usage).toMatchObject({ prompt_tokens: 4 });
});

verifies('http.chat/refusal', 'a program may send it back as it came', async () => {
  const { gw, openai, bodies } = await createRefusingGateway(() => createOpenaiRefusal());
  await using _ = gw;
  const first = await openai.chat.completions.create({ model: 'perch/main', messages: GREETING });
  const refusalMessage = first.choices[0]?.message;
  if (!refusalMessage) throw new Error('nothing was said');
  await openai.chat.completions.create({ model: 'perch/main', messages: [...GREETING, refusalMessage, ...GREETING] });
  const secondPrompt = removeContext(bodies().at(-1)?.['messages'] as { role: string; content: unknown }[]);
  expect(secondPrompt.slice(1)).toEqual([...GREETING, { role: 'assistant', content: 'I am sorry, no.' }, ...GREETING]);
});

verifies('http.responses/refusal', 'is a part of the message, with events of its own', async () => {
  const { gw, openai } = await createRefusingGateway(({ url }) =>
    url.includes('up.test') ? createOpenaiRefusal() : createClaudeRefusal('Well', REASON),
  );
  await using _ = gw;
  for (const [model, status, content] of [
    ['up/m', 'completed', [{ type: 'refusal', refusal: 'I am sorry, no.' }]],
    ['perch/main', 'completed', [{ type: 'refusal', refusal: 'I am sorry, no.' }]],
    [
      'claude/claude-opus-5-5',
      'incomplete',
      [
        { type: 'output_text', text: 'Well' },
        { type: 'refusal', refusal: REASON },
      ],
    ],
  ] as const) {
    const response = await openai.responses.create({ model, input: 'Hi' });
    expect(response).toMatchObject({ status, output: [{ type: 'message', status, content }] });
    expect(response.incomplete_details).toEqual(status === 'completed' ? null : { reason: 'content_filter' });
    const events: ResponseStreamEvent[] = [];
    const stream = openai.responses.stream({ model, input: 'Hi' });
    for await (const event of stream) events.push(event);
    expect((await stream.finalResponse()).output).toMatchObject([{ status, content }]);
    const index = content.length - 1;
    const refused = events.flatMap((event) => (event.type.startsWith('response.refusal') ? [event] : []));
    const deltas = refused.slice(0, -1).map((event) => ('delta' in event ? event.delta : undefined));
    expect([deltas.join(''), refused.at(-1)]).toMatchObject([
      content[index]?.refusal,
      { type: 'response.refusal.done', content_index: index },
    ]);
    const types = events.map(({ type }) => type);
    expect(types.slice(types.indexOf('response.refusal.delta') - 1, -2)).toEqual([
      'response.content_part.added',
      ...deltas.map(() => 'response.refusal.delta'),
      'response.refusal.done',
      'response.content_part.done',
    ]);
    // A stored response can be continued.
    const next = await openai.responses.create({ model, input: 'Why?', previous_response_id: response.id });
    expect(next.status).toBe(status);
  }
});
