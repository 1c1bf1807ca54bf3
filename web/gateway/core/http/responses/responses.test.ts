import { describe, expect, it } from 'vitest';
import { events, HTTP_BASE, readError, upstreamHttp } from '../../../../../tests/support/http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { UPSTREAM_TEXT } from '../../../../../tests/upstream.ts';

const TEXT = UPSTREAM_TEXT.join('');

const v1 = upstreamHttp();

interface Answered {
  id: string;
  status: string;
  store: boolean;
  output: { type: string; id: string; call_id?: string; content?: { type: string; text: string }[] }[];
  [name: string]: unknown;
}

const respond = async (body: Record<string, unknown>, principal?: string): Promise<Answered> => {
  const response = await v1.http.post('/v1/responses', body, principal === undefined ? {} : { principal });
  const value = (await response.json()) as Answered;
  expect(value, JSON.stringify(value)).toMatchObject({ object: 'response' });
  return value;
};
const lastAsked = () => v1.upstream.requests.findLast(({ method }) => method === 'POST')?.body;
const at = (id: string, method = 'GET'): Request => new Request(`${HTTP_BASE}/v1/responses/${id}`, { method });

describe('a response', () => {
  verifies('http.responses/whole', 'of an agent', async () => {
    v1.http.agent = () =>
      events(
        { type: 'tool_call', call: { id: 'c', tool: 't', args: {} } },
        { type: 'text', text: 'Hi' },
        { type: 'usage', usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4, cacheReadTokens: 2 } },
        { type: 'finish', reason: 'tool_calls' },
      );
    const asked = { model: 'perch/helper', input: 'Hello', instructions: 'Be brief', temperature: 0.3, max_output_tokens: 5 };
    const answered = await respond({ ...asked, metadata: { a: 'b' } });
    expect(answered).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f]{48}$/) as string,
      object: 'response',
      created_at: expect.closeTo(Date.now() / 1000, -2) as number,
      completed_at: expect.closeTo(Date.now() / 1000, -2) as number,
      status: 'completed',
      error: null,
      incomplete_details: null,
      background: false,
      instructions: 'Be brief',
      max_output_tokens: 5,
      max_tool_calls: null,
      metadata: { a: 'b' },
      model: 'perch/helper',
      output: [
        {
          type: 'message',
          id: expect.stringMatching(/^msg_[0-9a-f]{48}_0$/) as string,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      presence_penalty: 0,
      frequency_penalty: 0,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 0.3,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 4,
      },
    });
    expect(v1.http.runs).toMatchObject([
      {
        agentId: 'helper',
        principal: 'owner',
        sessionId: undefined,
        wishes: { temperature: 0.3, maxTokens: 5 },
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ]);
    await respond({ model: 'main', input: 'Hello', user: 'alice' });
    expect(v1.http.runs[1]?.sessionId).toBe('alice');
    expect(v1.http.recorded).toEqual([]);
  });

  verifies(['http.responses/whole', 'http.responses/usage'], 'of a model', async () => {
    const answered = await respond({ model: 'up/normal', input: 'Hello' }, 'key:a');
    expect(answered).toMatchObject({
      status: 'completed',
      model: 'up/normal',
      output: [{ type: 'message', content: [{ text: TEXT }] }],
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18, input_tokens_details: { cached_tokens: 3 } },
    });
    expect(v1.http.recorded).toMatchObject([{ provider: 'up', model: 'up/normal', principal: 'key:a', usage: { totalTokens: 18 } }]);
    expect(v1.http.admitted).toEqual(['key:a']);
    expect(lastAsked()).toEqual({
      model: 'normal',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  verifies('http.responses/parameters', 'has the model’s parameters reach it', async () => {
    const tools = [{ type: 'function', name: 'add', description: 'Adds', parameters: { type: 'object' }, strict: true }];
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    await respond({
      ...{ model: 'up/normal', input: 'Hi', tools, tool_choice: { type: 'function', name: 'add' }, parallel_tool_calls: false },
      ...{ temperature: 0.5, top_p: 0.9, max_output_tokens: 9, reasoning: { effort: 'low' } },
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    });
    expect(lastAsked()).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 9,
      reasoning_effort: 'low',
      parallel_tool_calls: false,
      tool_choice: { type: 'function', function: { name: 'add' } },
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters: { type: 'object' }, strict: true } }],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    });
    await respond({ model: 'up/normal', input: 'Hi', tool_choice: 'none', text: { format: { type: 'json_object' } } });
    expect(lastAsked()).toMatchObject({ response_format: { type: 'json_object' } });
    expect(lastAsked()).not.toHaveProperty('tool_choice');
  });

  verifies('http.responses/ends', 'that was cut, filtered, or failed', async () => {
    for (const [reason, told] of [
      ['length', 'max_output_tokens'],
      ['content_filter', 'content_filter'],
    ] as const) {
      v1.http.agent = () => events({ type: 'text', text: 'Hel' }, { type: 'finish', reason });
      expect(await respond({ model: 'main', input: 'Hi' })).toMatchObject({
        status: 'incomplete',
        completed_at: null,
        incomplete_details: { reason: told },
        output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
      });
    }
    for (const [model, status] of [
      ['up/error-500', 502],
      ['up/error-400', 400],
      ['up/error-429', 429],
      ['up/cut', 502],
      ['up/unknown', 404],
    ] as const)
      expect([model, (await v1.http.post('/v1/responses', { model, input: 'Hi' })).status]).toEqual([model, status]);
    expect(v1.http.faults).toEqual([]);
  });

  verifies('http.responses/usage', 'is not kept, and its upstream is left, where the caller hangs up', async () => {
    const posts = v1.upstream.requests.filter(({ method }) => method === 'POST').length;
    const abort = new AbortController();
    const response = v1.http.post('/v1/responses', { model: 'up/silent', input: 'Hi' }, { signal: abort.signal });
    const request = await v1.upstream.request(posts + 1);
    abort.abort();
    expect((await response).status).toBe(499);
    await request.closed;
    expect(request.hungUp).toBe(true);
    const reading = await v1.http.post('/v1/responses', { model: 'up/endless', input: 'Hi', stream: true });
    const second = await v1.upstream.request(posts + 2);
    await reading.body?.cancel();
    await second.closed;
    expect(second.hungUp).toBe(true);
    expect(v1.http.responses.records.size).toBe(0);
    expect(v1.http.faults).toEqual([]);
  });
});

