import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import {
  type ProviderRequest,
  toNamedEvents,
  collectOutcome,
  createFakeServer,
  createStreamResponse,
  type StreamOptions,
} from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Anthropic } from './anthropic.ts';
import { type ModelRequest, ProviderError } from './provider.ts';

const start = (usage: object = { input_tokens: 12, cache_read_input_tokens: 30, cache_creation_input_tokens: 5, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'claude-test', stop_reason: null, usage },
});
const begin = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const piece = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string, usage: object = { output_tokens: 9 }) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];
const TEXT = [
  start(),
  begin(0, { type: 'text', text: '' }),
  { type: 'ping' },
  piece(0, { type: 'text_delta', text: 'Hel' }),
  piece(0, { type: 'text_delta', text: 'lö 漢😀' }),
  stop(0),
  ...end('end_turn'),
];
const USAGE = { inputTokens: 47, outputTokens: 9, totalTokens: 56, cacheReadTokens: 30, cacheWriteTokens: 5 };

const createRequest = (rest: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'claude-opus-5-5',
  messages: [{ role: 'user', content: 'Hi' }],
  ...rest,
});

function anthropic(answer: (asked: ProviderRequest, count: number) => Response, clock = systemClock) {
  const { fetch, asked } = createFakeServer(answer);
  const provider = new Anthropic({
    id: 'a',
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1/',
    apiKey: 'sk-ant-1',
    fetch,
    clock,
  });
  return { provider, asked };
}

const getOutcome = (text: string, streaming?: StreamOptions, rest?: Partial<ModelRequest>) =>
  collectOutcome(anthropic(() => createStreamResponse(text, streaming)).provider, createRequest(rest));

