import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { toEvents, readData, readError, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { type MediaHandler, sendJson, startMediaServer } from '../../../../../tests/support/media-server.ts';

const KEY = 'key:a';
const answers: Record<string, MediaHandler> = {};
let server: Awaited<ReturnType<typeof startMediaServer>>;
let http: ReturnType<typeof createTestHttp>;
let openai: OpenAI;

beforeAll(async () => {
  server = await startMediaServer(answers);
});
afterAll(() => server.close());
beforeEach(() => {
  for (const path of Object.keys(answers)) delete answers[path];
  server.requests.length = 0;
  http = createTestHttp([{ id: 'up', name: 'Upstream', baseUrl: server.url }]);
  openai = http.openai(KEY);
});

const head = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'base' };
const choice = (text: string, finish: string | null = null): object => ({ text, index: 0, logprobs: null, finish_reason: finish });
const USAGE = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

/** A chat model that repeats the last message, in two pieces. */
const chat: MediaHandler = ({ json }, response) => {
  const messages = json?.['messages'] as { content: string }[];
  const text = `re: ${messages.at(-1)?.content}`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (value: object): unknown => response.write(`data: ${JSON.stringify(value)}\n\n`);
  for (const content of [text.slice(0, 2), text.slice(2)]) write({ choices: [{ index: 0, delta: { content } }] });
  write({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage: USAGE });
  response.end('data: [DONE]\n\n');
};

verifies('http.completions/passed', 'every parameter goes to a server that has the endpoint, and the answer comes back', async () => {
  const whole = { ...head, choices: [choice('Hello', 'stop')], usage: USAGE };
  answers['/v1/completions'] = (_request, response) => sendJson(response, whole);
  const asked = { model: 'up/base', prompt: [1, 2], suffix: '.', logprobs: 2, best_of: 3, echo: true, odd: true };
  expect(await openai.completions.create(asked)).toEqual(whole);
  expect(server.requests[0]?.json).toEqual({ ...asked, model: 'base' });
  expect(http.recorded).toMatchObject([{ model: 'up/base', principal: KEY, usage: { inputTokens: 2, outputTokens: 3, totalTokens: 5 } }]);

  answers['/v1/completions'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of [{ choices: [choice('Hel')] }, { choices: [choice('lo', 'stop')] }, { choices: [], usage: USAGE }])
      response.write(`data: ${JSON.stringify({ ...head, ...part })}\n\n`);
    response.end('data: [DONE]\n\n');
  };
  let text = '';
  for await (const part of await openai.completions.create({ model: 'up/base', prompt: 'Hi', stream: true }))
    text += part.choices[0]?.text ?? '';
  expect([text, http.recorded[1]?.usage.totalTokens]).toEqual(['Hello', 5]);
});

it('ends a stream that the upstream breaks off with an error and one [DONE]', async () => {
  answers['/v1/completions'] = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await new Promise<void>((resolve) =>
      response.write(`data: ${JSON.stringify({ ...head, choices: [choice('Hel')] })}\n\n`, () => resolve()),
    );
    response.destroy();
  };
  const data = await readData(await http.post('/v1/completions', { model: 'up/base', prompt: 'Hi', stream: true }));
  expect(data).toEqual([expect.stringContaining('Hel'), expect.stringContaining('"error"'), '[DONE]']);
  expect(http.recorded).toMatchObject([{ usage: { estimated: true } }]);
});

verifies('http.completions/translated', 'a server without the endpoint is asked for a chat completion', async () => {
  answers['/v1/chat/completions'] = chat;
  const whole = await openai.completions.create({ model: 'up/chat', prompt: ['One', 'Two'], n: 2, echo: true, max_tokens: 9, stop: 'x' });
  expect(whole.choices.map(({ index, text, finish_reason }) => [index, text, finish_reason])).toEqual([
    ...[0, 1].map((index) => [index, 'Onere: One', 'length']),
    ...[2, 3].map((index) => [index, 'Twore: Two', 'length']),
  ]);
  expect(whole.usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 12 });
  expect(server.requests.at(-1)?.json).toMatchObject({ max_tokens: 9, stop: ['x'], messages: [{ role: 'user' }] });
  expect(http.recorded).toMatchObject([{ model: 'up/chat', usage: { totalTokens: 20 } }]);

  let text = '';
  let total = 0;
  const stream_options = { include_usage: true };
  for await (const part of await openai.completions.create({ model: 'up/chat', prompt: 'Hi', stream: true, echo: true, stream_options })) {
    text += part.choices[0]?.text ?? '';
    total = part.usage?.total_tokens ?? total;
  }
  expect([text, total]).toEqual(['Hire: Hi', 5]);
});

verifies('http.completions/translated', 'an agent answers a prompt', async () => {
  expect((await openai.completions.create({ model: 'perch/main', prompt: 'Hi' })).choices[0]?.text).toBe('Hello');
  expect(http.runs[0]).toMatchObject({ agentId: 'main', principal: KEY, messages: [{ role: 'user', content: 'Hi' }] });
  let text = '';
  for await (const part of await openai.completions.create({ model: 'main', prompt: 'Hi', stream: true }))
    text += part.choices[0]?.text ?? '';
  expect(text).toBe('Hello');
  http.agent = () => toEvents({ type: 'text', text: 'Hel' }, new Error('broken'));
  const data = await readData(await http.post('/v1/completions', { model: 'main', prompt: 'Hi', stream: true }));
  expect(data).toEqual([expect.stringContaining('Hel'), expect.stringContaining('"error"'), '[DONE]']);
});

verifies('http.completions/refused', 'what they cannot honour is refused by name, or ignored and named', async () => {
  for (const [more, param] of [
    [{ prompt: [1, 2] }, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: [] }, 'prompt'],
    [{ prompt: ['a', 'b'] }, 'prompt'],
    [{ suffix: 'end' }, 'suffix'],
    [{ best_of: 2 }, 'best_of'],
    [{ n: 2 }, 'n'],
    [{ n: 9 }, 'n'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ temperature: 3 }, 'temperature'],
  ] as const) {
    const response = await http.post('/v1/completions', { model: 'perch/main', prompt: 'Hi', ...more });
    expect([more, response.status, (await readError(response)).param]).toEqual([more, 400, param]);
  }
  const ignoring = await http.post('/v1/completions', { model: 'perch/main', prompt: 'Hi', logprobs: 1, odd: true });
  expect([ignoring.status, ignoring.headers.get('x-perch-ignored')]).toEqual([200, 'logprobs, odd']);
  expect((await http.post('/v1/completions', { model: 'nope', prompt: 'Hi' })).status).toBe(404);
  expect(http.faults).toEqual([]);
});

it('gives the upstream’s refusal', async () => {
  answers['/v1/completions'] = (_request, response) => sendJson(response, { error: { message: 'no such suffix', param: 'suffix' } }, 400);
  const response = await http.post('/v1/completions', { model: 'up/base', prompt: 'Hi', suffix: 'x' });
  expect([response.status, await readError(response)]).toMatchObject([400, { param: 'suffix' }]);
  await expect(openai.completions.create({ model: 'up/base', prompt: 'Hi' })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
});
