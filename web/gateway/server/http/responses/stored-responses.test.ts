import { describe, expect, it } from 'vitest';
import { HTTP_BASE, readError, createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { itemList } from '../../../../../tests/support/openai-shapes/response-shapes.ts';
import { verifies } from '../../../../../tests/requirements.ts';

const v1 = createUpstreamHttp();
const { respond } = v1;
const createRequest = (path: string, method = 'GET'): Request => new Request(`${HTTP_BASE}/v1/responses/${path}`, { method });

describe('a stored response', () => {
  verifies('http.responses/stored', 'is read and deleted; one without store is not there', async () => {
    const made = await respond({ model: 'main', input: 'Hi' });
    expect(await (await v1.http.ask(createRequest(made.id))).json()).toEqual(made);
    expect((await v1.http.ask(createRequest(made.id, 'HEAD'))).status).toBe(200);
    expect(await (await v1.http.ask(createRequest(made.id, 'DELETE'))).json()).toEqual({ id: made.id, object: 'response', deleted: true });
    for (const method of ['GET', 'DELETE']) {
      const gone = await v1.http.ask(createRequest(made.id, method));
      expect([gone.status, (await readError(gone)).type]).toEqual([404, 'not_found']);
    }
    const unkept = await respond({ model: 'main', input: 'Hi', store: false });
    expect(unkept.store).toBe(false);
    expect((await v1.http.ask(createRequest(unkept.id))).status).toBe(404);
    const next = await v1.http.post('/v1/responses', { model: 'main', input: 'Hi', previous_response_id: unkept.id });
    expect([next.status, await readError(next)]).toMatchObject([
      400,
      { param: 'previous_response_id', code: 'previous_response_not_found' },
    ]);
  });

  verifies('http.responses/stored', 'that could not be kept says so', async () => {
    v1.http.responses.put = () => Promise.reject(new Error('full'));
    expect(await respond({ model: 'main', input: 'Hi' })).toMatchObject({ status: 'completed', store: false });
    expect(v1.http.faults).toHaveLength(1);
    const large = `data:image/png;base64,${'A'.repeat(9_000_000)}`;
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: large, detail: 'auto' }] }];
    expect(await respond({ model: 'main', input })).toMatchObject({ store: false });
    expect(v1.http.faults).toHaveLength(1);
  });

  verifies('http.responses/whose', 'is there for the key that made it, and for people', async () => {
    const { id } = await respond({ model: 'main', input: 'Hi' }, 'key:a');
    for (const [principal, status] of [
      ['key:a', 200],
      ['key:b', 404],
      ['owner', 200],
      ['device:d', 200],
    ] as const)
      expect([principal, (await v1.http.ask(createRequest(id), principal)).status]).toEqual([principal, status]);
    expect((await v1.http.ask(createRequest(id, 'DELETE'), 'key:b')).status).toBe(404);
    const next = { model: 'main', input: 'Hi', previous_response_id: id };
    expect((await v1.http.post('/v1/responses', next, { principal: 'key:b' })).status).toBe(400);
    const reference = { model: 'main', input: [{ id: `msg_${id.slice(5)}_i0` }] };
    expect((await v1.http.post('/v1/responses', reference, { principal: 'key:b' })).status).toBe(400);
    expect((await v1.http.post('/v1/responses', reference, { principal: 'key:a' })).status).toBe(200);
    // Reading and deleting calls no model, and does not count against limits.
    const admitted = v1.http.admitted.length;
    expect((await v1.http.ask(createRequest(id, 'DELETE'), 'key:a', ['read'])).status).toBe(403);
    expect((await v1.http.ask(createRequest(id), 'key:a', ['read'])).status).toBe(200);
    expect((await v1.http.ask(createRequest(id, 'DELETE'), 'key:a')).status).toBe(200);
    expect(v1.http.admitted).toHaveLength(admitted);
  });

  it('is given as a whole', async () => {
    const { id } = await respond({ model: 'main', input: 'Hi' });
    const response = await v1.http.ask(createRequest(`${id}?stream=true`));
    expect([response.status, (await readError(response)).param]).toEqual([400, 'stream']);
    expect((await v1.http.ask(createRequest(`${id}?stream=false`))).status).toBe(200);
  });
});

