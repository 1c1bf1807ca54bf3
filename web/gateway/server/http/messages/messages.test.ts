import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANTHROPIC_KEY, type AnthropicUpstream, startAnthropicUpstream } from '../../../../../tests/support/anthropic-upstream.ts';
import { toEvents, HTTP_BASE, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../../../../../tests/test-upstream.ts';
import { verifies } from '../../../../../tests/requirements.ts';

let claude: AnthropicUpstream;
let other: Upstream;
let http: ReturnType<typeof createTestHttp>;

beforeAll(async () => {
  [claude, other] = await Promise.all([startAnthropicUpstream(), startUpstream()]);
});
afterAll(async () => {
  await claude?.[Symbol.asyncDispose]();
  await other?.close();
});
beforeEach(() => {
  claude.requests.length = 0;
  claude.respond = undefined;
  claude.script = () => [{ text: TEXT }];
  http = createTestHttp([
    { id: 'up', name: 'Upstream', baseUrl: other.url },
    { id: 'claude', name: 'Claude', kind: 'anthropic', baseUrl: claude.url, apiKey: ANTHROPIC_KEY },
  ]);
});

const TEXT = 'Hello wörld 漢字!';
const OTHER_TEXT = UPSTREAM_TEXT.join('');
const PNG = 'iVBORw0KGgo=';
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }];
const tools: Anthropic.Tool[] = [
  { name: 'get_weather', description: 'Weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
];

const sdk = (): Anthropic =>
  new Anthropic({
    baseURL: HTTP_BASE,
    apiKey: 'token',
    maxRetries: 0,
    fetch: (url, init) => http.ask(new Request(url, init)),
  });
const post = (body: object, headers: Record<string, string> = {}) =>
  http.post('/v1/messages', { max_tokens: 100, messages, ...body }, { headers });
const lastBody = (): Record<string, unknown> => other.requests.at(-1)?.body ?? {};

describe('the SDK', () => {
  verifies('http.messages/sdk', 'reads answers of agents and models, streamed and whole', async () => {
    for (const [model, expected] of [
      ['perch/main', 'Hello'],
      ['up/normal', OTHER_TEXT],
      ['claude/claude-test', TEXT],
    ] as const) {
      const whole = await sdk().messages.create({ model, max_tokens: 100, messages });
      expect(whole).toMatchObject({
        type: 'message',
        role: 'assistant',
        stop_reason: 'end_turn',
        content: [{ type: 'text', text: expected }],
      });
      expect(whole.usage.output_tokens).toBeGreaterThan(0);
      expect(whole._request_id).toBeTruthy();
      const final = await sdk().messages.stream({ model, max_tokens: 100, messages }).finalMessage();
      expect(final).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: expected }] });
      expect(final.usage.output_tokens).toBeGreaterThan(0);
    }
    expect(http.recorded.map(({ model }) => model)).toEqual(['up/normal', 'up/normal', 'claude/claude-test', 'claude/claude-test']);
    expect(http.recorded.at(-1)?.usage).toEqual({
      ...{ inputTokens: 47, outputTokens: 9, totalTokens: 56 },
      ...{ cacheReadTokens: 30, cacheWriteTokens: 5 },
    });
    expect(http.recorded.at(-2)?.usage).toEqual(http.recorded.at(-1)?.usage);
  });

  verifies('http.messages/sdk', 'runs tools until the answer is there', async () => {
    const asked: unknown[] = [];
    const runnable = {
      type: 'custom' as const,
      ...tools[0]!,
      run: (input: unknown) => {
        asked.push(input);
        return 'sunny';
      },
      parse: (input: unknown) => input,
    };
    claude.script = ({ body }) =>
      body.messages.length > 1 ? [{ text: 'It is sunny.' }] : [{ text: 'Let me look.' }, { tool: 'get_weather', input: { city: 'Köln' } }];
    const params = { max_tokens: 100, messages, tools: [runnable], max_iterations: 4 };
    const final = await sdk()
      .beta.messages.toolRunner({ model: 'claude/claude-test', ...params })
      .runUntilDone();
    expect(final.content).toMatchObject([{ type: 'text', text: 'It is sunny.' }]);
    // The SDK requests a thread first, and works without one if that fails.
    expect(claude.requests.map(({ body }) => body['thread'])).toEqual([{ type: 'create' }, undefined, undefined]);

    other.queue.push('tool', 'normal');
    const translated = await sdk()
      .beta.messages.toolRunner({ model: 'up/normal', ...params })
      .runUntilDone();
    expect(translated.content).toMatchObject([{ type: 'text', text: OTHER_TEXT }]);
    expect(lastBody()['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'get_weather', arguments: '{"city":"Köln"}' } }] },
      { role: 'tool', content: 'sunny' },
    ]);

    let turn = 0;
    http.agent = () =>
      ++turn === 1
        ? toEvents(
            { type: 'tool_call', call: { id: 'c1', tool: 'own', args: {} } },
            { type: 'tool_call', call: { id: 'c2', tool: 'get_weather', args: { city: 'Bonn' } } },
            { type: 'finish', reason: 'tool_calls' },
          )
        : toEvents({ type: 'text', text: 'Done' }, { type: 'finish', reason: 'stop' });
    const agents = await sdk()
      .beta.messages.toolRunner({ model: 'perch/main', ...params })
      .runUntilDone();
    expect(agents.content).toMatchObject([{ type: 'text', text: 'Done' }]);
    expect(http.runs.at(-1)?.tools?.map(({ name }) => name)).toEqual(['get_weather']);
    expect(asked).toEqual([{ city: 'Köln' }, { city: 'Köln' }, { city: 'Bonn' }]);
  });

  verifies('http.messages/sdk', 'counts tokens: by Anthropic for its models, by Perch for others', async () => {
    const count = (model: string) => sdk().messages.countTokens({ model, messages, tools, system: 'Be brief.' });
    expect(await count('claude/claude-test')).toEqual({ input_tokens: 4321 });
    for (const model of ['up/normal', 'perch/main']) expect((await count(model)).input_tokens).toBeGreaterThan(10);
    claude.respond = (_request, response) => !!response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    expect((await count('claude/claude-test')).input_tokens).toBeGreaterThan(10);
    expect(http.recorded).toEqual([]);
  });

  verifies('http.messages/sdk', 'lists models', async () => {
    const ids: string[] = [];
    for await (const model of sdk().models.list({ limit: 2 })) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining(['perch/main', 'guide/guide', 'up/normal', 'claude/claude-test']));
    expect(await sdk().models.retrieve('perch/main')).toMatchObject({ type: 'model', id: 'perch/main' });
    await expect(sdk().models.retrieve('nope')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  verifies('http.messages/errors', 'throws its own classes', async () => {
    const create = (model: string, more: object = {}) => sdk().messages.create({ model, max_tokens: 100, messages, ...more });
    const failing = create('nope');
    await expect(failing).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(failing).rejects.toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });
    await expect(create('up/normal', { messages: [] })).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    claude.respond = (_request, response) =>
      !!response
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '120' })
        .end('{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}');
    await expect(create('claude/claude-test')).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    claude.respond = (_request, response) =>
      !!response
        .writeHead(529, { 'content-type': 'application/json', 'retry-after': '120' })
        .end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
    await expect(create('claude/claude-test')).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } });
    const missing = await http.post('/v1/messages/batches', {});
    expect(await missing.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' }, request_id: expect.any(String) });
    const scopes = await http.post('/v1/messages', {}, { scopes: ['mcp'] });
    expect([scopes.status, await scopes.json()]).toMatchObject([403, { error: { type: 'permission_error' } }]);
  });
});

