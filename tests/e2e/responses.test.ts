import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT, UPSTREAM_VECTOR } from '../test-upstream.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { createOpenai } from './openai-client.ts';
import { addProvider, connectOutside } from './outside-client.ts';

// One gateway in its managed Chromium; the official package calls it from outside.
let perch: Perch;
let upstream: Upstream;
let openai: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream({ models: ['normal', 'tool', 'cut'] });
  perch = await startPerch();
  openai = createOpenai(perch);
  using outside = await connectOutside(perch);
  await addProvider(outside.client, upstream.url);
});
afterAll(async () => {
  await perch?.[Symbol.asyncDispose]();
  await upstream?.close();
});

const text = UPSTREAM_TEXT.join('');
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'get_weather', strict: true, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
];

verifies(
  ['http.responses/openai-client', 'http.responses/whole', 'http.responses/stored', 'http.responses/input-items'],
  'made, read and deleted',
  async () => {
    const agent = await openai.responses.create({ model: 'perch/main', input: 'How do I add a model?', instructions: 'Be brief' });
    expect(agent).toMatchObject({ object: 'response', status: 'completed', model: 'perch/main', store: true });
    expect(agent.output_text).toContain('Settings');
    expect(agent.usage?.total_tokens).toBeGreaterThan(0);
    const direct = await openai.responses.create({ model: 'local/normal', input: [{ role: 'user', content: 'hi' }], metadata: { a: 'b' } });
    expect(direct.output_text).toBe(text);
    expect(direct.usage).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 });

    const read = await openai.responses.retrieve(direct.id);
    expect(read).toMatchObject({ id: direct.id, output_text: text, metadata: { a: 'b' } });
    const items: string[] = [];
    for await (const { type } of openai.responses.inputItems.list(direct.id)) items.push(type);
    expect(items).toEqual(['message']);
    await expect(openai.responses.cancel(direct.id)).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await openai.responses.delete(direct.id);
    await expect(openai.responses.retrieve(direct.id)).rejects.toMatchObject({ status: 404 });
    await expect(openai.responses.delete(direct.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  },
);

verifies(['http.responses/openai-client', 'http.responses/stream'], 'streamed, by the package’s own helper', async () => {
  for (const model of ['local/normal', 'perch/main']) {
    const stream = openai.responses.stream({ model, input: 'hello' });
    let got = '';
    const numbers: number[] = [];
    stream.on('event', ({ sequence_number: number }) => numbers.push(number));
    stream.on('response.output_text.delta', ({ delta }) => (got += delta));
    const final = await stream.finalResponse();
    expect(final.status).toBe('completed');
    expect(final.output_text).toBe(got);
    if (model === 'local/normal') expect(got).toBe(text);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(await openai.responses.retrieve(final.id)).toMatchObject({ output_text: got });
  }
});

verifies(['http.responses/openai-client', 'http.responses/tools', 'http.responses/previous'], 'a loop of tools', async () => {
  const first = openai.responses.stream({ model: 'local/tool', input: 'Weather in Köln?', tools });
  const called = await first.finalResponse();
  const [call] = called.output;
  if (call?.type !== 'function_call') throw new Error('There is no call');
  expect(JSON.parse(call.arguments)).toEqual({ city: 'Köln' });
  const second = await openai.responses.create({
    model: 'local/normal',
    previous_response_id: called.id,
    input: [{ type: 'function_call_output', call_id: call.call_id, output: 'Sunny' }],
    tools,
  });
  expect(second.output_text).toBe(text);
  expect(upstream.requests.findLast(({ method }) => method === 'POST')?.body?.['messages']).toMatchObject([
    { role: 'user', content: 'Weather in Köln?' },
    { role: 'assistant', tool_calls: [{ id: call.call_id, function: { name: 'get_weather' } }] },
    { role: 'tool', tool_call_id: call.call_id, content: 'Sunny' },
  ]);
});

verifies(['http.responses/openai-client', 'http.responses/background', 'http.responses/cancel'], 'in the background', async () => {
  for (const model of ['local/normal', 'perch/main']) {
    let created = await openai.responses.create({ model, input: 'How do I add a model?', background: true });
    expect(created.status).toBe('queued');
    while (created.status === 'queued' || created.status === 'in_progress') created = await openai.responses.retrieve(created.id);
    expect(created.status).toBe('completed');
    expect((await openai.responses.cancel(created.id)).status).toBe('completed');
    const numbers: number[] = [];
    const again = await openai.responses.retrieve(created.id, { stream: true, starting_after: 1 });
    for await (const { sequence_number: number } of again) numbers.push(number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 2));
  }
  const stream = await openai.responses.create({ model: 'local/endless', input: 'x', background: true, stream: true });
  let id = '';
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') break;
  }
  expect((await openai.responses.retrieve(id)).status).toBe('in_progress');
  expect((await openai.responses.cancel(id)).status).toBe('cancelled');
});

verifies(['http.responses/openai-client', 'http.responses/ends', 'http.responses/refused'], 'what fails', async () => {
  const stream = await openai.responses.create({ model: 'local/cut', input: 'x', stream: true });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.at(-1)).toBe('response.failed');
  await expect(openai.responses.create({ model: 'nobody/none', input: 'x' })).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
  await expect(openai.responses.create({ model: 'local/normal', input: 'x', background: true, store: false })).rejects.toMatchObject({
    status: 400,
    param: 'background',
  });
  await expect(openai.responses.create({ model: 'local/normal', input: 'x', previous_response_id: 'resp_x' })).rejects.toMatchObject({
    status: 400,
    code: 'previous_response_not_found',
  });
});

verifies('http.responses/whose', 'a key’s own are not another’s', async () => {
  using outside = await connectOutside(perch);
  const { secret: one } = await outside.client.call('keys.create', { name: 'One' });
  const { secret: two } = await outside.client.call('keys.create', { name: 'Two' });
  const as = (apiKey: string): OpenAI => createOpenai(perch, apiKey);
  const { id } = await as(one).responses.create({ model: 'local/normal', input: 'hi' });
  await expect(as(two).responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  expect(await as(one).responses.retrieve(id)).toMatchObject({ id });
  expect(await openai.responses.retrieve(id)).toMatchObject({ id });
});

verifies('http.embeddings/openai', 'through the bridge, by the package', async () => {
  const { data, usage } = await openai.embeddings.create({ model: 'local/embed', input: ['a', 'b'] });
  expect(data.map(({ embedding }) => [...embedding])).toEqual([UPSTREAM_VECTOR, UPSTREAM_VECTOR]);
  expect(usage.total_tokens).toBe(2);
  const plain = await openai.embeddings.create({ model: 'local/embed', input: 'a', encoding_format: 'float' });
  expect(plain.data[0]?.embedding).toEqual(UPSTREAM_VECTOR);
});

verifies('http.responses/websocket', 'over a WebSocket, by the package’s own client', async () => {
  const socket = new ResponsesWS(openai);
  const ended = new Promise<OpenAI.Responses.Response>((resolve, reject) => {
    socket.on('response.completed', ({ response }) => resolve(response));
    socket.on('error', reject);
  });
  let got = '';
  socket.on('response.output_text.delta', ({ delta }) => (got += delta));
  socket.send({ type: 'response.create', model: 'local/normal', input: 'hello', store: false });
  expect(await ended).toMatchObject({ status: 'completed', store: false });
  expect(got).toBe(text);
  socket.close();
});