describe('a valid stream', () => {
  verifies('providers/anthropic-stream', 'text, usage and finish; the key in a header alone', async () => {
    const { provider, asked } = anthropic(() => createStreamResponse(toNamedEvents(...TEXT)));
    const { events, error, text } = await collectOutcome(provider, createRequest({ temperature: 1.5, maxTokens: 50 }));
    expect(error).toBeUndefined();
    expect(text).toBe('Hellö 漢😀');
    expect(events.slice(-2)).toEqual([
      { type: 'usage', usage: USAGE },
      { type: 'finish', reason: 'stop' },
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ method: 'POST', url: 'https://api.anthropic.com/v1/messages' });
    expect(asked[0]?.headers).toMatchObject({
      'x-api-key': 'sk-ant-1',
      'anthropic-version': '2023-06-01',
      'anthropic-dangerous-direct-browser-access': 'true',
    });
    expect(asked[0]?.body).toEqual({
      model: 'claude-opus-5-5',
      max_tokens: 50,
      stream: true,
      temperature: 1,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
  });

  verifies('providers/anthropic-stream', 'thoughts, and tool calls side by side whose arguments come in pieces', async () => {
    const events = [
      start(),
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'Let me ' }),
      piece(0, { type: 'thinking_delta', thinking: 'see' }),
      piece(0, { type: 'signature_delta', signature: 'c2ln' }),
      stop(0),
      begin(1, { type: 'redacted_thinking', data: 'eHh4' }),
      stop(1),
      begin(2, { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} }),
      piece(2, { type: 'input_json_delta', partial_json: '' }),
      begin(3, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
      piece(2, { type: 'input_json_delta', partial_json: '{"a":' }),
      piece(2, { type: 'input_json_delta', partial_json: '1,"b":2}' }),
      stop(2),
      stop(3),
      ...end('tool_use'),
    ];
    const thoughts = [
      { type: 'thinking', thinking: 'Let me see', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'eHh4' },
    ];
    const answer = await getOutcome(toNamedEvents(...events));
    expect(answer.pendingCalls).toEqual([['add'], ['add'], ['add', 'now'], ['add', 'now'], ['add', 'now']]);
    expect(answer.events).toEqual([
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'see' },
      { type: 'tool_call', call: { id: 'toolu_1', tool: 'add', args: { a: 1, b: 2 } } },
      { type: 'tool_call', call: { id: 'toolu_2', tool: 'now', args: {} } },
      { type: 'keep', kept: { wire: 'anthropic', value: thoughts } },
      { type: 'usage', usage: USAGE },
      { type: 'finish', reason: 'tool_calls' },
    ]);
  });

  verifies('providers/anthropic-stream', 'a whole conversation is sent in the format', async () => {
    const { provider, asked } = anthropic(() => createStreamResponse(toNamedEvents(...TEXT)));
    const thoughts = [{ type: 'thinking', thinking: 'x', signature: 's' }];
    await collectOutcome(
      provider,
      createRequest({
        tools: [{ name: 'add', description: 'Adds', schema: { type: 'object', properties: { a: { type: 'number' } } } }],
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'assistant', content: 'cut off before' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image', mimeType: 'image/png', data: 'AA-_' },
              { type: 'image', mimeType: 'image/tiff', data: 'AAAA' },
              { type: 'file', mimeType: 'application/pdf', data: 'JVBERg', filename: 'a.pdf' },
              { type: 'file', mimeType: 'text/plain', data: btoa('notes'), filename: 'a.txt' },
            ],
          },
          {
            role: 'assistant',
            content: 'I add. ',
            kept: { wire: 'anthropic', value: thoughts },
            toolCalls: [
              { id: 'call:1', tool: 'add', args: { a: 1 } },
              { id: 'c2', tool: 'add', args: {} },
            ],
          },
          { role: 'tool', content: '2', toolCallId: 'call:1', name: 'add' },
          { role: 'tool', content: '3', toolCallId: 'c2', name: 'add' },
          { role: 'user', content: 'Thanks' },
          { role: 'assistant', content: '', kept: { wire: 'google', value: [{ text: 'not mine' }] } },
        ],
      }),
    );
    expect(asked[0]?.body).toEqual({
      model: 'claude-opus-5-5',
      max_tokens: 128_000,
      stream: true,
      system: 'Be brief',
      tools: [{ name: 'add', description: 'Adds', input_schema: { type: 'object', properties: { a: { type: 'number' } } } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA+/' } },
            { type: 'text', text: expect.stringContaining('image/tiff') },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg' }, title: 'a.pdf' },
            { type: 'text', text: 'File a.txt:\n\nnotes' },
          ],
        },
        {
          role: 'assistant',
          content: [
            ...thoughts,
            { type: 'text', text: 'I add.' },
            { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 1 } },
            { type: 'tool_use', id: 'c2', name: 'add', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: '2' },
            { type: 'tool_result', tool_use_id: 'c2', content: '3' },
            { type: 'text', text: 'Thanks' },
          ],
        },
      ],
    });
  });

  it.each([
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['stop_sequence', 'stop'],
    ['something_new', 'stop'],
  ])('that stops for %s finishes as %s', async (reason, finish) => {
    expect((await getOutcome(toNamedEvents(start(), ...end(reason)))).events.at(-1)).toEqual({ type: 'finish', reason: finish });
  });

  it('passes over events and blocks that are new', async () => {
    const odd = [{ type: 'new_event', x: 1 }, begin(7, { type: 'new_block', y: 2 }), piece(7, { type: 'new_delta', z: 3 })];
    expect(await getOutcome(toNamedEvents(start(), ...odd, ...TEXT.slice(1)))).toMatchObject({ text: 'Hellö 漢😀', error: undefined });
  });

  it('is over with its last event, though the connection stays open', async () => {
    const clock = new FakeClock();
    const { provider } = anthropic(() => createStreamResponse(toNamedEvents(...TEXT), { ends: 'stall' }), clock);
    expect(await collectOutcome(provider, createRequest())).toMatchObject({ text: 'Hellö 漢😀', error: undefined });
  });

  it('is whole without its last event', async () => {
    const clock = new FakeClock();
    const { provider } = anthropic(() => createStreamResponse(toNamedEvents(...TEXT.slice(0, -1)), { ends: 'stall' }), clock);
    const result = collectOutcome(provider, createRequest());
    await clock.waitForTimer(2000);
    clock.advance(2000);
    expect(await result).toMatchObject({ text: 'Hellö 漢😀', error: undefined });
  });

  it('does without what the model refuses: a limit too high, a temperature', async () => {
    const refusals = [
      'max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-x',
      '`temperature` is deprecated for this model.',
    ];
    const { provider, asked } = anthropic((_asked, count) => {
      const message = refusals[count - 1];
      if (message === undefined) return createStreamResponse(toNamedEvents(...TEXT));
      return Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 });
    });
    expect(await collectOutcome(provider, createRequest({ model: 'other', temperature: 1 }))).toMatchObject({ error: undefined });
    expect(asked.map(({ body }) => [body?.['max_tokens'], body?.['temperature']])).toEqual([
      [8192, 1],
      [4096, 1],
      [4096, undefined],
    ]);
  });
});

