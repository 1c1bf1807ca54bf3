import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SseScanner } from '#shared/http/sse.ts';
import type { Scope } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { UPSTREAM_LIMITS } from '#shared/upstream-limits.ts';
import { FakeClock } from '../../../../tests/support/clock.ts';
import { memoryCollection } from '../../../../tests/support/memory-collection.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../../../../tests/upstream.ts';
import { systemClock } from '../clock.ts';
import { GuideProvider } from '../guide/guide.ts';
import { type ModelEvent, ProviderError } from '../providers/provider.ts';
import { Providers } from '../providers/providers.ts';
import type { HttpAgentRun, HttpDeps } from './deps.ts';
import { createHttp } from './http.ts';
import { sessionOf } from './target.ts';

const TEXT = UPSTREAM_TEXT.join('');
const BASE = 'http://127.0.0.1:7333';
/** Back-off without its waiting. */
const hasty = { ...systemClock, after: (ms: number, callback: () => void) => systemClock.after(ms >= 2000 ? ms : 0, callback) };

/** What fails here on purpose is asked again at once. */
const limits = () => ({ ...UPSTREAM_LIMITS, failures: 0 });

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

type Recorded = Parameters<NonNullable<HttpDeps['record']>>[0];
const recorded: Recorded[] = [];
const faults: unknown[] = [];
const noted: Record<string, unknown>[] = [];
const runs: HttpAgentRun[] = [];
/** What the agent does next. */
let agent: (run: HttpAgentRun) => AsyncIterable<ModelEvent>;

async function* script(...events: (ModelEvent | Error)[]): AsyncGenerator<ModelEvent> {
  for (const event of events) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

beforeEach(() => {
  recorded.length = noted.length = faults.length = runs.length = 0;
  agent = () => script({ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, { type: 'finish', reason: 'stop' });
});

function handler(clock = hasty, id = 'owner'): (request: Request, scopes?: Scope[]) => Promise<Response> {
  const sources = { memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) };
  const guide = new GuideProvider({ clock: systemClock, sources, paceMs: 0 });
  const providers = new Providers({ guide, fetch: (url, init) => fetch(url, init), clock, localServers: [], limits });
  providers.configure([{ id: 'up', name: 'Upstream', baseUrl: upstream.url }]);
  const http = createHttp({
    agents: {
      list: () => [{ id: 'main' }, { id: 'helper' }],
      run(run) {
        runs.push(run);
        return agent(run);
      },
    },
    providers,
    responses: memoryCollection(),
    clock: systemClock,
    fault(error) {
      faults.push(error);
      return new RpcError('INTERNAL_ERROR', 'Something went wrong (id)', { details: { id: 'id' } });
    },
    record: (call) => recorded.push(call),
    note: (level, message, fields) => noted.push({ level, message, ...fields }),
  });
  return (request, scopes = ['admin']) => http(request, { id, scopes });
}

const http = (): ReturnType<typeof handler> => handler();

function post(body: unknown, init: RequestInit = {}): Request {
  return new Request(`${BASE}/v1/chat/completions`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: { 'content-type': 'application/json', ...init.headers },
  });
}

const hi = [{ role: 'user', content: 'Hi' }];
const errorBody = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string().nullable() }),
});
const readError = async (response: Response) => errorBody.parse(await response.json()).error;

async function streamOf(response: Response): Promise<string[]> {
  const scanner = new SseScanner();
  const bytes = new Uint8Array(await response.arrayBuffer());
  return [...scanner.push(bytes), ...scanner.end()].map(({ data }) => data);
}

const chunkShape = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.object({ index: z.number(), delta: z.record(z.string(), z.unknown()), logprobs: z.null(), finish_reason: z.string().nullable() }),
  ),
  usage: z.record(z.string(), z.unknown()).nullish(),
});

const client = (fetchFrom = http()): OpenAI =>
  new OpenAI({ baseURL: `${BASE}/v1`, apiKey: 'token', maxRetries: 0, fetch: (url, init) => fetchFrom(new Request(url, init)) });

