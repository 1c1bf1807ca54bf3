import { beforeEach, expect, it } from 'vitest';
import { testHttp } from '../../../../../tests/support/http.ts';
import { verifies } from '../../../../../tests/requirements.ts';

interface Body {
  messages: { role: string; content: string | null; reasoning_content?: string }[];
}

let asked: Body[];
/** What the upstream says, as the deltas and the usage of its chunks. */
let says: { deltas: Record<string, unknown>[]; finish?: string; usage?: Record<string, unknown> };
let http: ReturnType<typeof testHttp>;
beforeEach(() => {
  asked = [];
  http = testHttp([{ id: 'deep', name: 'Deep', kind: 'deepseek', apiKey: 'k' }], async (url, init) => {
    if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'm', context_length: 400 }] });
    asked.push(JSON.parse(String(init?.body)) as Body);
    const { deltas, finish = 'stop', usage } = says;
    const chunks = [...deltas.map((delta) => ({ choices: [{ delta }] })), { choices: [{ delta: {}, finish_reason: finish }], usage }];
    return new Response([...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
  });
});

const respond = async (body: Record<string, unknown>): Promise<{ id: string; [name: string]: unknown }> => {
  const response = await http.post('/v1/responses', { model: 'deep/m', ...body });
  expect(response.status).toBe(200);
  return (await response.json()) as { id: string };
};

const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 't', arguments: '{}' } }] };
const output = { type: 'function_call_output', call_id: 'c', output: 'done' };

verifies('http.responses/previous', 'what a provider wants back with its calls is given back', async () => {
  says = { deltas: [{ reasoning_content: 'Hmm' }, call], finish: 'tool_calls' };
  const { id } = await respond({ input: 'Hi', tools: [{ type: 'function', name: 't' }] });
  says = { deltas: [{ content: 'Done' }] };
  await respond({ input: [output], previous_response_id: id });
  expect(asked[1]?.messages[1]).toMatchObject({ role: 'assistant', reasoning_content: 'Hmm', tool_calls: [{ id: 'c' }] });
});

verifies('http.responses/usage', 'has the tokens of the thoughts', async () => {
  says = {
    deltas: [{ content: 'Yes' }],
    usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12, completion_tokens_details: { reasoning_tokens: 8 } },
  };
  expect((await respond({ input: 'Hi' }))['usage']).toEqual({
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 8 },
    total_tokens: 12,
  });
});

it('is asked without the oldest items where truncation is auto and they do not fit', async () => {
  says = { deltas: [{ content: 'Yes' }] };
  const input = [
    { role: 'user', content: 'word '.repeat(500) },
    { role: 'assistant', content: 'Yes' },
    { role: 'user', content: 'And?' },
  ];
  await respond({ input });
  await respond({ input, truncation: 'auto', instructions: 'Be brief' });
  expect(asked.map(({ messages }) => messages.map(({ content }) => content?.slice(0, 8)))).toEqual([
    ['word wor', 'Yes', 'And?'],
    ['Be brief', 'Yes', 'And?'],
  ]);
});