describe('a misbehaving server', () => {
  const error = (type: string, message = 'says so') => ({ type: 'error', error: { type, message } });
  const cases: [what: string, body: string, streaming: StreamOptions, kept: string, detail: object][] = [
    [
      'cut',
      toNamedEvents(...TEXT.slice(0, 4)),
      {},
      'Hel',
      { message: 'Anthropic closed the connection before its reply was complete.', retryable: true },
    ],
    ['cut within an event', toNamedEvents(...TEXT.slice(0, 5)).slice(0, -12), {}, 'Hel', { message: /closed the connection/ }],
    ['reset', toNamedEvents(...TEXT.slice(0, 4)), { ends: 'break' }, 'Hel', { message: /closed the connection/, retryable: true }],
    ['empty', '', {}, '', { message: /closed the connection/, retryable: true }],
    ['garbage', `${toNamedEvents(...TEXT.slice(0, 4))}data: }{\n\n`, {}, 'Hel', { message: /invalid JSON: \}\{/ }],
    ['odd', toNamedEvents(start(), begin(0, { type: 5 })), {}, '', { message: /event that couldn’t be read/ }],
    ['a piece of nothing', toNamedEvents(start(), piece(3, { type: 'text_delta', text: 'x' })), {}, '', { message: /unexpected part/ }],
    ['a page', '<!doctype html><title>Login</title>', {}, '', { message: /web page|invalid JSON/ }],
    ['whole and odd', JSON.stringify({ type: 'message', content: 5 }), {}, '', { message: /event that couldn’t be read/ }],
    [
      'overloaded',
      toNamedEvents(...TEXT.slice(0, 4), error('overloaded_error')),
      {},
      'Hel',
      { status: 529, retryable: true, message: /says so/ },
    ],
    ['bad', toNamedEvents(start(), error('invalid_request_error')), {}, '', { status: 400, retryable: false, isRequestFault: true }],
    [
      'broken arguments',
      toNamedEvents(
        start(),
        begin(0, { type: 'tool_use', id: 't', name: 'add' }),
        piece(0, { type: 'input_json_delta', partial_json: '{"a"' }),
        ...end('tool_use'),
      ),
      {},
      '',
      { message: /call of add with arguments that are not valid JSON/ },
    ],
  ];
  verifies('providers/hostile-anthropic', 'one clear error, what had come is kept', async () => {
    for (const [what, body, streaming, kept, { message, ...detail }] of cases as [
      string,
      string,
      StreamOptions,
      string,
      { message?: RegExp | string },
    ][]) {
      const { text, error: thrown, events } = await getOutcome(body, streaming);
      expect({ what, text }).toEqual({ what, text: kept });
      expect(thrown, what).toBeInstanceOf(ProviderError);
      expect(thrown, what).toMatchObject({ ...detail, ...(message ? { message: expect.stringMatching(message) as string } : {}) });
      expect(
        events.filter(({ type }) => type === 'finish'),
        what,
      ).toEqual([]);
    }
  });

  it.each([
    [401, 'authentication_error', { retryable: false, message: /rejected the API key \(HTTP 401\): says so/ }],
    [404, 'not_found_error', { retryable: false, message: /did not find the model/ }],
    [413, 'request_too_large', { retryable: false, isRequestFault: true }],
    [429, 'rate_limit_error', { retryable: true, retryAfterMs: 7000 }],
    [529, 'overloaded_error', { retryable: true }],
  ])('refuses with %i', async (status, type, { message, ...detail }: { message?: RegExp; retryable?: boolean }) => {
    const { provider } = anthropic(() => Response.json(error(type), { status, headers: status === 429 ? { 'retry-after': '7' } : {} }));
    const { error: thrown } = await collectOutcome(provider, createRequest());
    expect(thrown).toMatchObject({ status, ...detail, ...(message ? { message: expect.stringMatching(message) as string } : {}) });
  });

  it('says nothing for 60 s, and is hung up on', async () => {
    const clock = new FakeClock();
    const left = Promise.withResolvers<void>();
    const { provider, asked } = anthropic(
      () => createStreamResponse(toNamedEvents(...TEXT.slice(0, 4)), { ends: 'stall', onCancel: left.resolve }),
      clock,
    );
    const result = collectOutcome(provider, createRequest());
    while (asked.length === 0) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(60_000);
    expect(await result).toMatchObject({ text: 'Hel', error: { silent: true, message: 'Anthropic sent nothing for 60 s.' } });
    await left.promise;
  });

  it('is hung up on by the signal, whose reason is thrown', async () => {
    const abort = new AbortController();
    const left = Promise.withResolvers<void>();
    const { provider } = anthropic(() =>
      createStreamResponse(toNamedEvents(...TEXT.slice(0, 4)), { ends: 'stall', onCancel: left.resolve }),
    );
    const reason = new Error('stop');
    const seen: string[] = [];
    await expect(async () => {
      for await (const event of provider.stream(createRequest(), abort.signal)) {
        seen.push(event.type);
        abort.abort(reason);
      }
    }).rejects.toBe(reason);
    expect(seen).toEqual(['text']);
    await left.promise;
  });
});