describe('what goes on', () => {
  verifies(['http.responses/previous', 'http.responses/tools'], 'with the outputs of calls, and without the instructions', async () => {
    const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }];
    const first = await respond({ model: 'up/tool', input: 'Weather?', instructions: 'Be brief', tools });
    const outputs = [{ type: 'function_call_output', call_id: first.output[0]?.call_id, output: 'Sunny' }];
    const second = await respond({ model: 'up/normal', input: outputs, previous_response_id: first.id });
    expect(second['previous_response_id']).toBe(first.id);
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } };
    const before = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'Sunny', tool_call_id: 'call_1' },
    ];
    expect(lastAsked()?.['messages']).toEqual(before);
    await respond({ model: 'up/normal', input: 'Thanks', previous_response_id: second.id, store: false });
    expect(lastAsked()?.['messages']).toEqual([...before, { role: 'assistant', content: TEXT }, { role: 'user', content: 'Thanks' }]);
    // The same without anything kept: the items go back and forth.
    await respond({ model: 'up/normal', input: [{ role: 'user', content: 'Weather?' }, ...first.output, ...outputs], store: false });
    expect(lastAsked()?.['messages']).toEqual(before);
    const reference = { type: 'item_reference', id: first.output[0]?.id };
    const referring = { model: 'up/normal', input: [{ role: 'user', content: 'Weather?' }, reference, ...outputs] };
    await respond(referring);
    expect(lastAsked()?.['messages']).toEqual(before);
    for (const twice of [
      { ...referring, input: [...referring.input, reference] },
      { ...referring, previous_response_id: first.id },
    ]) {
      const refused = await v1.http.post('/v1/responses', twice);
      expect([refused.status, (await readError(refused)).param]).toEqual([400, expect.stringMatching(/^input\[[13]\]\.id$/)]);
    }
  });

  verifies('http.responses/input', 'pictures, files, roles and thoughts', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' };
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
    await respond({
      model: 'up/normal',
      input: [
        {
          role: 'developer',
          content: [
            { type: 'input_text', text: 'Be ' },
            { type: 'input_text', text: 'brief' },
          ],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'See' }, image, file] },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
        },
        { role: 'user', content: 'And?' },
      ],
    });
    expect(lastAsked()?.['messages']).toEqual([
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: 'Yes' },
      { role: 'user', content: 'And?' },
    ]);
  });
});

describe('a response that is kept', () => {
  verifies('http.responses/stored', 'is read and deleted; one without store is not there', async () => {
    const made = await respond({ model: 'main', input: 'Hi' });
    expect(await (await v1.http.ask(at(made.id))).json()).toEqual(made);
    expect((await v1.http.ask(at(made.id, 'HEAD'))).status).toBe(200);
    expect(await (await v1.http.ask(at(made.id, 'DELETE'))).json()).toEqual({ id: made.id, object: 'response', deleted: true });
    for (const method of ['GET', 'DELETE']) {
      const gone = await v1.http.ask(at(made.id, method));
      expect([gone.status, (await readError(gone)).type]).toEqual([404, 'not_found']);
    }
    const unkept = await respond({ model: 'main', input: 'Hi', store: false });
    expect(unkept.store).toBe(false);
    expect((await v1.http.ask(at(unkept.id))).status).toBe(404);
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
      expect([principal, (await v1.http.ask(at(id), principal)).status]).toEqual([principal, status]);
    expect((await v1.http.ask(at(id, 'DELETE'), 'key:b')).status).toBe(404);
    const next = { model: 'main', input: 'Hi', previous_response_id: id };
    expect((await v1.http.post('/v1/responses', next, { principal: 'key:b' })).status).toBe(400);
    const reference = { model: 'main', input: [{ id: `msg_${id.slice(5)}_i0` }] };
    expect((await v1.http.post('/v1/responses', reference, { principal: 'key:b' })).status).toBe(400);
    expect((await v1.http.post('/v1/responses', reference, { principal: 'key:a' })).status).toBe(200);
    // Reading and deleting asks no model, and counts towards no limit of one.
    const admitted = v1.http.admitted.length;
    expect((await v1.http.ask(at(id, 'DELETE'), 'key:a', ['read'])).status).toBe(403);
    expect((await v1.http.ask(at(id), 'key:a', ['read'])).status).toBe(200);
    expect((await v1.http.ask(at(id, 'DELETE'), 'key:a')).status).toBe(200);
    expect(v1.http.admitted).toHaveLength(admitted);
  });

  it('is given as a whole', async () => {
    const { id } = await respond({ model: 'main', input: 'Hi' });
    const response = await v1.http.ask(at(`${id}?stream=true`));
    expect([response.status, (await readError(response)).param]).toEqual([400, 'stream']);
    expect((await v1.http.ask(at(`${id}?stream=false`))).status).toBe(200);
  });
});
