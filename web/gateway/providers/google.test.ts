import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import {
  type ProviderRequest,
  collectOutcome,
  createFakeServer,
  createStreamResponse,
  type StreamOptions,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Google } from './google.ts';
import { type ModelRequest, ProviderError } from './provider.ts';

const chunk = (parts: object[], finishReason?: string, usageMetadata?: object) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) }],
  ...(usageMetadata ? { usageMetadata } : {}),
  modelVersion: 'gemini-test',
  responseId: 'r1',
});
const COUNTS = {
  promptTokenCount: 40,
  cachedContentTokenCount: 30,
  candidatesTokenCount: 6,
  thoughtsTokenCount: 4,
  totalTokenCount: 50,
};
const TEXT = [
  chunk([{ text: 'Hel' }], undefined, { promptTokenCount: 40 }),
  chunk([{ text: 'lö 漢😀' }]),
  chunk([{ text: '' }], 'STOP', COUNTS),
];
const USAGE = { inputTokens: 40, outputTokens: 10, totalTokens: 50, cacheReadTokens: 30 };

const createRequest = (rest: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'gemini-3.8-flash',
  messages: [{ role: 'user', content: 'Hi' }],
  ...rest,
});

function google(answer: (asked: ProviderRequest, count: number) => Response, clock = systemClock) {
  const { fetch, asked } = createFakeServer(answer);
  const baseUrl = 'https://generativelanguage.googleapis.com/v1beta';
  return { provider: new Google({ id: 'g', name: 'Google', baseUrl, apiKey: 'AIza-1', fetch, clock }), asked };
}

const getOutcome = (text: string, streaming?: StreamOptions) =>
  collectOutcome(google(() => createStreamResponse(text, streaming)).provider, createRequest());