verifies('providers/hostile-anthropic', 'any events in any pieces end in one finish or one ProviderError', async () => {
  const whole = toNamedEvents(...TEXT);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), async (cuts) => {
      expect(await getOutcome(whole, { cuts })).toMatchObject({ text: 'Hellö 漢😀', error: undefined });
    }),
    { numRuns: process.env.PERCH_LONG ? 2000 : 100 },
  );
  const events = [
    ...TEXT,
    begin(1, { type: 'tool_use', id: 't', name: 'a' }),
    piece(1, { type: 'input_json_delta', partial_json: '{' }),
    ...end('tool_use'),
    { type: 'error', error: { type: 'api_error', message: 'x' } },
    { type: 'message_start' },
    { type: 'content_block_delta', index: -1, delta: {} },
  ];
  const line = fc.oneof(
    fc.constantFrom(...events.map((event) => toNamedEvents(event))),
    fc.constantFrom('data: nope\n\n', ': ping\n', '\n', '{"type":"x"}', '\0'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 12 }), async (lines, cuts) => {
      const { events: got, error } = await getOutcome(lines.join(''), { cuts });
      const finished = got.filter(({ type }) => type === 'finish').length;
      if (error === undefined) expect([finished, got.at(-1)?.type]).toEqual([1, 'finish']);
      else {
        expect(error).toBeInstanceOf(ProviderError);
        expect(finished).toBe(0);
      }
    }),
    { numRuns: process.env.PERCH_LONG ? 5000 : 300 },
  );
});

describe('the list of models', () => {
  it('has all pages, with real limits, which the requests keep to', async () => {
    const first = {
      data: [
        {
          type: 'model',
          id: 'claude-new-9',
          display_name: 'Claude New 9',
          max_input_tokens: 2_000_000,
          max_tokens: 256_000,
          capabilities: { image_input: { supported: true }, thinking: { supported: false } },
        },
        { type: 'model', id: 'claude-old-1', display_name: 'Claude Old 1', created_at: '2024-01-01T00:00:00Z' },
        { odd: true },
      ],
      has_more: true,
      last_id: 'claude old/1',
    };
    const { provider, asked } = anthropic(({ url, method }) => {
      if (method === 'POST') return createStreamResponse(toNamedEvents(...TEXT));
      return Response.json(url.includes('after_id') ? { data: [{ id: 'claude-last' }], has_more: false } : first);
    });
    expect(await provider.models(new AbortController().signal)).toMatchObject([
      { id: 'claude-new-9', name: 'Claude New 9', contextWindow: 2_000_000, maxTokens: 256_000, vision: true, thinking: false },
      { id: 'claude-old-1', contextWindow: null, maxTokens: null, vision: null },
      { id: 'claude-last', name: null },
    ]);
    expect(asked.map(({ url }) => url)).toEqual([
      'https://api.anthropic.com/v1/models?limit=1000',
      'https://api.anthropic.com/v1/models?limit=1000&after_id=claude%20old%2F1',
    ]);
    await collectOutcome(provider, createRequest({ model: 'claude-new-9' }));
    expect(asked.at(-1)?.body).toMatchObject({ max_tokens: 256_000 });
  });

  it('is told from something else', async () => {
    const { provider } = anthropic(() => Response.json({ hello: 1 }));
    await expect(provider.models(new AbortController().signal)).rejects.toThrow(/does not list models at .*Check the base URL/);
  });
});
