import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { HTTP_BASE, readError, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { readInput } from './responses-input.ts';

let http: ReturnType<typeof createTestHttp>;
beforeEach(() => {
  http = createTestHttp(
    [
      { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' },
      { id: 'claude', name: 'Claude', kind: 'anthropic', apiKey: 'k' },
      { id: 'gemini', name: 'Gemini', kind: 'google', apiKey: 'k' },
    ],
    () => Promise.reject(new TypeError('nobody is asked here')),
  );
});

const baseBody = { model: 'main', input: 'Hi' };
const withItem = (value: unknown) => ({ ...baseBody, input: [{ role: 'user', content: 'Hi' }, value] });
const content = (...parts: unknown[]) => ({ ...baseBody, input: [{ role: 'user', content: parts }] });
const call = { type: 'function_call', call_id: 'c', name: 't', arguments: '{}' };
const callOutput = { type: 'function_call_output', call_id: 'c' };
const tool = { type: 'function', name: 't', parameters: {} };
const files = { type: 'file_search', vector_store_ids: ['a'] };
const condition = { type: 'eq', key: 'path', value: 'a' };
const manyConditions = { type: 'or', filters: Array.from({ length: 4 }, () => ({ type: 'and', filters: Array(40).fill(condition) })) };

verifies('http.responses/refused', 'each by its name', async () => {
  const cases: [Record<string, unknown>, string | null][] = [
    [{ ...baseBody, background: true, store: false }, 'background'],
    [{ ...baseBody, conversation: 'conv_1', previous_response_id: 'resp_1' }, 'conversation'],
    [{ ...baseBody, prompt: { id: 'p' } }, 'prompt'],
    [{ ...baseBody, text: { format: { type: 'grammar' } } }, 'text.format.type'],
    [{ ...baseBody, text: { format: { type: 'json_schema', name: 'a' } } }, 'text.format.schema'],
    [{ ...baseBody, model: 'up/m', tools: [tool, { type: 'function' }] }, 'tools[1].name'],
    [{ ...baseBody, model: 'up/m', tools: [tool], tool_choice: { type: 'function', name: 'other' } }, 'tool_choice'],
    [{ ...baseBody, model: 'up/m', tools: [tool], tool_choice: { type: 'web_search' } }, 'tool_choice'],
    [{ ...baseBody, model: 'up/m', tool_choice: 'required' }, 'tool_choice'],
    [{ ...baseBody, model: 'up/m', tools: [tool], tool_choice: { type: 'file_search' } }, 'tool_choice'],
    [{ ...baseBody, tools: [{ type: 'file_search' }] }, 'tools[0].vector_store_ids'],
    [{ ...baseBody, tools: [tool, { ...files, vector_store_ids: [] }] }, 'tools[1].vector_store_ids'],
    [{ ...baseBody, tools: [{ ...files, max_num_results: 51 }] }, 'tools[0].max_num_results'],
    [{ ...baseBody, tools: [{ ...files, ranking_options: { score_threshold: 2 } }] }, 'tools[0].ranking_options.score_threshold'],
    [{ ...baseBody, tools: [{ ...files, filters: { type: 'like', key: 'path', value: 'a' } }] }, 'tools[0].filters.type'],
    [{ ...baseBody, tools: [{ ...files, filters: { type: 'in', key: 'path', value: 'a' } }] }, 'tools[0].filters.value'],
    [{ ...baseBody, tools: [{ ...files, filters: { type: 'and', filters: [{ type: 'eq' }] } }] }, 'tools[0].filters.filters[0].key'],
    [{ ...baseBody, tools: [{ ...files, filters: manyConditions }] }, 'tools[0].filters'],
    [{ ...baseBody, reasoning: { effort: 'utmost' } }, 'reasoning.effort'],
    [content({ type: 'input_audio' }), 'input[0].content[0].type'],
    [content({ type: 'input_image', file_id: 'file_1' }), 'input[0].content[0].image_url'],
    [content({ type: 'input_image', image_url: 'https://example.org/a.png' }), 'input[0].content[0]'],
    [content({ type: 'input_file', file_url: 'https://example.org/a.pdf' }), 'input[0].content[0].file_data'],
    [withItem({ role: 'system', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] }), 'input[1].content[0]'],
    [
      { ...baseBody, input: [call, { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image' }] }] },
      'input[1].output[0].image_url',
    ],
    [{ ...baseBody, input: [call, { ...callOutput, output: [{ type: 'output_text', text: 'x' }] }] }, 'input[1].output[0].type'],
  ];
  for (const [body, param] of cases) {
    const response = await http.post('/v1/responses', body);
    expect([body, response.status, (await readError(response)).param]).toEqual([body, 400, param]);
  }
  const harmless = {
    ...{ background: false, include: [], conversation: null, max_tool_calls: null, top_logprobs: 0, service_tier: 'auto', top_p: 1 },
    ...{ stream_options: { include_obfuscation: false }, text: { verbosity: 'medium', format: { type: 'text' } }, tools: [] },
    ...{ reasoning: { summary: 'auto' }, tool_choice: 'auto', parallel_tool_calls: true, truncation: 'disabled', user: null, new: null },
    ...{ prompt_cache_key: 'k', safety_identifier: 's' },
  };
  expect((await http.post('/v1/responses', { ...baseBody, ...harmless })).status).toBe(200);
});

verifies('http.responses/ignored', 'fields, tools and items without effect are named', async () => {
  const cases: [Record<string, unknown>, string | null][] = [
    [{ include: ['code_interpreter_call.outputs', 'file_search_call.results', 'reasoning.encrypted_content'] }, 'include[0]'],
    [{ tools: [files] }, 'tools[0]'],
    [{ max_tool_calls: 3, top_logprobs: 2, service_tier: 'flex', new_one: 1 }, 'top_logprobs, new_one, max_tool_calls, service_tier'],
    [{ text: { verbosity: 'low' } }, 'text.verbosity'],
    [{ text: { verbosity: 'medium' }, service_tier: 'default', user: 'u', safety_identifier: 's' }, null],
    [{ reasoning: { summary: 'detailed' }, client_metadata: { a: 'b' }, stream_options: { include_obfuscation: true } }, null],
    [{ tools: [tool, { type: 'web_search' }, { type: 'namespace', name: 'n', tools: [{ type: 'x' }] }] }, 'tools[2].tools[0], tools[1]'],
    [{ truncation: 'auto' }, 'truncation'],
    [withItem({ type: 'web_search_call', id: 'w' }), 'input[1]'],
    [withItem({ type: 'file_search_call', id: 'f', queries: ['whales'], results: null }), 'input[1]'],
    [withItem({ type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }), 'input[1].encrypted_content'],
  ];
  for (const [more, named] of cases) {
    const response = await http.post('/v1/responses', { ...baseBody, ...more });
    expect([more, response.status, response.headers.get('x-perch-ignored')]).toEqual([more, 200, named]);
  }
});

verifies('http.responses/bad-input', 'wrong types, missing fields, models and items that are not there', async () => {
  const cases: [unknown, number, string | null][] = [
    ['{"model":', 400, null],
    ['', 400, null],
    [[], 400, null],
    [{ input: 'Hi' }, 400, 'model'],
    [{ model: 4, input: 'Hi' }, 400, 'model'],
    [{ model: 'main' }, 400, 'input'],
    [{ model: 'main', input: 5 }, 400, 'input'],
    [{ model: 'main', input: [] }, 400, 'input'],
    [{ model: 'main', input: [5] }, 400, 'input[0]'],
    [{ model: 'main', input: [{ role: 'king', content: 'Hi' }] }, 400, 'input[0].role'],
    [{ model: 'main', input: [{ role: 'user' }] }, 400, 'input[0].content'],
    [{ model: 'main', input: [{ role: 'system', content: 'Hi' }] }, 400, 'input'],
    [withItem({}), 400, 'input[1].id'],
    [withItem({ id: 'msg_1' }), 400, 'input[1].id'],
    [withItem({ id: 'constructor' }), 400, 'input[1].id'],
    [withItem(call), 400, 'input'],
    [withItem({ ...call, arguments: '[' }), 400, 'input[1].arguments'],
    [withItem({ ...call, name: 3 }), 400, 'input[1].name'],
    [withItem({ type: 'function_call_output', call_id: 'c', output: 'x' }), 400, 'input[1].call_id'],
    [{ ...baseBody, stream: 'yes' }, 400, 'stream'],
    [{ ...baseBody, store: 1 }, 400, 'store'],
    [{ ...baseBody, temperature: 9 }, 400, 'temperature'],
    [{ ...baseBody, max_output_tokens: 0 }, 400, 'max_output_tokens'],
    [{ ...baseBody, metadata: { a: 1 } }, 400, 'metadata.a'],
    [{ ...baseBody, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ''])) }, 400, 'metadata'],
    [{ ...baseBody, previous_response_id: 'resp_none' }, 400, 'previous_response_id'],
    [{ ...baseBody, previous_response_id: 7 }, 400, 'previous_response_id'],
    [{ ...baseBody, model: 'perch/nobody' }, 404, 'model'],
    [{ ...baseBody, model: 'nobody/none' }, 404, 'model'],
    [{ ...baseBody, model: '__proto__' }, 404, 'model'],
  ];
  for (const [body, status, param] of cases) {
    const response = await http.post('/v1/responses', body);
    expect([body, response.status, (await readError(response)).param]).toEqual([body, status, param]);
  }
  expect(http.faults).toEqual([]);
});

verifies('http.responses/refused', 'as what a model of another format cannot do', async () => {
  const file = { type: 'input_file', filename: 'a.zip', file_data: 'data:application/zip;base64,AAAA' };
  for (const [more, param] of [
    [{ input: content(file).input }, 'input'],
    [{ model: 'guide/guide', text: { format: { type: 'json_object' } } }, 'text.format'],
    [{ model: 'guide/guide', tools: [tool], tool_choice: 'required' }, 'tool_choice'],
  ] as const) {
    const response = await http.post('/v1/responses', { ...baseBody, model: 'claude/c', ...more });
    expect([more, response.status, (await readError(response)).param]).toEqual([more, 400, param]);
  }
});

it('wrong methods and paths', async () => {
  const ask = async (path: string, method: string) => {
    const response = await http.ask(new Request(HTTP_BASE + path, { method }));
    return [response.status, response.headers.get('allow')];
  };
  expect(await ask('/v1/responses', 'GET')).toEqual([405, 'POST']);
  expect(await ask('/v1/responses/resp_1', 'POST')).toEqual([405, 'GET, HEAD, DELETE']);
  expect(await ask('/v1/embeddings', 'GET')).toEqual([405, 'POST']);
  for (const path of ['/v1/responses/resp_1/cancel/now', '/v1/responses/resp_1/constructor', '/v1/constructor'])
    expect(await ask(path, 'POST')).toEqual([404, null]);
  for (const id of ['__proto__', '%E0%A4%A', '..%2f..']) expect(await ask(`/v1/responses/${id}`, 'GET')).toEqual([404, null]);
});

verifies('http.responses/bad-input', 'whatever it is', async () => {
  const names = ['model', 'input', 'tools', 'text', 'reasoning', 'stream', 'store', 'metadata', 'tool_choice', 'include', '__proto__'];
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('main', 'guide/guide', 'Hi', true, null));
  const part = fc.record(
    {
      type: fc.constantFrom('input_text', 'output_text', 'input_image', 'input_file', 'refusal', 'x'),
      text: fc.jsonValue(),
      image_url: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const some = fc.record(
    {
      type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning', 'item_reference'),
      role: fc.constantFrom('user', 'assistant', 'system', 'x'),
      content: fc.oneof(fc.string(), fc.array(part), fc.jsonValue()),
      call_id: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('t', ''),
      arguments: fc.constantFrom('{}', '[', '5'),
      output: fc.jsonValue(),
      id: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const nearly = fc.record({
    model: fc.constantFrom('main', 'guide/guide'),
    input: fc.oneof(fc.string(), fc.array(some, { minLength: 1, maxLength: 4 })),
    stream: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.dictionary(fc.constantFrom(...names), value).map((each) => JSON.stringify(each)),
        nearly.map((each) => JSON.stringify(each)),
      ),
      async (body) => {
        const response = await http.post('/v1/responses', body);
        expect(response.status).toBeLessThan(500);
        await response.text();
      },
    ),
    { numRuns: process.env.PERCH_LONG ? 5000 : 300 },
  );
  expect(http.faults).toEqual([]);
});

verifies('http.responses/bad-input', 'behind the first item that cannot be read no other is', async () => {
  const looked: string[] = [];
  const find = (id: string): Promise<undefined> => {
    looked.push(id);
    return Promise.resolve(undefined);
  };
  const input = ['a', 'b', 'c'].map((id) => ({ type: 'item_reference', id }));
  await expect(readInput(input, (prefix, index) => `${prefix}${index}`, find, new IgnoredFields())).rejects.toMatchObject({
    status: 400,
    param: 'input[0].id',
  });
  expect(looked).toEqual(['a']);
});