describe('inputs of a response', () => {
  const said = (text: string) => ({ role: 'user', content: text });
  const list = async (path: string) => itemList.parse(await (await v1.http.ask(createRequest(path))).json());
  const textsOf = (page: Awaited<ReturnType<typeof list>>) => page.data.map((item) => JSON.stringify(item).match(/"text":"(\w+)"/)?.[1]);

  verifies('http.responses/input-items', 'comes in pages, the newest first, with what the responses before it have', async () => {
    const first = await respond({ model: 'main', input: [said('a'), said('b')], instructions: 'Be brief' });
    const { id } = await respond({ model: 'main', input: [said('c')], previous_response_id: first.id });
    const all = await list(`${id}/input_items`);
    expect([textsOf(all), all.has_more]).toEqual([['c', 'Hello', 'b', 'a'], false]);
    expect([all.first_id, all.last_id]).toEqual([all.data[0]?.id, all.data[3]?.id]);
    expect(textsOf(await list(`${id}/input_items?order=asc`))).toEqual(['a', 'b', 'Hello', 'c']);
    const one = await list(`${id}/input_items?order=asc&limit=3`);
    expect([textsOf(one), one.has_more]).toEqual([['a', 'b', 'Hello'], true]);
    const two = await list(`${id}/input_items?order=asc&limit=3&after=${one.last_id}`);
    expect([textsOf(two), two.has_more]).toEqual([['c'], false]);
    expect(await list(`${id}/input_items?after=${all.last_id}`)).toMatchObject({ data: [], first_id: '', last_id: '' });
    const walked: string[] = [];
    for await (const item of v1.http.openai().responses.inputItems.list(id, { limit: 1, include: ['reasoning.encrypted_content'] }))
      walked.push(item.id ?? '');
    expect(walked).toEqual(all.data.map((item) => item.id));
  });

  verifies('http.responses/input-items', 'is as it was given: roles, pictures, calls and their outputs, thoughts', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' };
    const call = { type: 'function_call', call_id: 'c', name: 't', arguments: '{}' };
    const items = [
      { role: 'developer', content: 'Be brief' },
      { role: 'user', content: [{ type: 'refusal', refusal: 'No' }, image] },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      call,
      { type: 'function_call_output', call_id: 'c', output: [image] },
    ];
    const { id } = await respond({ model: 'main', input: items });
    expect((await list(`${id}/input_items?order=asc`)).data).toMatchObject([
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'No' }, image] },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] },
      { type: 'reasoning' },
      call,
      { type: 'function_call_output', call_id: 'c', output: [image] },
    ]);
  });

  verifies('http.responses/input-items', 'is not there for others, and odd pages are 400', async () => {
    const first = await respond({ model: 'main', input: 'Hi' }, 'key:a');
    const { id } = await respond({ model: 'main', input: 'Hi', previous_response_id: first.id }, 'key:a');
    const path = `${id}/input_items`;
    expect((await v1.http.ask(createRequest(path), 'key:b')).status).toBe(404);
    expect((await v1.http.ask(createRequest(path), 'key:a', ['read'])).status).toBe(200);
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=x', 'limit'],
      ['order=up', 'order'],
      ['after=msg_none', 'after'],
      ['include[]=code_interpreter_call.outputs', 'include[0]'],
      ['before=x', 'before'],
    ]) {
      const response = await v1.http.ask(createRequest(`${path}?${query}`));
      expect([query, response.status, (await readError(response)).param]).toEqual([query, 400, param]);
    }
    await v1.http.ask(createRequest(first.id, 'DELETE'));
    expect((await v1.http.ask(createRequest(path))).status).toBe(404);
    expect((await v1.http.ask(createRequest('resp_none/input_items'))).status).toBe(404);
  });
});

verifies('http.responses/cancel', 'is 400 for a response that is not made in the background, and 404 for an unknown one', async () => {
  const { id } = await respond({ model: 'main', input: 'Hi' }, 'key:a');
  const cancel = async (of: string, ...as: [principal?: string, scopes?: ('read' | 'write')[]]) => {
    const response = await v1.http.ask(createRequest(`${of}/cancel`, 'POST'), ...as);
    return [response.status, (await readError(response)).type];
  };
  expect(await cancel(id)).toEqual([400, 'invalid_request_error']);
  expect(await cancel('resp_none')).toEqual([404, 'not_found']);
  expect(await cancel(id, 'key:b')).toEqual([404, 'not_found']);
  expect(await cancel(id, 'key:a', ['read'])).toEqual([403, 'forbidden']);
});
