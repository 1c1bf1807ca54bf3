import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { verifies } from '../../../tests/requirements.ts';
import { collectEvents, type ProviderOutcome } from '../../../tests/support/fake-provider-server.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../../../tests/test-upstream.ts';
import { createFetch } from '../ports/create-fetch.ts';
import { type Clock, systemClock } from '#shared/async/clock.ts';
import type { Fetch } from '../ports/fetch.ts';
import { RequestBreaker } from './request-breaker.ts';
import { OpenAiCompatible } from './openai-compatible.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';
import { retryStream } from './retry.ts';

const TEXT = UPSTREAM_TEXT.join('');
const realFetch: Fetch = (url, init) => fetch(url, init);
/** Back-off without delay. */
const clockWithoutBackoff: Clock = { ...systemClock, after: (ms, callback) => systemClock.after(ms >= 2000 ? ms : 0, callback) };

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

function provider(options: Partial<ConstructorParameters<typeof OpenAiCompatible>[0]> = {}): OpenAiCompatible {
  return new OpenAiCompatible({
    id: 'up',
    name: 'Upstream',
    baseUrl: upstream.url,
    fetch: realFetch,
    clock: clockWithoutBackoff,
    ...options,
  });
}

const createRequest = (model: string, rest: Partial<ModelRequest> = {}): ModelRequest => ({
  model,
  messages: [{ role: 'user', content: 'Hi' }],
  ...rest,
});

const run = (
  request: ModelRequest,
  options: Parameters<typeof provider>[0] = {},
  signal = new AbortController().signal,
): Promise<ProviderOutcome> =>
  collectEvents(() =>
    retryStream(() => provider(options).stream(request, signal), { clock: options.clock ?? clockWithoutBackoff, signal, random: () => 1 }),
  );

const lastRequest = () => upstream.requests.at(-1);

describe('a valid stream', () => {
  verifies('providers/openai-stream', 'text, usage and finish', async () => {
    const { events, error, text } = await run(createRequest('normal', { temperature: 0.5, maxTokens: 9 }));
    expect(error).toBeUndefined();
    expect(text).toBe(TEXT);
    expect(events.slice(-2)).toEqual([
      { type: 'usage', usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18, cacheReadTokens: 3 } },
      { type: 'finish', reason: 'stop' },
    ]);
    expect(lastRequest()?.body).toEqual({
      model: 'normal',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_tokens: 9,
    });
    expect(lastRequest()?.headers.authorization).toBeUndefined();
  });

  it.each([1, 2, 3, 7, 64])('is the same when it comes in pieces of %i bytes with CRLF', async (size) => {
    expect(await run(createRequest(`split-${size}`))).toMatchObject({ text: TEXT, error: undefined });
  });

  it('may come whole from a server that ignores `stream`', async () => {
    const { text, error, events } = await run(createRequest('whole'));
    expect({ text, error }).toEqual({ text: TEXT, error: undefined });
    expect(events.map(({ type }) => type)).toEqual(['text', 'usage', 'finish']);
  });

  it('gives reasoning apart from text', async () => {
    expect((await run(createRequest('reasoning'))).events).toEqual([
      { type: 'reasoning', text: 'Hmm' },
      { type: 'reasoning', text: ' so' },
      { type: 'text', text: 'Yes' },
      { type: 'finish', reason: 'stop' },
    ]);
  });

  it('assembles tool calls', async () => {
    const { events, pendingCalls } = await run(createRequest('tool'));
    expect(pendingCalls).toEqual([['get_weather'], ['get_weather'], ['get_weather']]);
    expect(events).toEqual([
      { type: 'tool_call', call: { id: 'call_1', tool: 'get_weather', args: { city: 'Köln' } } },
      { type: 'finish', reason: 'tool_calls' },
    ]);
    const plain = (await run(createRequest('tool-plain'))).events;
    expect(plain).toMatchObject([
      { type: 'tool_call', call: { tool: 'one', args: {} } },
      { type: 'tool_call', call: { tool: 'two', args: {} } },
      { type: 'finish', reason: 'tool_calls' },
    ]);
    expect(new Set(plain.flatMap((event) => (event.type === 'tool_call' ? [event.call.id] : []))).size).toBe(2);
  });

  it('of 10,000 deltas is complete and in order', async () => {
    const { text } = await run(createRequest('deltas-10000'));
    expect(text).toBe(Array.from({ length: 10_000 }, (_, i) => `w${i} `).join(''));
  });

  it('sends tools, tool results and pictures in the format', async () => {
    await run(
      createRequest('normal', {
        tools: [{ name: 'add', description: 'Adds', schema: { type: 'object' } }],
        messages: [
          { role: 'system', content: 'Be brief' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image', mimeType: 'image/png', data: 'AAAA' },
              { type: 'file', mimeType: 'text/plain', data: btoa('notes'), filename: 'a.txt' },
              { type: 'file', mimeType: 'application/zip', data: 'AAAA', filename: 'b.zip' },
            ],
          },
          { role: 'assistant', content: '', toolCalls: [{ id: 'c1', tool: 'add', args: { a: 1 } }] },
          { role: 'tool', content: '2', toolCallId: 'c1', name: 'add' },
        ],
      }),
    );
    expect(lastRequest()?.body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters: { type: 'object' } } }],
      messages: [
        { role: 'system', content: 'Be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'File a.txt:\n\nnotes' },
            { type: 'text', text: expect.stringContaining('b.zip') },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }] },
        { role: 'tool', content: '2', tool_call_id: 'c1' },
      ],
    });
  });

  it('does without what the server refuses', async () => {
    expect((await run(createRequest('strict', { temperature: 1 }))).text).toBe(TEXT);
    expect(lastRequest()?.body).toEqual({ model: 'strict', messages: [{ role: 'user', content: 'Hi' }], stream: true, temperature: 1 });
  });

  it('is read to its end after [DONE], so that the connection serves again, for a second at most', async () => {
    for (const ends of [true, false]) {
      const clock = new FakeClock();
      const left = Promise.withResolvers<string>();
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) =>
            controller.enqueue(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n')),
          pull(controller) {
            if (!ends) return new Promise(() => {});
            controller.close();
            left.resolve('read to the end');
          },
          cancel: () => left.resolve('cancelled'),
        },
        { highWaterMark: 0 },
      );
      expect((await run(createRequest('x'), { fetch: () => Promise.resolve(new Response(body)), clock })).text).toBe('Hi');
      if (!ends) clock.advance(1000);
      expect(await left.promise).toBe(ends ? 'read to the end' : 'cancelled');
    }
  });
});

