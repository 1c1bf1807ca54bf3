import { beforeEach, describe, expect } from 'vitest';
import { readError, createTestHttp } from '../../../../tests/support/test-http.ts';
import { verifies } from '../../../../tests/requirements.ts';

let respond: () => Response;
let http: ReturnType<typeof createTestHttp>;
beforeEach(() => {
  http = createTestHttp(
    [
      { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' },
      { id: 'claude', name: 'Claude', kind: 'anthropic', apiKey: 'key' },
      { id: 'gemini', name: 'Gemini', kind: 'google', apiKey: 'key' },
    ],
    () => Promise.resolve(respond()),
    // The response of such a server is forwarded unchecked.
    { checked: false },
  );
});

const sse = (...events: string[]): Response => new Response(events.map((data) => `data: ${data}\n\n`).join(''));
const messages = [{ role: 'user', content: 'Hi' }];
/** All kinds of requests to a model. */
const ENDPOINTS: [name: string, ask: (model: string) => Promise<Response>][] = [
  ['stream', (model) => http.post('/v1/chat/completions', { model, messages, stream: true })],
  ['whole', (model) => http.post('/v1/chat/completions', { model, messages })],
  ['responses', (model) => http.post('/v1/responses', { model, input: 'Hi' })],
  ['events', (model) => http.post('/v1/responses', { model, input: 'Hi', stream: true })],
  ['embeddings', (model) => http.post('/v1/embeddings', { model, input: 'Hi' })],
];
const MODELS = ['up/m', 'claude/m', 'gemini/m'];

describe('a server', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const text = '"choices":[{"index":0,"delta":{"content":"Hi"},"message":{"content":"Hi"},"finish_reason":"stop"}]';
  const args = JSON.stringify(`{"a":${deep}}`);
  const call = `{"index":0,"id":"c","function":{"name":"t","arguments":${args}}}`;
  const cases: [string, () => Response][] = [
    ['a deep error', () => sse(`{"error":${deep}}`)],
    ['a deep piece', () => sse(`{${text},"x":${deep}}`, '[DONE]')],
    ['a deep whole', () => new Response(`{${text},"x":${deep}}`)],
    ['deep embeddings', () => new Response(`{"data":[{"embedding":[1],"x":${deep}}]}`)],
    ['deep arguments', () => sse(`{"choices":[{"delta":{"tool_calls":[${call}]},"finish_reason":"stop"}]}`, '[DONE]')],
    ['a deep refusal', () => new Response(`{"error":${deep.slice(90_000, -90_000)}}`, { status: 400 })],
    [
      'deep Gemini arguments',
      () => sse(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"a":${deep}}}}]},"finishReason":"STOP"}]}`),
    ],
    [
      'deep Claude arguments',
      () =>
        sse(
          '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t"}}',
          `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${args}}}`,
          '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
          '{"type":"message_stop"}',
        ),
    ],
  ];
  for (const [name, given] of cases)
    verifies('http/hostile-upstreams', `sends ${name}`, async () => {
      respond = given;
      for (const model of MODELS)
        for (const [way, ask] of ENDPOINTS) {
          const response = await ask(model);
          expect([model, way, response.status < 500 || response.status === 502]).toEqual([model, way, true]);
          const body = await response.text();
          // A successful answer is complete.
          if (response.status === 200 && (way === 'stream' || way === 'whole'))
            expect([model, way, body]).toEqual([model, way, expect.stringMatching(/Hi|\[\[|error|"content":""/)]);
        }
      expect(http.faults).toEqual([]);
    });

  verifies('http/hostile-upstreams', 'wants to be waited for for ever, or for no number', async () => {
    const headers = (value: string): HeadersInit => ({ 'retry-after': value });
    const details = (retryDelay: string) => JSON.stringify({ error: { message: 'x', details: [{ retryDelay }] } });
    for (const [model, given] of [
      ['up/m', () => new Response('{}', { status: 429, headers: headers('1e300') })],
      ['up/m', () => new Response('{}', { status: 429, headers: headers('Fri, 31 Dec 9999 23:59:59 GMT') })],
      ['up/m', () => new Response('{}', { status: 429, headers: { 'retry-after-ms': '1e300' } })],
      ['gemini/m', () => new Response(details('1.2.3s'), { status: 429 })],
      ['gemini/m', () => new Response(details(`${'9'.repeat(400)}s`), { status: 429 })],
    ] as const) {
      respond = given;
      const response = await http.post('/v1/chat/completions', { model, messages });
      expect(response.status).toBe(429);
      const wait = response.headers.get('retry-after');
      expect(wait).toMatch(/^\d{1,5}$/);
      await response.text();
    }
  });

  verifies('http/hostile-upstreams', 'answers with a page of nothing but beginnings', async () => {
    respond = () => new Response(`<html>${'<title'.repeat(10_000)}`, { status: 400 });
    // With quadratic time, a second each, this would exceed the test's time-out.
    for (let i = 0; i < 40; i++)
      expect((await readError(await http.post('/v1/chat/completions', { model: 'up/m', messages }))).message).toContain('web page');
  });
});

verifies('http/usage-lies', 'figures that cannot be are not believed', async () => {
  const openai = (usage: string) =>
    sse(`{"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}],"usage":${usage}}`, '[DONE]');
  const most = 1_000_000_000;
  const figures = async (model: string, given: Response, path = '/v1/responses', body: object = { model, input: 'Hi' }) => {
    respond = () => given.clone();
    const response = await http.post(path, body);
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const { usage } = http.recorded.splice(0)[0] ?? expect.unreachable();
    for (const value of [usage.inputTokens, usage.outputTokens, usage.totalTokens, usage.cacheReadTokens ?? 0]) {
      expect(Number.isSafeInteger(value)).toBe(true);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(4 * most);
    }
    expect(usage.totalTokens).toBeGreaterThanOrEqual(usage.inputTokens + usage.outputTokens);
    expect(usage.cost ?? 0).toBeLessThanOrEqual(1_000_000);
    return usage;
  };
  const lies = [
    '{"prompt_tokens":-5,"completion_tokens":1e308,"total_tokens":1e308}',
    '{"prompt_tokens":1e300,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":1e300}}',
    '{"prompt_tokens":1,"completion_tokens":1,"cost":1e308}',
    '{"prompt_tokens":1,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":1e308}}',
  ];
  for (const usage of lies) {
    await figures('up/m', openai(usage));
    await figures('up/m', openai(usage), '/v1/chat/completions', { model: 'up/m', messages, stream: true });
    await figures('up/m', new Response(`{"data":[{"embedding":[1]}],"usage":${usage}}`), '/v1/embeddings');
  }
  // The total is less than the sum.
  expect(await figures('up/m', openai('{"prompt_tokens":5,"completion_tokens":5,"total_tokens":0}'))).toMatchObject({ totalTokens: 10 });
  // Invalid usage is ignored, and the answer stays valid.
  for (const usage of ['{"prompt_tokens":"a"}', '{"prompt_tokens":1e999,"completion_tokens":1}', '[]', '5'])
    expect(await figures('up/m', openai(usage))).toMatchObject({ estimated: true });
  await figures(
    'claude/m',
    sse(
      '{"type":"message_start","message":{"usage":{"input_tokens":1e308,"cache_creation_input_tokens":1e308,"cache_read_input_tokens":1e308}}}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1e308}}',
      '{"type":"message_stop"}',
    ),
  );
  await figures(
    'gemini/m',
    sse(
      '{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1e308,"toolUsePromptTokenCount":1e308,"candidatesTokenCount":1e308}}',
    ),
  );
});