describe('a valid stream', () => {
  verifies('providers/google-stream', 'text, usage and finish; the key in a header alone', async () => {
    const { provider, asked } = google(() => createStreamResponse(toUnnamedEvents(...TEXT)));
    const { events, error, text } = await collectOutcome(
      provider,
      createRequest({ model: 'models/gemini-3.8-flash', temperature: 0.5, maxTokens: 50 }),
    );
    expect(error).toBeUndefined();
    expect(text).toBe('Hellö 漢😀');
    expect(events.slice(-2)).toEqual([
      { type: 'usage', usage: USAGE, reasoningTokens: 4 },
      { type: 'finish', reason: 'stop' },
    ]);
    const [one] = asked;
    expect(one?.url).toBe('https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse');
    expect(one?.headers['x-goog-api-key']).toBe('AIza-1');
    expect(one?.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { temperature: 0.5, maxOutputTokens: 50 },
    });
  });

  verifies('providers/google-stream', 'thoughts, and tool calls side by side; the signed turn goes back as it came', async () => {
    const first = { functionCall: { id: 'f1', name: 'add', args: { a: 1 } }, thoughtSignature: 'c2ln' };
    const second = { functionCall: { name: 'now' } };
    const { events, pendingCalls, error } = await getOutcome(
      toUnnamedEvents(
        chunk([{ text: 'Let me ', thought: true }]),
        chunk([{ text: 'see', thought: true }]),
        chunk([{ text: 'I ' }]),
        chunk([{ text: 'add' }, first]),
        chunk([second], 'STOP', COUNTS),
      ),
    );
    expect(error).toBeUndefined();
    expect(pendingCalls).toEqual([['add'], ['add', 'now']]);
    expect(events).toEqual([
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'see' },
      { type: 'text', text: 'I ' },
      { type: 'text', text: 'add' },
      { type: 'tool_call', call: { id: 'f1', tool: 'add', args: { a: 1 } } },
      { type: 'tool_call', call: { id: expect.stringMatching(/^call_/), tool: 'now', args: {} } },
      { type: 'keep', kept: { wire: 'google', value: [{ text: 'Let me see', thought: true }, { text: 'I add' }, first, second] } },
      { type: 'usage', usage: USAGE, reasoningTokens: 4 },
      { type: 'finish', reason: 'tool_calls' },
    ]);
  });

  verifies('providers/google-stream', 'a whole conversation is sent in the format', async () => {
    const { provider, asked } = google(() => createStreamResponse(toUnnamedEvents(...TEXT)));
    const signed = [{ functionCall: { name: 'add', args: {} }, thoughtSignature: 'c2ln' }];
    const calls = [
      { id: 'c1', tool: 'add', args: { a: 1 } },
      { id: 'c2', tool: 'now', args: {} },
    ];
    const schema = { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false };
    await collectOutcome(
      provider,
      createRequest({
        model: '../x?key=1#/gemini',
        tools: [{ name: 'add', description: 'Adds', schema }],
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'tool', content: 'cut off before', toolCallId: 'c0' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image', mimeType: 'image/png', data: 'AA-_' },
              { type: 'file', mimeType: 'application/pdf', data: 'JVBERg', filename: 'a.pdf' },
              { type: 'file', mimeType: 'text/plain', data: btoa('notes'), filename: 'a.txt' },
            ],
          },
          { role: 'assistant', content: 'I add', toolCalls: calls },
          { role: 'tool', content: '2', toolCallId: 'c1' },
          { role: 'tool', content: '{"time":"noon"}', toolCallId: 'c2', name: 'now' },
          { role: 'assistant', content: '', toolCalls: calls.slice(0, 1), kept: { wire: 'google', value: signed } },
          { role: 'tool', content: 'not json', toolCallId: 'c1', name: 'add' },
        ],
      }),
    );
    expect(new URL(asked[0]?.url ?? '').pathname).toBe('/v1beta/models/..%2Fx%3Fkey%3D1%23%2Fgemini:streamGenerateContent');
    expect(asked[0]?.body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief' }] },
      tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds', parametersJsonSchema: schema }] }],
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'See' },
            { inlineData: { mimeType: 'image/png', data: 'AA+/' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBERg' } },
            { text: 'File a.txt:\n\nnotes' },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'I add' },
            { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'skip_thought_signature_validator' },
            { functionCall: { name: 'now', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'add', response: { result: 2 } } },
            { functionResponse: { name: 'now', response: { time: 'noon' } } },
          ],
        },
        { role: 'model', parts: signed },
        { role: 'user', parts: [{ functionResponse: { name: 'add', response: { result: 'not json' } } }] },
      ],
    });
  });

  it.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['SOMETHING_NEW', 'stop'],
  ])('that ends with %s finishes as %s', async (reason, finish) => {
    expect((await getOutcome(toUnnamedEvents(chunk([{ text: 'x' }]), chunk([], reason)))).events.at(-1)).toEqual({
      type: 'finish',
      reason: finish,
    });
  });

  it('that is blocked says so, and nothing of it is to be done', async () => {
    const call = chunk([{ functionCall: { name: 'a', args: {} } }]);
    for (const [why, ...chunks] of [
      ['request', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'No' } }],
      ['reply', call, chunk([], 'PROHIBITED_CONTENT')],
    ] as const) {
      const { events, error } = await getOutcome(toUnnamedEvents(...chunks));
      expect(error).toBeUndefined();
      expect(events).toEqual([
        { type: 'refusal', text: expect.stringContaining(`Google blocked the ${why} for safety reasons (PROHIBITED_CONTENT`) },
        { type: 'finish', reason: 'content_filter' },
      ]);
    }
  });

  it('is whole where the connection stays open after the finish', async () => {
    const clock = new FakeClock();
    const { provider } = google(() => createStreamResponse(toUnnamedEvents(...TEXT), { ends: 'stall' }), clock);
    const result = collectOutcome(provider, createRequest());
    await clock.waitForTimer(2000);
    clock.advance(2000);
    expect(await result).toMatchObject({ text: 'Hellö 漢😀', error: undefined });
  });
});