describe('an agent', () => {
  verifies(['http.chat/completion', 'http.chat/agent-and-direct'], 'answers whole', async () => {
    agent = () =>
      script(
        { type: 'text', text: 'Hi' },
        { type: 'usage', usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 } },
        { type: 'finish', reason: 'length' },
      );
    const response = await http()(
      post({ model: 'perch/helper', messages: [{ role: 'developer', content: 'Be brief' }, ...hi], temperature: 0.3, max_tokens: 5 }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion',
      created: expect.closeTo(Date.now() / 1000, -2),
      model: 'perch/helper',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'length' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      system_fingerprint: null,
    });
    expect(runs).toMatchObject([
      {
        agentId: 'helper',
        principal: 'owner',
        sessionId: undefined,
        wishes: { temperature: 0.3, maxTokens: 5 },
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ]);
  });

  verifies('http.chat/stream', 'streams chunks, role first, one [DONE]', async () => {
    const response = await http()(post({ model: 'main', messages: hi, stream: true, stream_options: { include_usage: true } }));
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const data = await streamOf(response);
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = data.slice(0, -1).map((each) => chunkShape.parse(JSON.parse(each)));
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hel' },
      { content: 'lo' },
      {},
      undefined,
    ]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, 'stop', undefined]);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 2 });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('keeps its tool calls to itself', async () => {
    agent = () =>
      script(
        { type: 'tool_call', call: { id: 'c', tool: 't', args: {} } },
        { type: 'text', text: 'Done' },
        { type: 'finish', reason: 'tool_calls' },
      );
    expect(await (await http()(post({ model: 'main', messages: hi }))).json()).toMatchObject({
      choices: [{ message: { content: 'Done' }, finish_reason: 'stop' }],
    });
  });

  it('continues the session that is named', async () => {
    await http()(post({ model: 'main', messages: hi, user: 'alice' }));
    await http()(post({ model: 'main', messages: hi, user: 'bob' }, { headers: { 'x-perch-session': 'trip_1' } }));
    await http()(post({ model: 'main', messages: hi, user: 'a@b.c' }));
    expect(runs.map(({ sessionId }) => sessionId)).toEqual(['alice', 'trip_1', sessionOf('a@b.c')]);
    expect(sessionOf('a@b.c')).toMatch(/^a_b_c-[0-9a-f]{8}$/);
    expect(sessionOf('a@b.c')).not.toBe(sessionOf('a.b@c'));
    expect(sessionOf('ü'.repeat(900))).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
    const bad = await http()(post({ model: 'main', messages: hi }, { headers: { 'x-perch-session': '../x' } }));
    expect([bad.status, (await readError(bad)).param]).toEqual([400, 'x-perch-session']);
  });

  it('gets pictures and files', async () => {
    const content = [
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,AAAA' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    ];
    await http()(post({ model: 'main', messages: [{ role: 'user', content }] }));
    expect(runs[0]?.messages[0]?.content).toEqual([
      { type: 'text', text: 'See' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'file', mimeType: 'text/plain', data: 'AAAA', filename: 'a.txt' },
      { type: 'file', mimeType: 'audio/mpeg', data: 'AAAA', filename: 'audio.mp3' },
    ]);
  });

  it.each<[string, Error, number, string]>([
    [
      'its provider failing',
      new RpcError('INTERNAL_ERROR', 'Upstream broke off', { retryable: true }, { cause: new ProviderError('x') }),
      502,
      'api_error',
    ],
    ['a rate limit', new RpcError('RATE_LIMITED', 'slow down', { retryAfterMs: 1500 }), 429, 'rate_limited'],
    ['a missing model', new RpcError('NOT_FOUND', 'There is no model "x".'), 404, 'model_not_found'],
    ['bad params', new RpcError('INVALID_PARAMS', 'message: must not contain NUL'), 400, 'invalid_request_error'],
    ['a gateway that drains', new RpcError('INTERNAL_ERROR', 'goes away', { retryable: true }), 503, 'unavailable'],
    ['a stop by somebody', new RpcError('ABORTED', 'stopped'), 499, 'aborted'],
    ['a fault of ours', new TypeError('secret detail'), 500, 'api_error'],
  ])('%s has its status, or its error in the stream', async (_what, thrown, status, type) => {
    for (const stream of [false, true]) {
      agent = () => script(thrown);
      const response = await http()(post({ model: 'main', messages: hi, stream }));
      expect([response.status, (await readError(response)).type]).toEqual([status, type]);
      if (status === 429) expect(response.headers.get('retry-after')).toBe('2');
    }
    agent = () => script({ type: 'text', text: 'Hel' }, thrown);
    const data = await streamOf(await http()(post({ model: 'main', messages: hi, stream: true })));
    expect(data.at(-1)).toBe('[DONE]');
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(errorBody.parse(JSON.parse(data.at(-2) ?? '')).error).toMatchObject({ type });
    expect(data.join()).not.toContain('secret detail');
  });
});