verifies('keys/hung-up', 'all that a model writes counts where its server gives no figures', async () => {
  const written = 'w'.repeat(4000);
  const call = { index: 0, id: 'c', type: 'function', function: { name: 't', arguments: JSON.stringify({ a: written }) } };
  for (const part of [
    { content: written },
    { content: [{ type: 'text', text: written }] },
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text: written }] }] },
    { refusal: written },
    { reasoning_content: written },
    { reasoning: written },
    { tool_calls: [call] },
  ]) {
    const piece = (name: string): string => JSON.stringify({ choices: [{ index: 0, [name]: part, finish_reason: 'stop' }] });
    for (const given of [() => sse(piece('delta'), '[DONE]'), () => new Response(piece('message'))]) {
      respond = given;
      for (const [way, ask] of ENDPOINTS.slice(0, 3)) {
        expect([way, await (await ask('up/m')).text()]).toEqual([way, expect.stringContaining('wwww')]);
        const told = http.recorded.splice(0);
        expect([way, part, told.map(({ usage }) => usage.outputTokens > 900)]).toEqual([way, part, [true]]);
      }
    }
  }
});

verifies('providers/endless', 'text without end is given up where it is put together', async () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const piece = 'x'.repeat(400_000);
  const openai = bytes(`data: {"choices":[{"index":0,"delta":{"content":"${piece}"}}]}\n\n`);
  const claude = bytes(`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"${piece}"}}\n\n`);
  const gemini = bytes(`data: {"candidates":[{"content":{"parts":[{"text":"${piece}"}]}}]}\n\n`);
  for (const [model, event] of [
    ['up/m', openai],
    ['claude/m', claude],
    ['gemini/m', gemini],
  ] as const) {
    let sent = 0;
    respond = () => {
      sent = 0;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if ((sent += event.byteLength) > 200_000_000) return controller.close();
            controller.enqueue(event);
          },
        }),
      );
    };
    for (const [way, ask] of ENDPOINTS.slice(1, 3)) {
      const response = await ask(model);
      expect([model, way, response.status, (await readError(response)).message]).toEqual([
        model,
        way,
        502,
        expect.stringMatching(/sent (more|too much|a response)/),
      ]);
      expect(sent).toBeLessThan(80_000_000);
    }
  }
});