describe('failing streams', () => {
  verifies('http.messages/errors', 'after the first event, in an event of their own', async () => {
    const start = 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n';
    const piece =
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}\n\n';
    const error = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded ${ANTHROPIC_KEY}"}}\n\n`;
    for (const [rest, type] of [
      [error, 'overloaded_error'],
      ['', 'api_error'],
      ['data: nonsense\n\n', 'api_error'],
    ]) {
      claude.respond = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start + piece);
        setTimeout(() => response.end(rest), 20);
        return true;
      };
      const text = await (await post({ model: 'claude/claude-test', stream: true })).text();
      expect(text).toContain(start);
      expect(text).not.toContain(ANTHROPIC_KEY);
      expect(text).not.toContain('message_stop');
      expect(text.split('event: error').length).toBe(2);
      expect(JSON.parse(text.trim().split('data: ').at(-1) ?? '')).toMatchObject({ type: 'error', error: { type } });
      expect(http.recorded.at(-1)?.usage).toMatchObject({ inputTokens: 5 });
    }
    const cut = sdk().messages.stream({ model: 'up/cut', max_tokens: 100, messages });
    await expect(cut.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
  });
});

describe('translation', () => {
  verifies('http.messages/translated', 'of everything that a request can hold', async () => {
    const response = await post({
      model: 'up/normal',
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      stop_sequences: ['END'],
      temperature: 0.5,
      top_p: 0.9,
      metadata: { user_id: 'someone' },
      tools,
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            { type: 'document', title: 'Notes', source: { type: 'text', media_type: 'text/plain', data: 'Some notes' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 's' },
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Köln' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: [{ type: 'text', text: 'No network' }] },
            { type: 'text', text: 'Go on.' },
          ],
        },
      ],
    });
    expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, null]);
    expect(lastBody()).toMatchObject({
      ...{ model: 'normal', temperature: 0.5, top_p: 0.9, stop: ['END'] },
      ...{ tool_choice: 'required', parallel_tool_calls: false, user: 'someone' },
      tools: [{ function: { name: 'get_weather' } }],
      messages: [
        { role: 'system' },
        {
          role: 'user',
          content: [{ text: 'Look' }, { image_url: { url: `data:image/png;base64,${PNG}` } }, { text: 'Notes' }, { text: 'Some notes' }],
        },
        { role: 'assistant', tool_calls: [{ id: 'toolu_1' }] },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'Error:\nNo network' },
        { role: 'user' },
      ],
    });
  });

  verifies('http.messages/translated', 'of an answer with thoughts, text, calls and cached tokens', async () => {
    const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120, cacheReadTokens: 60, cacheWriteTokens: 10 };
    http.agent = () =>
      toEvents(
        { type: 'reasoning', text: 'Hm' },
        { type: 'text', text: 'So' },
        { type: 'usage', usage },
        { type: 'finish', reason: 'length' },
      );
    const content = [
      { type: 'thinking', thinking: 'Hm' },
      { type: 'text', text: 'So' },
    ];
    const expected = {
      ...{ stop_reason: 'max_tokens', content },
      usage: { input_tokens: 30, cache_read_input_tokens: 60, cache_creation_input_tokens: 10, output_tokens: 20 },
    };
    expect(await (await post({ model: 'perch/main' })).json()).toMatchObject(expected);
    expect(await sdk().messages.stream({ model: 'perch/main', max_tokens: 9, messages }).finalMessage()).toMatchObject(expected);
    http.agent = () => toEvents({ type: 'text', text: 'So' }, { type: 'finish', reason: 'stop', stopSequence: 'END' });
    expect(await (await post({ model: 'perch/main' })).json()).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    http.agent = () => toEvents({ type: 'refusal', text: 'I won’t.' }, { type: 'finish', reason: 'content_filter' });
    expect(await (await post({ model: 'perch/main' })).json()).toMatchObject({ stop_reason: 'refusal', content: [{ text: 'I won’t.' }] });
  });

  verifies('http.messages/ignored', 'names what has no effect', async () => {
    const more = {
      top_k: 5,
      service_tier: 'auto',
      from_the_future: { 'a"b': 1 },
      tools: [...tools, { type: 'web_search_20260209', name: 'web_search' }],
    };
    const given = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'hologram', data: '' },
        ],
      },
    ];
    for (const model of ['up/normal', 'perch/main']) {
      const response = await post({ model, messages: given, ...more });
      expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([
        200,
        'top_k, service_tier, from_the_future, tools[1](web_search_20260209), messages[0].content[1](hologram)',
      ]);
      expect(http.noted.find(({ message }) => message === 'Ignored parameters')).toMatchObject({
        level: 'info',
        ignored: expect.stringContaining('top_k'),
      });
    }
    const passed = await post({ model: 'claude/claude-test', messages: given, ...more });
    expect(passed.headers.get('x-perch-ignored')).toBeNull();
    expect(claude.requests.at(-1)?.body).toMatchObject({ model: 'claude-test', messages: given, ...more });
  });

  it('refuses what would change the meaning, and names it', async () => {
    const refused = async (more: object): Promise<string> => {
      const response = await post({ model: 'up/normal', ...more });
      const { error } = (await response.json()) as { error: { message: string } };
      return `${response.status} ${error.message}`;
    };
    expect(await refused({ tool_choice: { type: 'any' } })).toMatch(/^400 `tool_choice` requires/);
    expect(await refused({ tools, tool_choice: { type: 'tool', name: 'nope' } })).toMatch(/^400 `tool_choice` names the tool "nope"/);
    const picture = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    expect(await refused({ messages: [{ role: 'user', content: [picture] }] })).toMatch(
      /^400 `messages\[0\].content\[0\].source.type` must be base64/,
    );
    expect(await refused({ temperature: 3 })).toMatch(/^400 `temperature`/);
  });

  it('asks a model again without thinking if it refuses that', async () => {
    other.queue.push('thoughtless', 'thoughtless');
    const asked = other.requests.length;
    const response = await post({ model: 'up/normal', thinking: { type: 'enabled', budget_tokens: 2000 } });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-perch-ignored')).toBe('thinking');
    expect(other.requests.slice(asked).map(({ body }) => body?.['reasoning_effort'])).toEqual(['low', undefined]);
  });
});

describe('a request for an Anthropic model', () => {
  verifies('http.messages/passed-on', 'keeps its fields and headers, and its events', async () => {
    claude.script = () => [
      { thinking: 'Hm, well', text: TEXT },
      { tool: 'get_weather', input: { city: 'Köln' } },
    ];
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'some-beta-2026', 'x-api-key': 'a key of Perch' };
    const body = { model: 'claude/claude-test', stream: true, thinking: { type: 'enabled', budget_tokens: 2000 }, from_the_future: 1 };
    const response = await post(body, headers);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const { messageEvents } = await import('../../../../../tests/support/anthropic-upstream.ts');
    expect(await response.text()).toBe(messageEvents('claude-test', claude.script(claude.requests[0]!)).join(''));
    expect(claude.requests[0]).toMatchObject({
      url: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'some-beta-2026', 'x-api-key': ANTHROPIC_KEY },
      body: { ...body, model: 'claude-test' },
    });
  });
});
