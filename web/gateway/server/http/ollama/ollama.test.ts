import { beforeEach, describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { toEvents, HTTP_BASE, createTestHttp, createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { waitFor } from '../../../../../tests/support/test-gateway.ts';
import { UPSTREAM_TEXT } from '../../../../../tests/test-upstream.ts';
import { toKeepAliveMs } from './loaded-models.ts';

// Requests as the package `ollama` sends them.

const v1 = createUpstreamHttp();
const TEXT = UPSTREAM_TEXT.join('');
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const TOOL = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
/** An image of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type Line = Record<string, unknown> & { message?: Record<string, unknown> };
const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> => v1.http.post(path, body, { headers });
const get = (path: string): Promise<Response> => v1.http.ask(new Request(HTTP_BASE + path));
const readLines = async (response: Response): Promise<Line[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const lastBody = (): Record<string, unknown> => v1.upstream.requests.at(-1)?.body ?? {};

beforeEach(() => {
  v1.upstream.requests.length = 0;
});

describe('POST /api/chat', () => {
  verifies('http.ollama/chat', 'models and agents answer line by line, and at once with `stream: false`', async () => {
    for (const [model, expected] of [
      ['perch/main', 'Hello'],
      ['main', 'Hello'],
      ['perch/main:latest', 'Hello'],
      ['up/normal', TEXT],
    ] as const) {
      const streamed = await post('/api/chat', { model, messages: MESSAGES });
      expect(streamed.headers.get('content-type')).toBe('application/x-ndjson');
      const lines = await readLines(streamed);
      expect(lines.map(({ message }) => message?.['content']).join('')).toBe(expected);
      expect(lines.slice(0, -1).every(({ done }) => done === false)).toBe(true);
      const figures = {
        ...{ total_duration: expect.any(Number) as number, load_duration: 0, eval_duration: expect.any(Number) as number },
        ...{ prompt_eval_count: expect.any(Number) as number, eval_count: expect.any(Number) as number },
      };
      expect(lines.at(-1)).toMatchObject({ model, done: true, done_reason: 'stop', message: { role: 'assistant' }, ...figures });
      const whole = (await (await post('/api/chat', { model, messages: MESSAGES, stream: false })).json()) as Line;
      expect(whole).toMatchObject({ model, done: true, message: { role: 'assistant', content: expected }, ...figures });
      expect(Number(whole['eval_count'])).toBeGreaterThan(0);
    }
    expect(v1.http.recorded.map(({ model }) => model)).toEqual(['up/normal', 'up/normal']);
  });

  verifies('http.ollama/chat', 'options, formats and pictures reach the model; what has no effect is named', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const options = { temperature: 3, top_p: 0.5, seed: 7, num_predict: 9, stop: ['x'], num_ctx: 4096, mirostat: 1 };
    const messages = [{ role: 'user', content: 'See', images: [DOT] }];
    const response = await post('/api/chat', { model: 'up/normal', messages, options, format: schema, keep_alive: '5m', logprobs: true });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-perch-ignored')).toBe('logprobs, options.mirostat');
    await response.text();
    const { temperature, top_p, seed, stop, response_format, messages: sent } = lastBody();
    expect({ temperature, top_p, seed, stop }).toEqual({ temperature: 2, top_p: 0.5, seed: 7, stop: ['x'] });
    expect(lastBody()['max_tokens'] ?? lastBody()['max_completion_tokens']).toBe(9);
    expect(response_format).toMatchObject({ type: 'json_schema', json_schema: { schema } });
    expect(JSON.stringify(sent)).toContain(`data:image/png;base64,${DOT}`);
    await (await post('/api/chat', { model: 'up/normal', messages: MESSAGES, format: 'json', options: { num_predict: -1 } })).text();
    expect(lastBody()['response_format']).toEqual({ type: 'json_object' });
    expect(lastBody()).not.toHaveProperty('max_tokens');
  });

  verifies('http.ollama/chat', 'tools are called, and results without ids find their call', async () => {
    v1.upstream.queue.push('tool');
    const [call] = (await readLines(await post('/api/chat', { model: 'up/tool', messages: MESSAGES, tools: [TOOL] }))).filter(
      ({ message }) => message?.['tool_calls'],
    );
    expect(call?.message?.['tool_calls']).toMatchObject([{ function: { name: 'get_weather', arguments: { city: 'Köln' } } }]);
    const calls = [{ function: { name: 'get_weather', arguments: { city: 'Köln' } } }, { function: { name: 'other', arguments: {} } }];
    const messages = [
      ...MESSAGES,
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', content: 'two', tool_name: 'other' },
      { role: 'tool', content: 'one' },
      { role: 'tool', content: 'three', tool_name: 'gone' },
    ];
    await (await post('/api/chat', { model: 'up/normal', messages, tools: [TOOL] })).text();
    expect(lastBody()['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_0' }, { id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'two' },
      { role: 'tool', tool_call_id: 'call_0', content: 'one' },
      { role: 'user', content: 'Result of gone:\nthree' },
    ]);
    v1.http.agent = ({ tools }) =>
      toEvents({ type: 'tool_call', call: { id: 'c', tool: tools?.[0]?.name ?? '', args: {} } }, { type: 'finish', reason: 'tool_calls' });
    const agent = await (await post('/api/chat', { model: 'perch/main', messages: MESSAGES, tools: [TOOL], stream: false })).json();
    expect(agent).toMatchObject({ message: { tool_calls: [{ id: 'c', function: { name: 'get_weather' } }] }, done_reason: 'stop' });
  });

  verifies('http.ollama/chat', 'thoughts are apart from the text, and left out if nobody wants them', async () => {
    v1.http.agent = () => toEvents({ type: 'reasoning', text: 'Hm' }, { type: 'text', text: 'Yes' }, { type: 'finish', reason: 'length' });
    const ask = async (think?: unknown): Promise<unknown> =>
      (await post('/api/chat', { model: 'perch/main', messages: MESSAGES, stream: false, think })).json();
    expect(await ask()).toMatchObject({ message: { thinking: 'Hm', content: 'Yes' }, done_reason: 'length' });
    expect(await ask('high')).toMatchObject({ message: { thinking: 'Hm' } });
    expect((await ask(false)) as object).toMatchObject({ message: { role: 'assistant', content: 'Yes' } });
    expect(JSON.stringify(await ask(false))).not.toContain('thinking');
    expect(v1.http.runs.map(({ generationOptions }) => generationOptions.reasoningEffort)).toEqual([undefined, 'high', 'none', 'none']);
    expect((await post('/api/chat', { model: 'perch/main', messages: MESSAGES, think: 'odd' })).status).toBe(400);
  });

  verifies('http.ollama/chat', 'without messages a model is loaded, and unloaded', async () => {
    expect(await (await post('/api/chat', { model: 'up/normal', messages: [] })).json()).toMatchObject({ done: true, done_reason: 'load' });
    const unload = await post('/api/generate', { model: 'perch/main', keep_alive: 0 });
    expect(await unload.json()).toMatchObject({ response: '', done: true, done_reason: 'unload' });
    expect(v1.upstream.requests).toEqual([]);
  });
});

verifies('http.ollama/chat', '`/api/generate` gives texts', async () => {
  const lines = await readLines(await post('/api/generate', { model: 'up/normal', prompt: 'Hi', system: 'Be kind', images: [DOT] }));
  expect(lines.map(({ response }) => response).join('')).toBe(TEXT);
  expect(lines.at(-1)).toMatchObject({ done: true, done_reason: 'stop' });
  expect(lastBody()['messages']).toMatchObject([{ role: 'system', content: 'Be kind' }, { role: 'user' }]);
  const refused = await post('/api/generate', { model: 'up/normal', prompt: 'a', suffix: 'b' });
  expect([refused.status, await refused.json()]).toEqual([400, { error: expect.stringContaining('`suffix`') as string }]);
});

verifies('http.ollama/models', 'lists, describes and names its version', async () => {
  const read = async (path: string): Promise<Line> => (await (await get(path)).json()) as Line;
  expect((await read('/api/version'))['version']).toMatch(/^\d+\.\d+\.\d+$/);
  const { models } = (await read('/api/tags')) as unknown as { models: Line[] };
  expect(models.map(({ name }) => name)).toEqual(['perch/main', 'perch/helper', 'guide/guide', 'up/normal', 'up/tool']);
  expect(models[0]).toMatchObject({ model: 'perch/main', digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string, size: 0 });
  const show = async (body: object): Promise<unknown> => (await post('/api/show', body)).json();
  expect(await show({ model: 'perch/main' })).toMatchObject({ capabilities: ['completion', 'tools', 'vision'] });
  expect(await show({ name: 'up/normal:latest' })).toMatchObject({
    details: { family: 'up' },
    model_info: { 'general.architecture': 'up' },
  });
  const missing = await post('/api/show', { model: 'nope' });
  expect([missing.status, await missing.json()]).toEqual([404, { error: expect.stringContaining('"nope"') as string }]);
  const unnamed = await post('/api/show', {});
  expect([unnamed.status, await unnamed.json()]).toEqual([400, { error: '`model` is required.' }]);
});

describe('GET /api/ps', () => {
  const running = async (principal = 'owner'): Promise<Line[]> => {
    const answer = await v1.http.ask(new Request(`${HTTP_BASE}/api/ps`), principal);
    return ((await answer.json()) as { models: Line[] }).models;
  };
  const names = async (principal?: string): Promise<unknown[]> => (await running(principal)).map(({ name }) => name);
  let now = 0;
  beforeEach(() => {
    now = Date.now();
    v1.http.clock.now = () => now;
  });

  verifies('http.ollama/running', 'lists a model while it answers, and until `keep_alive` ends', async () => {
    expect(await running()).toEqual([]);
    const { promise, resolve } = Promise.withResolvers<void>();
    v1.http.agent = async function* () {
      yield { type: 'text', text: 'Hi' } as const;
      await promise;
      yield { type: 'finish', reason: 'stop' } as const;
    };
    const answer = await post('/api/chat', { model: 'main', messages: MESSAGES, keep_alive: 0 });
    expect(await names()).toEqual(['perch/main']);
    resolve();
    await answer.text();
    expect(await names()).toEqual([]);
    await post('/api/embed', { model: 'up/normal:latest', input: 'Hi', keep_alive: '10m' });
    await post('/api/generate', { model: 'perch/helper' });
    expect(await running()).toEqual([
      {
        ...{ name: 'up/normal', model: 'up/normal', size: 0, size_vram: 0, digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        details: expect.objectContaining({ family: 'up', format: '' }) as object,
        expires_at: new Date(now + 600_000).toISOString(),
      },
      expect.objectContaining({ name: 'perch/helper', expires_at: new Date(now + 300_000).toISOString() }),
    ]);
    now += 300_000;
    expect(await names()).toEqual(['up/normal']);
    await post('/api/generate', { model: 'up/normal', keep_alive: 0 });
    expect(await names()).toEqual([]);
    await post('/api/chat', { model: 'up/normal', messages: [], keep_alive: -1 });
    now += 365 * 24 * 60 * 60_000;
    expect(await running()).toMatchObject([{ name: 'up/normal', expires_at: '9999-01-01T00:00:00.000Z' }]);
  });

  verifies('http.ollama/running', 'lists what other APIs have used, to a key only what it has used itself', async () => {
    await v1.respond({ model: 'up/normal', input: 'Hi' });
    expect([await names(), await names('key:a')]).toEqual([['up/normal'], []]);
    await v1.http.post('/api/generate', { model: 'perch/main' }, { principal: 'key:a' });
    expect([await names(), await names('key:a')]).toEqual([['up/normal'], ['perch/main']]);
    now += 300_001;
    expect(await names()).toEqual([]);
  });

  verifies('http.ollama/running', 'ends a request whose client leaves', async () => {
    v1.http.agent = async function* ({ signal }) {
      yield { type: 'text', text: 'Hi' } as const;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    };
    const answer = await post('/api/chat', { model: 'perch/main', messages: MESSAGES, keep_alive: 0 });
    expect(await names()).toEqual(['perch/main']);
    await answer.body?.cancel();
    await waitFor(async () => (await names()).length === 0);
  });

  verifies('http.ollama/running', 'reads durations as Ollama does', () => {
    const zero = ['0', '0s', 0, '-0'];
    const forever = [-1, '-1', '-1m'];
    const unreadable = ['soon', '', '5 m', null, undefined, {}];
    const expected: [unknown, number][] = [
      ['10m', 600_000],
      ['1h30m', 5_400_000],
      ['1.5s', 1500],
      ['300ms', 300],
      [90, 90_000],
      ['90', 90_000],
      ...zero.map((given): [unknown, number] => [given, 0]),
      ...forever.map((given): [unknown, number] => [given, Infinity]),
      ...unreadable.map((given): [unknown, number] => [given, 300_000]),
    ];
    for (const [given, ms] of expected) expect([given, Math.abs(toKeepAliveMs(given))]).toEqual([given, ms]);
  });
});

verifies('http.ollama/errors', 'are objects with one text, also within a stream', async () => {
  const missing = await post('/api/chat', { model: 'nope', messages: MESSAGES });
  expect([missing.status, await missing.json()]).toEqual([404, { error: expect.stringContaining('"nope"') as string }]);
  const wrong = await post('/api/chat', { model: 'up/normal', messages: [{ role: 'odd' }] });
  expect([wrong.status, await wrong.json()]).toEqual([400, { error: expect.stringContaining('messages[0].role') as string }]);
  const cut = await readLines(await post('/api/chat', { model: 'up/cut', messages: MESSAGES }));
  expect(cut.at(-1)).toEqual({ error: expect.any(String) as string });
  expect(cut.some(({ done }) => done === true)).toBe(false);
  const unknown = await get('/api/odd');
  expect([unknown.status, await unknown.json()]).toEqual([404, { error: expect.stringContaining('/api/odd') as string }]);
});

verifies('http.ollama/embed', 'gives vectors of one text or several, in their order', async () => {
  const asked: unknown[] = [];
  const http = createTestHttp([{ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' }], async (_url, init) => {
    const body = JSON.parse(String(init?.body)) as { input: string[] };
    asked.push(body);
    const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, index] })).reverse();
    return Response.json({ object: 'list', data, usage: { prompt_tokens: 5, total_tokens: 5 } });
  });
  const read = async (path: string, body: object): Promise<unknown> => (await http.post(path, body)).json();
  expect(await read('/api/embed', { model: 'up/e', input: ['one', 'three'], truncate: true, dimensions: 2 })).toMatchObject({
    ...{ model: 'up/e', prompt_eval_count: 5, load_duration: 0 },
    embeddings: [
      [3, 0],
      [5, 1],
    ],
  });
  expect(asked).toEqual([{ model: 'e', input: ['one', 'three'], dimensions: 2 }]);
  expect(await read('/api/embed', { model: 'up/e', input: 'four' })).toMatchObject({ embeddings: [[4, 0]] });
  expect(await read('/api/embed', { model: 'up/e', input: [] })).toMatchObject({ embeddings: [] });
  expect(await read('/api/embeddings', { model: 'up/e', prompt: 'four' })).toEqual({ embedding: [4, 0] });
  expect(await read('/api/embed', { model: 'perch/main', input: 'x' })).toEqual({ error: expect.stringContaining('embedding') as string });
  expect(http.recorded).toHaveLength(3);
});