describe('a misbehaving server', () => {
  const inside = { error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' } };
  const cases: [what: string, body: string, streaming: StreamOptions, kept: string, message: RegExp, detail: object][] = [
    ['cut', toUnnamedEvents(...TEXT.slice(0, 2)), {}, 'Hellö 漢😀', /^Google closed the connection/, { retryable: true }],
    ['cut within an event', toUnnamedEvents(...TEXT.slice(0, 2)).slice(0, -12), {}, 'Hel', /closed the connection/, {}],
    ['reset', toUnnamedEvents(TEXT[0]), { ends: 'break' }, 'Hel', /closed the connection/, { retryable: true }],
    ['empty', '', {}, '', /closed the connection/, { retryable: true }],
    ['garbage', `${toUnnamedEvents(TEXT[0])}data: }{\n\n`, {}, 'Hel', /invalid JSON/, {}],
    ['odd', toUnnamedEvents({ candidates: [{ content: { parts: [{ text: 5 }] } }] }), {}, '', /couldn’t be read/, {}],
    [
      'an error inside',
      toUnnamedEvents(TEXT[0], inside),
      {},
      'Hel',
      /reported an error: The model is overloaded/,
      { status: 503, retryable: true },
    ],
    ['a broken call', toUnnamedEvents(chunk([], 'MALFORMED_FUNCTION_CALL')), {}, '', /invalid tool call/, { retryable: true }],
  ];
  verifies('providers/hostile-google', 'one clear error, what had come is kept', async () => {
    for (const [what, body, streaming, kept, message, detail] of cases) {
      const { text, error, events } = await getOutcome(body, streaming);
      expect({ what, text }).toEqual({ what, text: kept });
      expect(error, what).toBeInstanceOf(ProviderError);
      expect(error, what).toMatchObject({ ...detail, message: expect.stringMatching(message) as string });
      expect(
        events.filter(({ type }) => type === 'finish'),
        what,
      ).toEqual([]);
    }
  });

  const refused = (status: number, message: string, details: object[] = []) =>
    google(() => new Response(JSON.stringify([{ error: { code: status, message, status: 'X', details } }]), { status })).provider;

  it('wants another key, which it says with 400', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
    const { error } = await collectOutcome(refused(400, 'API key not valid: AIza-1', details), createRequest());
    expect(error).toMatchObject({
      status: 401,
      isRequestFault: false,
      message: 'Google rejected the API key (HTTP 400): API key not valid: ***',
    });
  });

  it('says within the body how long to wait', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.2s' }];
    const { error } = await collectOutcome(refused(429, 'Quota', details), createRequest());
    expect(error).toMatchObject({ status: 429, retryable: true, retryAfterMs: 34_200 });
  });

  it('says nothing for 60 s', async () => {
    const clock = new FakeClock();
    const { provider, asked } = google(() => createStreamResponse(toUnnamedEvents(TEXT[0]), { ends: 'stall' }), clock);
    const result = collectOutcome(provider, createRequest());
    while (asked.length === 0) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(60_000);
    expect(await result).toMatchObject({ text: 'Hel', error: { silent: true } });
  });
});

verifies('providers/hostile-google', 'any chunks in any pieces end in one finish or one ProviderError', async () => {
  const whole = toUnnamedEvents(...TEXT);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), async (cuts) => {
      expect(await getOutcome(whole, { cuts })).toMatchObject({ text: 'Hellö 漢😀', error: undefined });
    }),
    { numRuns: process.env.PERCH_LONG ? 2000 : 100 },
  );
  const chunks = [
    ...TEXT,
    chunk([{ functionCall: { name: 'a', args: {} } }]),
    chunk([], 'SAFETY'),
    { error: { message: 'x' } },
    { candidates: null, usageMetadata: {} },
    { promptFeedback: { blockReason: 'OTHER' } },
  ];
  const line = fc.oneof(
    fc.constantFrom(...chunks.map((each) => toUnnamedEvents(each))),
    fc.constantFrom('data: nope\n\n', ': ping\n', '[{}]', '\0', 'data: [DONE]\n\n'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 12 }), async (lines, cuts) => {
      const { events, error } = await getOutcome(lines.join(''), { cuts });
      const finished = events.filter(({ type }) => type === 'finish').length;
      if (error === undefined) expect([finished, events.at(-1)?.type]).toEqual([1, 'finish']);
      else {
        expect(error).toBeInstanceOf(ProviderError);
        expect(finished).toBe(0);
      }
    }),
    { numRuns: process.env.PERCH_LONG ? 5000 : 300 },
  );
});

it('the list of models has all pages, with real limits, and nothing that does not chat', async () => {
  const pages: Record<string, object> = {
    '': {
      models: [
        {
          name: 'models/gemini-3.8-flash',
          displayName: 'Gemini 3.8 Flash',
          inputTokenLimit: 1_048_576,
          outputTokenLimit: 65_536,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
          thinking: true,
        },
        { name: 'models/gemini-embedding-2', supportedGenerationMethods: ['embedContent'] },
        { name: 'models/gemini-2.5-flash-image', supportedGenerationMethods: ['generateContent'] },
        { odd: 1 },
      ],
      nextPageToken: 'a b',
    },
    '&pageToken=a%20b': { models: [{ name: 'models/gemma-4-31b-it' }] },
  };
  const { provider, asked } = google(({ url }) => Response.json(pages[url.split('pageSize=1000')[1] ?? '']));
  expect(await provider.models(new AbortController().signal)).toMatchObject([
    { id: 'gemini-3.8-flash', name: 'Gemini 3.8 Flash', contextWindow: 1_048_576, maxTokens: 65_536, thinking: true, price: null },
    { id: 'gemma-4-31b-it', name: null },
  ]);
  expect(asked).toHaveLength(2);
  await expect(google(() => Response.json({ hello: 1 })).provider.models(new AbortController().signal)).rejects.toThrow(
    /does not list models/,
  );
});