describe('a model, directly', () => {
  it('gets every parameter, and its answer comes back as it is', async () => {
    const body = { model: 'up/normal', messages: hi, seed: 7, response_format: { type: 'json_object' }, logit_bias: { 5: 1 }, odd: [1] };
    const response = await http()(post(body));
    const { body: got } = upstream.requests.at(-1) ?? {};
    expect(got).toEqual({ ...body, model: 'normal' });
    expect(await response.json()).toMatchObject({
      id: 'chatcmpl-upstream',
      choices: [{ message: { content: TEXT } }],
      usage: { total_tokens: 18 },
    });
    expect(recorded).toMatchObject([
      { provider: 'up', model: 'up/normal', principal: 'owner', usage: { inputTokens: 11, outputTokens: 7, cacheReadTokens: 3 } },
    ]);
  });

  it.each(['normal', 'split-1', 'split-5', 'whole', 'slow-1'])('streams %s with exactly one [DONE]', async (mode) => {
    const data = await streamOf(await http()(post({ model: `up/${mode}`, messages: hi, stream: true })));
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(data.at(-1)).toBe('[DONE]');
    const text = data
      .slice(0, -1)
      .map((each) => chunkShape.parse(JSON.parse(each)).choices[0]?.delta['content'] ?? '')
      .join('');
    expect(text).toBe(TEXT);
    expect(recorded).toHaveLength(1);
    expect(recorded[0]?.usage.estimated ?? false).toBe(mode !== 'whole');
  });

  verifies('http.chat/usage-of-keys', 'is asked for its figures of usage, which the caller does not see, where a key calls', async () => {
    const withKey = handler(hasty, 'key:k1');
    for (const [mode, more, told] of [
      ['normal', {}, { include_usage: true }],
      ['normal', { stream_options: { include_usage: false, x: 1 } }, { include_usage: true, x: 1 }],
      ['strict', {}, undefined],
    ] as const) {
      recorded.length = 0;
      const data = await streamOf(await withKey(post({ model: `up/${mode}`, messages: hi, stream: true, ...more })));
      expect(upstream.requests.at(-1)?.body?.['stream_options']).toEqual(told);
      expect(data.join()).not.toContain('total_tokens');
      expect(data.at(-1)).toBe('[DONE]');
      expect(recorded).toMatchObject([{ principal: 'key:k1', usage: mode === 'strict' ? { estimated: true } : { totalTokens: 18 } }]);
    }
    const own = await streamOf(
      await withKey(post({ model: 'up/normal', messages: hi, stream: true, stream_options: { include_usage: true } })),
    );
    expect(own.join()).toContain('total_tokens');
    await withKey(post({ model: 'up/normal', messages: hi }));
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('stream_options');
  });

  it('gives tool calls back to the caller', async () => {
    const completion = await client().chat.completions.create({ model: 'up/tool', messages: [{ role: 'user', content: 'Hi' }] });
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'get_weather' } }]);
  });

  verifies('http.chat/stream-error', 'an upstream that fails midway leaves an error object, then one [DONE]', async () => {
    for (const mode of ['cut', 'cut-event', 'reset', 'garbage', 'error-inside']) {
      const data = await streamOf(await http()(post({ model: `up/${mode}`, messages: hi, stream: true })));
      expect(
        data.map((each) => (each.startsWith('{"error"') ? 'error' : each === '[DONE]' ? each : 'chunk')),
        mode,
      ).toEqual(['chunk', 'error', '[DONE]']);
      expect(errorBody.parse(JSON.parse(data[1] ?? '')).error, mode).toMatchObject({
        type: 'api_error',
        message: expect.stringContaining('Upstream'),
      });
    }
  });

  verifies('http/errors', 'an upstream that fails before its first byte', async () => {
    const cases: [string, number, string][] = [
      ['error-500', 502, 'api_error'],
      ['error-401', 502, 'api_error'],
      ['error-403', 502, 'api_error'],
      ['error-400', 400, 'invalid_request_error'],
      ['error-422', 400, 'invalid_request_error'],
      ['error-413', 413, 'invalid_request_error'],
      ['unknown', 404, 'model_not_found'],
      ['error-429', 429, 'rate_limited'],
      ['error-page', 502, 'api_error'],
      ['hangup', 502, 'api_error'],
      ['html', 502, 'api_error'],
      ['empty', 502, 'api_error'],
      ['huge', 502, 'api_error'],
    ];
    for (const [mode, status, type] of cases) {
      for (const stream of [false, true]) {
        const response = await http()(post({ model: `up/${mode}`, messages: hi, stream }));
        expect({ mode, stream, status: response.status }).toEqual({ mode, stream, status });
        expect((await readError(response)).type, mode).toBe(type);
        if (status === 429) expect(response.headers.get('retry-after')).toBe('1');
      }
    }
  });

  it('that says nothing after the finish reason is not waited for', async () => {
    const clock = new FakeClock();
    const response = await handler(clock)(post({ model: 'up/stall-end', messages: hi, stream: true }));
    const data = streamOf(response);
    await clock.waitsFor(2000);
    clock.advance(2000);
    expect((await data).map((each) => (each.startsWith('{"error"') ? 'error' : each === '[DONE]' ? each : 'chunk'))).toEqual([
      'chunk',
      'chunk',
      '[DONE]',
    ]);
  });

  it('that stalls in the middle ends after 60 s', async () => {
    const clock = new FakeClock();
    const response = await handler(clock)(post({ model: 'up/stall', messages: hi, stream: true }));
    const data = streamOf(response);
    clock.advance(60_000);
    expect((await data).at(-1)).toBe('[DONE]');
    expect((await data).at(-2)).toContain('went silent');
  });

  it('may give several choices, of which none is cut short', async () => {
    const chunk = (index: number, delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: finish }] })}\n\n`;
    const body = chunk(0, { content: 'a' }) + chunk(0, {}, 'stop') + chunk(1, { content: 'b' }) + chunk(1, {}, 'stop');
    const sources = { memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) };
    const providers = new Providers({
      guide: new GuideProvider({ clock: systemClock, sources }),
      clock: systemClock,
      localServers: [],
      fetch: () => Promise.resolve(new Response(body)),
    });
    providers.configure([{ id: 'up', name: 'Upstream', baseUrl: 'http://127.0.0.1:1/v1' }]);
    const answer = createHttp({
      agents: { list: () => [], run: () => script() },
      providers,
      responses: memoryCollection(),
      clock: systemClock,
      fault: () => new RpcError('INTERNAL_ERROR', 'x'),
    });
    const data = await streamOf(
      await answer(post({ model: 'up/x', messages: hi, stream: true, n: 2 }), { id: 'owner', scopes: ['admin'] }),
    );
    expect(data).toHaveLength(5);
    expect(data.at(-1)).toBe('[DONE]');
  });

  it('can be the guide', async () => {
    const completion = await client().chat.completions.create({
      model: 'guide/guide',
      messages: [{ role: 'user', content: 'How do I add a model?' }],
    });
    expect(completion.choices[0]?.message.content).toContain('Settings → Providers');
    expect(recorded[0]).toMatchObject({ provider: 'guide', usage: { estimated: true } });
    const called = await client().chat.completions.create({
      model: 'guide/guide',
      messages: [{ role: 'user', content: '/tool add {"a": 1}' }],
      tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }],
    });
    expect(called.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ function: { name: 'add', arguments: '{"a":1}' } }] },
    });
  });
});

describe('the openai package', () => {
  verifies('http.chat/openai-client', 'talks to agents and models, streaming and not, and reads errors', async () => {
    for (const [model, expected] of [
      ['perch/main', 'Hello'],
      ['up/normal', TEXT],
    ] as const) {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      const completion = await client().chat.completions.create({ model, messages });
      expect(completion.choices[0]?.message.content).toBe(expected);
      expect(completion.usage?.total_tokens).toBeGreaterThan(0);
      let text = '';
      let usage = 0;
      for await (const chunk of await client().chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      })) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage?.total_tokens ?? usage;
      }
      expect(text).toBe(expected);
      expect(usage).toBeGreaterThan(0);
    }
    const listed = await client().models.list();
    expect(listed.data.map(({ id }) => id)).toEqual(['perch/main', 'perch/helper', 'guide/guide', 'up/normal', 'up/tool']);
    expect(await client().models.retrieve('up/normal')).toMatchObject({ id: 'up/normal', owned_by: 'up' });
    await expect(client().chat.completions.create({ model: 'nope', messages: [] })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(client().chat.completions.create({ model: 'nope', messages: [{ role: 'user', content: 'Hi' }] })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    const cut = await client().chat.completions.create({ model: 'up/cut', messages: [{ role: 'user', content: 'Hi' }], stream: true });
    const readAll = async (): Promise<void> => {
      for await (const _ of cut);
    };
    await expect(readAll()).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it('assembles streamed tool calls', async () => {
    const runner = client().chat.completions.stream({ model: 'up/tool', messages: [{ role: 'user', content: 'Hi' }] });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_weather', arguments: '{"city":"Köln"}' } }]);
  });
});

describe('GET /v1/models', () => {
  verifies('http.models/list', 'lists agents and models', async () => {
    const response = await http()(new Request(`${BASE}/v1/models/`));
    expect(await response.json()).toMatchObject({
      object: 'list',
      data: [
        { id: 'perch/main', object: 'model', owned_by: 'perch', created: expect.any(Number) },
        { id: 'perch/helper' },
        { id: 'guide/guide', owned_by: 'guide' },
        { id: 'up/normal', owned_by: 'up' },
        { id: 'up/tool' },
      ],
    });
  });

  it('gives one by its id, plain or encoded', async () => {
    for (const id of ['guide/guide', 'guide%2Fguide', 'perch/main'])
      expect((await http()(new Request(`${BASE}/v1/models/${id}`))).status).toBe(200);
    for (const id of ['nope', '%E0%A4%A', '__proto__', '..%2f..']) {
      const response = await http()(new Request(`${BASE}/v1/models/${id}`));
      expect([id, response.status, (await readError(response)).type]).toEqual([id, 404, 'model_not_found']);
    }
  });
});

describe('bad input', () => {
  const deep = `{"model":"main","messages":[{"role":"user","content":"${'x'.repeat(1_100_000)}"}],"x":[${'[],'.repeat(100_000)}0]}`;
  it.each<[string, string | unknown, number, string | null]>([
    ['no JSON', '{"model":', 400, null],
    ['nothing', '', 400, null],
    ['an array', [], 400, null],
    ['null', 'null', 400, null],
    ['no model', { messages: hi }, 400, 'model'],
    ['an empty model', { model: '', messages: hi }, 400, 'model'],
    ['a number as model', { model: 4, messages: hi }, 400, 'model'],
    ['no messages', { model: 'main' }, 400, 'messages'],
    ['empty messages', { model: 'main', messages: [] }, 400, 'messages'],
    ['messages of text', { model: 'main', messages: 'Hi' }, 400, 'messages'],
    ['a message without role', { model: 'up/normal', messages: [{ content: 'Hi' }] }, 400, 'messages[0].role'],
    ['an unknown role', { model: 'main', messages: [{ role: 'king', content: 'Hi' }] }, 400, 'messages[0].role'],
    ['a message without content', { model: 'main', messages: [...hi, { role: 'user' }] }, 400, 'messages[1].content'],
    ['an odd part', { model: 'main', messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 400, 'messages[0].content'],
    [
      'a remote picture',
      { model: 'main', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y.png' } }] }] },
      400,
      'messages[0].content[0]',
    ],
    ['stream as text', { model: 'main', messages: hi, stream: 'yes' }, 400, 'stream'],
    ['a hot temperature', { model: 'main', messages: hi, temperature: 9 }, 400, 'temperature'],
    ['several choices of an agent', { model: 'main', messages: hi, n: 2 }, 400, 'n'],
    ['an unknown agent', { model: 'perch/nope', messages: hi }, 404, 'model'],
    ['an unknown model', { model: 'nope/nope', messages: hi }, 404, 'model'],
    ['constructor as model', { model: 'constructor', messages: hi }, 404, 'model'],
    ['too many parts', deep, 413, null],
  ])('%s', async (_what, body, status, param) => {
    const response = await http()(post(body));
    const error = await readError(response);
    expect([response.status, error.param]).toEqual([status, param]);
    expect(faults).toEqual([]);
  });

  verifies('http/body-limit', 'over 20 MB is 413, and the rest is not read', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: endless, duplex: 'half' };
    const response = await http()(new Request(`${BASE}/v1/chat/completions`, init));
    expect([response.status, (await readError(response)).type]).toEqual([413, 'invalid_request_error']);
    expect(sent).toBeLessThan(30 * 1024 * 1024);
  });

  it('of another type, or no UTF-8, is 400', async () => {
    expect((await http()(post({ model: 'main', messages: hi }, { headers: { 'content-type': 'text/plain' } }))).status).toBe(400);
    expect(
      (await http()(post({ model: 'main', messages: hi }, { headers: { 'content-type': 'application/json; charset=utf-8' } }))).status,
    ).toBe(200);
    const init: RequestInit = { body: new Uint8Array([0x7b, 0xff, 0x7d]) };
    expect((await http()(post('', init))).status).toBe(400);
  });

  verifies('http/request-id', 'in answers and errors, and in the log, of streams that break off too', async () => {
    const ask = async (body: unknown, id: string): Promise<[string | null, Record<string, unknown> | undefined]> => {
      const response = await http()(post(body, { headers: { 'x-request-id': id } }));
      await response.text();
      return [response.headers.get('x-request-id'), noted.findLast(({ level }) => level !== 'debug')];
    };
    expect(await ask({ model: 'main', messages: hi }, 'r-1')).toEqual(['r-1', undefined]);
    expect(noted).toMatchObject([
      { level: 'debug', requestId: 'r-1', method: 'POST', path: '/v1/chat/completions', status: 200, principal: 'owner' },
    ]);
    expect(await ask({ model: 'nope/nope', messages: hi }, 'r-2')).toMatchObject(['r-2', { level: 'info', requestId: 'r-2', status: 404 }]);
    expect(await ask({ model: 'up/error-500', messages: hi }, 'r-3')).toMatchObject([
      'r-3',
      { level: 'warn', requestId: 'r-3', status: 502 },
    ]);
    for (const model of ['up/cut', 'main']) {
      agent = () => script({ type: 'text', text: 'Hel' }, new TypeError('ours'));
      const [id, line] = await ask({ model, messages: hi, stream: true }, model.replace('/', ':'));
      expect([id, line]).toMatchObject([model.replace('/', ':'), { level: 'warn', requestId: model.replace('/', ':') }]);
    }
    expect((await http()(new Request(`${BASE}/v1/nope`))).headers.get('x-request-id')).toMatch(/^req_/);
    expect((await http()(new Request(`${BASE}/v1/models`, { method: 'HEAD' }))).headers.get('x-request-id')).toMatch(/^req_/);
  });

  verifies('http/errors', 'wrong methods, paths and scopes', async () => {
    const get = await http()(new Request(`${BASE}/v1/chat/completions`));
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const del = await http()(new Request(`${BASE}/v1/models`, { method: 'DELETE' }));
    expect([del.status, del.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await http()(new Request(`${BASE}/v1/models`, { method: 'HEAD' }));
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const path of ['/v1', '/v1/', '/v1/nope', '/', '/v1/chat']) {
      const response = await http()(new Request(BASE + path));
      expect([path, response.status, (await readError(response)).type]).toEqual([path, 404, 'not_found']);
    }
    const reader = await http()(post({ model: 'main', messages: hi }), ['read']);
    expect([reader.status, (await readError(reader)).type]).toEqual([403, 'forbidden']);
    expect((await http()(new Request(`${BASE}/v1/models`), [])).status).toBe(403);
  });

  it('of any kind is never a 500', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant(hi), fc.constantFrom('main', 'guide/guide', 'perch/main', 'up/normal', true, null));
    const key = fc.constantFrom(
      'model',
      'messages',
      'stream',
      'stream_options',
      'n',
      'temperature',
      'max_tokens',
      'tools',
      'tool_choice',
      'response_format',
      'stop',
      'seed',
      'reasoning_effort',
      'logit_bias',
      'user',
      '__proto__',
    );
    const message = fc.record(
      { role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'x'), content: fc.jsonValue(), tool_calls: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const nearly = fc.record({
      model: fc.constantFrom('main', 'guide/guide'),
      messages: fc.array(message, { minLength: 1, maxLength: 3 }),
      stream: fc.boolean(),
      n: fc.integer({ min: 1, max: 3 }),
      tool_choice: fc.oneof(fc.constantFrom('none', 'auto', 'required'), fc.jsonValue()),
      response_format: fc.oneof(fc.constantFrom({ type: 'text' }, { type: 'json_object' }), fc.jsonValue()),
    });
    const answer = http();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.dictionary(key, value).map((each) => JSON.stringify(each)),
          nearly.map((each) => JSON.stringify(each)),
        ),
        async (body) => {
          const response = await answer(post(body));
          expect(response.status).toBeLessThan(500);
          await response.text();
        },
      ),
      { numRuns: process.env.PERCH_LONG ? 5000 : 300 },
    );
    expect(faults).toEqual([]);
  });
});

describe('a caller who hangs up', () => {
  const posts = (): number => upstream.requests.filter(({ method }) => method === 'POST').length;

  verifies('http/hang-up', 'before, during and instead of reading the answer', async () => {
    for (const stream of [false, true]) {
      const abort = new AbortController();
      const before = posts();
      const response = http()(post({ model: 'up/silent', messages: hi, stream }, { signal: abort.signal }));
      const request = await upstream.request(before + 1);
      abort.abort();
      expect((await response).status).toBe(499);
      await request.closed;
      expect(request.hungUp).toBe(true);
    }
    const before = posts();
    const response = await http()(post({ model: 'up/endless', messages: hi, stream: true }));
    await response.body?.cancel();
    const request = await upstream.request(before + 1);
    await request.closed;
    expect(request.hungUp).toBe(true);

    const abort = new AbortController();
    const reading = await http()(post({ model: 'up/endless', messages: hi, stream: true }, { signal: abort.signal }));
    const second = await upstream.request(before + 2);
    abort.abort();
    await second.closed;
    expect(second.hungUp).toBe(true);
    await reading.text().catch(() => {});
    expect(faults).toEqual([]);
  });

  it('aborts the agent’s run', async () => {
    const waits = Promise.withResolvers<AbortSignal>();
    agent = async function* ({ signal }) {
      yield { type: 'text', text: 'Hel' };
      waits.resolve(signal);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const response = await http()(post({ model: 'main', messages: hi, stream: true }));
    const reader = response.body?.getReader();
    await reader?.read();
    const signal = await waits.promise;
    await reader?.cancel();
    expect(signal.aborted).toBe(true);
  });
});