describe('a misbehaving upstream', () => {
  const cases: [mode: string, kept: string, says: RegExp][] = [
    ['cut', 'Hel', /Upstream closed the connection/],
    ['cut-event', 'Hel', /Upstream closed the connection/],
    ['reset', 'Hel', /Upstream closed the connection/],
    ['empty', '', /Upstream closed the connection/],
    ['garbage', 'Hel', /Upstream sent invalid JSON: \}\{ not json/],
    ['odd', 'Hel', /Upstream sent a chunk that couldn’t be read/],
    ['huge', '', /too large/],
    ['html', '', /web page/],
    ['error-inside', 'Hel', /Upstream reported an error: out of memory/],
    ['tool-broken', '', /call of one with arguments that are not valid JSON/],
    ['error-401', '', /rejected the API key \(HTTP 401\): upstream says 401/],
    ['error-text', '', /rejected the request \(HTTP 400\): no such thing/],
    ['unknown', '', /did not find the model or URL \(HTTP 404\): model 'unknown' not found/],
  ];
  verifies('providers/hostile-upstream', 'one clear error, what had come is kept', async () => {
    for (const [mode, kept, says] of cases) {
      const { text, error, events } = await run(createRequest(mode));
      expect({ mode, text }).toEqual({ mode, text: kept });
      expect(error, mode).toBeInstanceOf(ProviderError);
      expect(error, mode).toMatchObject({ message: expect.stringMatching(says) });
      expect(
        events.some(({ type }) => type === 'finish'),
        mode,
      ).toBe(false);
    }
  });

  verifies('providers/hostile-upstream', 'that is not found without its version is asked for with it', async () => {
    const answers = [new Response('404 page not found', { status: 404 }), new Response('<html>'), new Response('no', { status: 404 })];
    const told = async (baseUrl: string): Promise<unknown> => {
      const options = {
        id: 'x',
        name: 'Upstream',
        baseUrl,
        fetch: async () => answers.shift() ?? Response.error(),
        clock: new FakeClock(),
      };
      return new OpenAiCompatible(options).models(new AbortController().signal).catch((error: Error) => error.message);
    };
    expect(await told('http://127.0.0.1:1234')).toBe(
      'Upstream did not find the model or URL (HTTP 404): 404 page not found. The base URL may need /v1 at the end: http://127.0.0.1:1234/v1',
    );
    expect(await told('http://127.0.0.1:1234/')).toMatch(/Check the base URL\. The base URL may need \/v1 at the end/);
    expect(await told('http://127.0.0.1:1234/v1')).toBe('Upstream did not find the model or URL (HTTP 404): no.');
  });

  verifies('chat/unreadable-arguments', 'come with their call where the caller tells the model', async () => {
    const { events, error } = await run(createRequest('tool-broken', { reportsUnread: true }));
    expect(error).toBeUndefined();
    const [call] = events.filter((event) => event.type === 'tool_call');
    expect(call).toMatchObject({ call: { tool: 'one', args: {} }, unread: expect.stringMatching(/^are not valid JSON: /) as string });
  });

  it.each([429, 500, 503])('is asked three times in all when it answers %i', async (status) => {
    const before = upstream.requests.length;
    const { error } = await run(createRequest(`error-${status}`));
    expect(error).toMatchObject({ status, retryable: true, message: expect.stringContaining(`upstream says ${status}`) });
    expect(upstream.requests.length - before).toBe(3);
  });

  it('is asked once when asking again cannot help', async () => {
    for (const mode of ['error-400', 'error-401', 'error-501', 'quota']) {
      const before = upstream.requests.length;
      expect((await run(createRequest(mode))).error, mode).toBeInstanceOf(ProviderError);
      expect(upstream.requests.length - before, mode).toBe(1);
    }
  });

  it('may come back in time', async () => {
    upstream.queue.push('error-503', 'hangup', 'normal');
    expect(await run(createRequest('any'))).toMatchObject({ text: TEXT, error: undefined });
  });

  it('tells of a bad gateway page by its title', async () => {
    expect((await run(createRequest('error-page'))).error).toMatchObject({
      status: 502,
      message: expect.stringContaining('"Bad Gateway"'),
    });
  });

  it('that nobody runs is told by name and address', async () => {
    const gone = await startUpstream();
    await gone.close();
    const { error } = await run(createRequest('x'), { baseUrl: gone.url });
    expect(error).toMatchObject({
      message: `Couldn’t reach Upstream at ${gone.url}: it is not running, or it does not allow requests from this page.`,
      retryable: true,
    });
  });

  it('elsewhere that cannot be reached may also lie behind a network that is not there', async () => {
    const { error } = await run(createRequest('x'), {
      baseUrl: 'https://models.example/v1',
      fetch: () => Promise.reject(new TypeError('Failed to fetch')),
    });
    expect(error).toMatchObject({
      message:
        'Couldn’t reach Upstream at https://models.example/v1: there is no network, it is not running, or it does not allow requests from this page.',
    });
  });

  it('that is asked through a bridge which is away is told so, and not taken for one that fails', async () => {
    const gone = await startUpstream();
    await gone.close();
    const { origin } = new URL(gone.url);
    let isBridgeAway = true;
    const fetch = createFetch({ getAllowedOrigins: () => new Set([origin]), getEgress: () => null, isBridgeAway: () => isBridgeAway });
    const breaker = new RequestBreaker('Upstream', systemClock, () => ({ failures: 1, pauseMs: 60_000 }));
    const tried = (): Promise<ProviderOutcome> => run(createRequest('x'), { baseUrl: gone.url, fetch, breaker });
    expect((await tried()).error).toMatchObject({
      message: `Couldn’t reach Upstream at ${gone.url}: Perch on your computer is not running; start it with \`perch gateway run\`.`,
      retryable: true,
    });
    expect(breaker.pauseState).toBeUndefined();
    isBridgeAway = false;
    await tried();
    expect(breaker.pauseState).toBeDefined();
  });

  it('is waited for as long as it asks, up to 60 s', async () => {
    const clock = new FakeClock();
    upstream.queue.push('error-429', 'normal');
    const result = run(createRequest('any'), { clock });
    await clock.waitForTimer(1000);
    clock.advance(999);
    expect(clock.pending()).toBeGreaterThan(0);
    clock.advance(1);
    expect((await result).text).toBe(TEXT);

    const impatient: Fetch = () => Promise.resolve(new Response('{}', { status: 429, headers: { 'retry-after': '61' } }));
    expect((await run(createRequest('x'), { fetch: impatient, clock: new FakeClock() })).error).toMatchObject({ retryAfterMs: 61_000 });
  });

  it('hides the key that the server quotes', async () => {
    await using strict = await startUpstream({ apiKey: 'sk-right' });
    const { error } = await run(createRequest('normal'), { baseUrl: strict.url, apiKey: 'sk-wrong-secret' });
    expect(error).toMatchObject({ status: 401, message: expect.not.stringContaining('sk-wrong-secret') });
    expect(await run(createRequest('normal'), { baseUrl: strict.url, apiKey: 'sk-right' })).toMatchObject({ text: TEXT });
  });
});

