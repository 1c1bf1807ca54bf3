import { describe, expect } from 'vitest';
import { toEvents, readError, createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { UPSTREAM_TEXT } from '../../../../../tests/test-upstream.ts';

const TEXT = UPSTREAM_TEXT.join('');

const v1 = createUpstreamHttp();

const respond = v1.respond;
const getLastBody = () => v1.upstream.requests.findLast(({ method }) => method === 'POST')?.body;

describe('a response', () => {
  verifies('http.responses/whole', 'of an agent', async () => {
    v1.http.agent = () =>
      toEvents(
        { type: 'text', text: 'Hi' },
        { type: 'usage', usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4, cacheReadTokens: 2 } },
        { type: 'finish', reason: 'stop' },
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
        generationOptions: { temperature: 0.3, maxTokens: 5 },
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
    expect(getLastBody()).toEqual({
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
    expect(getLastBody()).toMatchObject({
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
    expect(getLastBody()).toMatchObject({ response_format: { type: 'json_object' } });
    expect(getLastBody()).not.toHaveProperty('tool_choice');
  });

  verifies('http.responses/ends', 'that was cut, filtered, or failed', async () => {
    for (const [reason, told] of [
      ['length', 'max_output_tokens'],
      ['content_filter', 'content_filter'],
    ] as const) {
      v1.http.agent = () => toEvents({ type: 'text', text: 'Hel' }, { type: 'finish', reason });
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

  verifies('http.responses/usage', 'is not stored, and its upstream is closed, if the caller disconnects', async () => {
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

describe('ongoing responses', () => {
  verifies(['http.responses/previous', 'http.responses/tools'], 'with the outputs of calls, and without the instructions', async () => {
    const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }];
    const first = await respond({ model: 'up/tool', input: 'Weather?', instructions: 'Be brief', tools });
    const [called] = first.output;
    const call_id = called?.type === 'function_call' ? called.call_id : undefined;
    const outputs = [{ type: 'function_call_output', call_id, output: 'Sunny' }];
    const second = await respond({ model: 'up/normal', input: outputs, previous_response_id: first.id });
    expect(second['previous_response_id']).toBe(first.id);
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } };
    const before = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'Sunny', tool_call_id: 'call_1' },
    ];
    expect(getLastBody()?.['messages']).toEqual(before);
    await respond({ model: 'up/normal', input: 'Thanks', previous_response_id: second.id, store: false });
    expect(getLastBody()?.['messages']).toEqual([...before, { role: 'assistant', content: TEXT }, { role: 'user', content: 'Thanks' }]);
    // The same without stored responses: the client sends the items back.
    await respond({ model: 'up/normal', input: [{ role: 'user', content: 'Weather?' }, ...first.output, ...outputs], store: false });
    expect(getLastBody()?.['messages']).toEqual(before);
    const reference = { type: 'item_reference', id: first.output[0]?.id };
    const referring = { model: 'up/normal', input: [{ role: 'user', content: 'Weather?' }, reference, ...outputs] };
    await respond(referring);
    expect(getLastBody()?.['messages']).toEqual(before);
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
    expect(getLastBody()?.['messages']).toEqual([
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

  verifies('http.responses/input', 'pictures and files that tools gave follow the results of their turn', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
    const call = (call_id: string, name: string) => ({ type: 'function_call', call_id, name, arguments: '{}' });
    const output = (call_id: string, ...given: object[]) => ({ type: 'function_call_output', call_id, output: given });
    await respond({
      model: 'up/normal',
      input: [
        { role: 'user', content: 'See' },
        ...[call('a', 'look'), call('b', 'read')],
        ...[output('a', { type: 'input_text', text: 'Seen' }, image), output('b', file)],
        { role: 'user', content: 'And?' },
      ],
    });
    expect(getLastBody()?.['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a', content: 'Seen' },
      { role: 'tool', tool_call_id: 'b', content: 'The result is below.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Given by look:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'Given by read:' },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        ],
      },
      { role: 'user', content: 'And?' },
    ]);
  });
});
