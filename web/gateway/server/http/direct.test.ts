import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { readData, readError, createTestHttp, createUpstreamHttp } from '../../../../tests/support/test-http.ts';
import { completionChunk } from '../../../../tests/support/openai-shapes/chat-shapes.ts';
import { errorResponse } from '../../../../tests/support/openai-shapes/error-shapes.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { UPSTREAM_TEXT } from '../../../../tests/test-upstream.ts';

const v1 = createUpstreamHttp();
const TEXT = UPSTREAM_TEXT.join('');
const hi = [{ role: 'user', content: 'Hi' }];
const head = { id: 'c', created: 1, model: 'x' };

describe('a model, directly', () => {
  it('gets every parameter, and its answer comes back as it is', async () => {
    const body = { model: 'up/normal', messages: hi, seed: 7, response_format: { type: 'json_object' }, logit_bias: { 5: 1 }, odd: [1] };
    const response = await v1.http.chat(body);
    const { body: got } = v1.upstream.requests.at(-1) ?? {};
    expect(got).toEqual({ ...body, model: 'normal' });
    expect(await response.json()).toMatchObject({
      id: 'chatcmpl-upstream',
      choices: [{ message: { content: TEXT } }],
      usage: { total_tokens: 18 },
    });
    expect(v1.http.recorded).toMatchObject([
      { provider: 'up', model: 'up/normal', principal: 'owner', usage: { inputTokens: 11, outputTokens: 7, cacheReadTokens: 3 } },
    ]);
  });

  it.each(['normal', 'split-1', 'split-5', 'whole', 'slow-1'])('streams %s with exactly one [DONE]', async (mode) => {
    const data = await readData(await v1.http.chat({ model: `up/${mode}`, messages: hi, stream: true }));
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(data.at(-1)).toBe('[DONE]');
    const text = data
      .slice(0, -1)
      .map((each) => completionChunk.parse(JSON.parse(each)).choices[0]?.delta['content'] ?? '')
      .join('');
    expect(text).toBe(TEXT);
    expect(v1.http.recorded).toHaveLength(1);
    expect(v1.http.recorded[0]?.usage).toMatchObject({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
    expect(data.join()).not.toContain(mode === 'whole' ? 'nothing' : 'total_tokens');
  });

  const strictRequests = (): number => v1.upstream.requests.filter(({ body }) => body?.['model'] === 'strict').length;

  verifies('http.chat/true-usage', 'is asked for usage, which is hidden from a caller that did not ask for it', async () => {
    await streamsUsage('owner');
    await streamsUsage('key:k1');
    const before = strictRequests();
    await readData(await v1.http.chat({ model: 'up/strict', messages: hi, stream: true }));
    expect(strictRequests() - before, 'a refusal is remembered').toBe(1);
  });

  async function streamsUsage(principal: string): Promise<void> {
    const ask = (body: object): Promise<Response> => v1.http.chat(body, { principal });
    for (const [mode, more, told] of [
      ['normal', {}, { include_usage: true }],
      ['normal', { stream_options: { include_usage: false, x: 1 } }, { include_usage: true, x: 1 }],
      ['strict', {}, undefined],
    ] as const) {
      v1.http.recorded.length = 0;
      const data = await readData(await ask({ model: `up/${mode}`, messages: hi, stream: true, ...more }));
      expect(v1.upstream.requests.at(-1)?.body?.['stream_options']).toEqual(told);
      expect(data.join()).not.toContain('total_tokens');
      expect(data.at(-1)).toBe('[DONE]');
      expect(v1.http.recorded).toMatchObject([{ principal, usage: mode === 'strict' ? { estimated: true } : { totalTokens: 18 } }]);
    }
    const own = await readData(await ask({ model: 'up/normal', messages: hi, stream: true, stream_options: { include_usage: true } }));
    expect(own.join()).toContain('total_tokens');
    await ask({ model: 'up/normal', messages: hi });
    expect(v1.upstream.requests.at(-1)?.body).not.toHaveProperty('stream_options');
  }

  it('gives tool calls back to the caller', async () => {
    const completion = await v1.http.openai().chat.completions.create({ model: 'up/tool', messages: [{ role: 'user', content: 'Hi' }] });
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'get_weather' } }]);
  });

  verifies('http.chat/stream-error', 'an upstream that fails midway leaves an error object, then one [DONE]', async () => {
    for (const mode of ['cut', 'cut-event', 'reset', 'garbage', 'error-inside']) {
      const data = await readData(await v1.http.chat({ model: `up/${mode}`, messages: hi, stream: true }));
      expect(
        data.map((each) => (each.startsWith('{"error"') ? 'error' : each === '[DONE]' ? each : 'chunk')),
        mode,
      ).toEqual(['chunk', 'error', '[DONE]']);
      expect(errorResponse.parse(JSON.parse(data[1] ?? '')).error, mode).toMatchObject({
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
        const response = await v1.http.chat({ model: `up/${mode}`, messages: hi, stream });
        expect({ mode, stream, status: response.status }).toEqual({ mode, stream, status });
        expect((await readError(response)).type, mode).toBe(type);
        if (status === 429) expect(response.headers.get('retry-after')).toBe('1');
      }
    }
  });

  it('that says nothing after the finish reason is not waited for', async () => {
    const clock = new FakeClock();
    const response = await v1.at(clock).chat({ model: 'up/stall-end', messages: hi, stream: true });
    const data = readData(response);
    await clock.waitForTimer(2000);
    clock.advance(2000);
    expect((await data).map((each) => (each.startsWith('{"error"') ? 'error' : each === '[DONE]' ? each : 'chunk'))).toEqual([
      'chunk',
      'chunk',
      '[DONE]',
    ]);
  });

  it('that stalls in the middle ends after 60 s', async () => {
    const clock = new FakeClock();
    const response = await v1.at(clock).chat({ model: 'up/stall', messages: hi, stream: true });
    const data = readData(response);
    clock.advance(60_000);
    expect((await data).at(-1)).toBe('[DONE]');
    expect((await data).at(-2)).toContain('sent nothing for');
  });

  it('may give several choices, of which none is cut short', async () => {
    const chunk = (index: number, delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason }] })}\n\n`;
    const body = chunk(0, { content: 'a' }) + chunk(0, {}, 'stop') + chunk(1, { content: 'b' }) + chunk(1, {}, 'stop');
    const http = createTestHttp([{ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' }], async () => new Response(body));
    const data = await readData(await http.chat({ model: 'up/x', messages: hi, stream: true, n: 2 }));
    expect(data).toHaveLength(5);
    expect(data.at(-1)).toBe('[DONE]');
  });

  it('that streams unasked and gives no figures is counted, for the caller as for the books', async () => {
    const { usage } = (await (await v1.http.chat({ model: 'up/reasoning', messages: hi })).json()) as { usage: Record<string, number> };
    const [booked] = v1.http.recorded;
    expect(booked?.usage).toMatchObject({
      estimated: true,
      inputTokens: expect.toSatisfy((tokens: number) => tokens > 0),
      outputTokens: 3,
    });
    expect(usage).toEqual({ prompt_tokens: booked?.usage.inputTokens, completion_tokens: 3, total_tokens: booked?.usage.totalTokens });
  });

  verifies('http.chat/thoughts-in-text', 'that marks thoughts in its text has them apart', async () => {
    const said = { index: 0, delta: { content: '<think>plan</think>Hello' }, finish_reason: 'stop' };
    const body = `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [said] })}\n\ndata: [DONE]\n\n`;
    const http = createTestHttp([{ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' }], async () => new Response(body));
    const [event = ''] = await readData(await http.chat({ model: 'up/x', messages: hi, stream: true }));
    expect(JSON.parse(event)).toMatchObject({ choices: [{ delta: { content: 'Hello', reasoning_content: 'plan' } }] });
    const message = { role: 'assistant', content: '<think>plan</think>Hello', refusal: null };
    const whole = JSON.stringify({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    });
    const plain = createTestHttp([{ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' }], async () => new Response(whole));
    const apart = { content: 'Hello', reasoning_content: 'plan' };
    expect(await (await plain.chat({ model: 'up/x', messages: hi })).json()).toMatchObject({ choices: [{ message: apart }] });
    const [chunk = ''] = await readData(await plain.chat({ model: 'up/x', messages: hi, stream: true }));
    expect(JSON.parse(chunk)).toMatchObject({ choices: [{ delta: apart }] });
  });

  it('can be the guide', async () => {
    const completion = await v1.http.openai().chat.completions.create({
      model: 'guide/guide',
      messages: [{ role: 'user', content: 'How do I add a model?' }],
    });
    expect(completion.choices[0]?.message.content).toContain('Settings → Models and keys');
    expect(v1.http.recorded[0]).toMatchObject({ provider: 'guide', usage: { estimated: true } });
    const called = await v1.http.openai().chat.completions.create({
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