describe('silence', () => {
  it('ends the stream after 60 s, and reaches the upstream', async () => {
    for (const [mode, text] of [
      ['stall', 'Hel'],
      ['silent', ''],
    ] as const) {
      const clock = new FakeClock();
      const before = upstream.requests.filter(({ method }) => method === 'POST').length;
      const seen = Promise.withResolvers<void>();
      const events: ModelEvent[] = [];
      const result = (async () => {
        for await (const event of provider({ clock }).stream(createRequest(mode), new AbortController().signal)) {
          events.push(event);
          seen.resolve();
        }
      })();
      const request = await upstream.request(before + 1);
      if (text !== '') await seen.promise;
      // Silence counts only while a reader waits for more.
      await new Promise(setImmediate);
      clock.advance(60_000);
      await expect(result).rejects.toMatchObject({ name: 'ProviderError', message: 'Upstream sent nothing for 60 s.' });
      await request.closed;
      expect(request.hungUp).toBe(true);
      expect(events).toEqual(text === '' ? [] : [{ type: 'text', text }]);
      expect(clock.pending()).toBe(0);
    }
  });

  it('after the finish reason is no failure: only the trailer is missing', async () => {
    const clock = new FakeClock();
    const result = run(createRequest('stall-end'), { clock });
    await clock.waitForTimer(2000);
    clock.advance(2000);
    const { text, error, events } = await result;
    expect({ text, error }).toEqual({ text: 'Hello', error: undefined });
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
  });
});

