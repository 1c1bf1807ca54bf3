import { expect } from 'vitest';
import { toEvents, HTTP_BASE, readEvents, createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { ProviderError } from '../../../providers/provider.ts';

const v1 = createUpstreamHttp();

verifies('http.responses/stream', 'of text has every event in order', async () => {
  const response = await v1.http.post('/v1/responses', { model: 'main', input: 'Hi', stream: true });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const got = await readEvents(response);
  expect(got.map(({ sequence_number: number }) => number)).toEqual(got.map((_, index) => index));
  expect(got.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const [created, , added, part, delta, , done, partDone, itemDone, completed] = got;
  expect(created).toMatchObject({ response: { status: 'in_progress', output: [], usage: null, completed_at: null, store: true } });
  const { id } = added?.['item'] as { id: string };
  const place = { item_id: id, output_index: 0, content_index: 0 };
  expect(added).toMatchObject({ output_index: 0, item: { type: 'message', status: 'in_progress', content: [] } });
  expect(part).toMatchObject({ ...place, part: { type: 'output_text', text: '', annotations: [] } });
  expect(delta).toMatchObject({ ...place, delta: 'Hel', logprobs: [] });
  expect(done).toMatchObject({ ...place, text: 'Hello', logprobs: [] });
  expect(partDone).toMatchObject({ ...place, part: { type: 'output_text', text: 'Hello' } });
  expect(itemDone).toMatchObject({ item: { id, status: 'completed', content: [{ text: 'Hello' }] } });
  expect(completed).toMatchObject({ response: { status: 'completed', output: [{ id }], usage: { output_tokens: 1 } } });
  const stored = await (
    await v1.http.ask(new Request(`${HTTP_BASE}/v1/responses/${(completed?.['response'] as { id: string }).id}`))
  ).json();
  expect(stored).toEqual(completed?.['response']);
});

verifies(['http.responses/stream', 'http.responses/tools'], 'of a tool call', async () => {
  const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }];
  const got = await readEvents(await v1.http.post('/v1/responses', { model: 'up/tool', input: 'Hi', tools, stream: true }));
  expect(got.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(got[2]).toMatchObject({
    item: { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '', status: 'in_progress' },
  });
  expect(got[4]).toMatchObject({ output_index: 0, arguments: '{"city":"Köln"}' });
  expect(got[6]).toMatchObject({ response: { status: 'completed', output: [{ type: 'function_call', status: 'completed' }] } });
});

verifies('http.responses/stream', 'of thoughts before the text', async () => {
  const got = await readEvents(await v1.http.post('/v1/responses', { model: 'up/reasoning', input: 'Hi', stream: true }));
  expect(got.map(({ type, output_index: index }) => [type.replace('response.', ''), index]).slice(2, -1)).toEqual([
    ['output_item.added', 0],
    ['content_part.added', 0],
    ['reasoning_text.delta', 0],
    ['reasoning_text.delta', 0],
    ['reasoning_text.done', 0],
    ['content_part.done', 0],
    ['output_item.done', 0],
    ['output_item.added', 1],
    ['content_part.added', 1],
    ['output_text.delta', 1],
    ['output_text.done', 1],
    ['content_part.done', 1],
    ['output_item.done', 1],
  ]);
  expect(got.at(-1)).toMatchObject({
    response: {
      output: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hmm so' }] }, { type: 'message' }],
    },
  });
});

verifies('http.responses/ends', 'that fails after its first byte ends in response.failed', async () => {
  const got = await readEvents(await v1.http.post('/v1/responses', { model: 'up/cut', input: 'Hi', stream: true }));
  expect(got.at(-1)).toMatchObject({
    type: 'response.failed',
    sequence_number: got.length - 1,
    response: { status: 'failed', error: { code: 'server_error' }, output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }] },
  });
  expect(v1.http.recorded).toMatchObject([{ usage: { estimated: true } }]);
  v1.http.agent = () => toEvents({ type: 'text', text: 'Hel' }, new ProviderError('Too many', { status: 429 }));
  expect((await readEvents(await v1.http.post('/v1/responses', { model: 'main', input: 'Hi', stream: true }))).at(-1)).toMatchObject({
    response: { error: { code: 'rate_limit_exceeded' } },
  });
  v1.http.agent = () => toEvents({ type: 'text', text: 'Hel' }, { type: 'finish', reason: 'length' });
  expect((await readEvents(await v1.http.post('/v1/responses', { model: 'main', input: 'Hi', stream: true }))).at(-1)).toMatchObject({
    type: 'response.incomplete',
  });
  expect((await v1.http.post('/v1/responses', { model: 'up/error-500', input: 'Hi', stream: true })).status).toBe(502);
});