describe('abort', () => {
  verifies('chat.abort/reaches-provider', 'the upstream sees the connection close, the stream throws the reason', async () => {
    for (const mode of ['endless', 'stall', 'silent']) {
      const before = upstream.requests.filter(({ method }) => method === 'POST').length;
      const abort = new AbortController();
      const reason = new Error('stop');
      const result = run(createRequest(mode), {}, abort.signal);
      const request = await upstream.request(before + 1);
      abort.abort(reason);
      expect((await result).error).toBe(reason);
      await request.closed;
      expect(request.hungUp).toBe(true);
    }
  });

  it('ends a wait between tries', async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    upstream.queue.push('error-503');
    const result = run(createRequest('any'), { clock }, abort.signal);
    await clock.waitForTimer(600);
    abort.abort(new Error('stop'));
    expect((await result).error).toMatchObject({ message: 'stop' });
    expect(clock.pending()).toBe(0);
  });

  it('before the start asks nobody', async () => {
    const before = upstream.requests.length;
    expect((await run(createRequest('normal'), {}, AbortSignal.abort(new Error('stop')))).error).toMatchObject({ message: 'stop' });
    expect(upstream.requests.length).toBe(before);
  });

  it('works where the transport does not listen', async () => {
    const deaf: Fetch = () => Promise.resolve(new Response(new ReadableStream({ pull: () => new Promise(() => {}) })));
    const abort = new AbortController();
    const result = run(createRequest('x'), { fetch: deaf }, abort.signal);
    abort.abort(new Error('stop'));
    expect((await result).error).toMatchObject({ message: 'stop' });
    const never: Fetch = () => new Promise(() => {});
    const second = new AbortController();
    const waiting = run(createRequest('x'), { fetch: never }, second.signal);
    second.abort(new Error('stop'));
    expect((await waiting).error).toMatchObject({ message: 'stop' });
  });

  it('is what leaving early does to the upstream', async () => {
    const before = upstream.requests.filter(({ method }) => method === 'POST').length;
    for await (const event of provider().stream(createRequest('endless'), new AbortController().signal)) if (event.type === 'text') break;
    const request = await upstream.request(before + 1);
    await request.closed;
    expect(request.hungUp).toBe(true);
  });
});

it('any bytes in any pieces end in one finish or one ProviderError', async () => {
  const line = fc.constantFrom(
    'data: {"choices":[{"delta":{"content":"é漢"}}]}',
    'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}',
    'data: {"choices":[],"usage":{"prompt_tokens":1}}',
    'data: [DONE]',
    'data: {"error":"x"}',
    'data: nope',
    ': ping',
    '',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{"}}]}}]}',
    '{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}',
    '<html>',
    '\u0000',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.constantFrom('\n', '\n\n', '\r\n'),
      async (lines, cuts, end) => {
        const bytes = new TextEncoder().encode(lines.join(end) + end);
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (let i = 1; i < at.length; i++) controller.enqueue(bytes.slice(at[i - 1], at[i]));
            controller.close();
          },
        });
        const { events, error } = await run(createRequest('x'), { fetch: () => Promise.resolve(new Response(body)) });
        const finished = events.filter(({ type }) => type === 'finish').length;
        if (error === undefined) expect([finished, events.at(-1)?.type]).toEqual([1, 'finish']);
        else {
          expect(error).toBeInstanceOf(ProviderError);
          expect(finished).toBe(0);
        }
      },
    ),
    { numRuns: process.env.PERCH_LONG ? 5000 : 300 },
  );
});
