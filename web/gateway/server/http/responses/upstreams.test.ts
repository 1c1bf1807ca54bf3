import { beforeEach, expect, it } from 'vitest';
import { readEvents, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';

interface Body {
  messages: { role: string; content: string | null; reasoning_content?: string }[];
}

let bodies: Body[];
/** Answer of the upstream, as the deltas and the usage of its chunks. */
let reply: { deltas: Record<string, unknown>[]; finish?: string; usage?: Record<string, unknown> };
let http: ReturnType<typeof createTestHttp>;
beforeEach(() => {
  bodies = [];
  http = createTestHttp([{ id: 'deep', name: 'Deep', kind: 'deepseek', apiKey: 'k' }], upstream);
});
const upstream: typeof fetch = async (url, init) => {
  if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'm', context_length: 400 }] });
  bodies.push(JSON.parse(String(init?.body)) as Body);
  const { deltas, finish = 'stop', usage } = reply;
  const chunks = [...deltas.map((delta) => ({ choices: [{ delta }] })), { choices: [{ delta: {}, finish_reason: finish }], usage }];
  return new Response([...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
};

const respond = async (body: Record<string, unknown>): Promise<{ id: string; [name: string]: unknown }> => {
  const response = await http.post('/v1/responses', { model: 'deep/m', ...body });
  expect(response.status).toBe(200);
  return (await response.json()) as { id: string };
};

const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 't', arguments: '{}' } }] };
const callOutput = { type: 'function_call_output', call_id: 'c', output: 'done' };

verifies('http.responses/previous', 'returns the metadata that a provider requires with its calls', async () => {
  reply = { deltas: [{ reasoning_content: 'Hmm' }, call], finish: 'tool_calls' };
  const { id } = await respond({ input: 'Hi', tools: [{ type: 'function', name: 't' }] });
  reply = { deltas: [{ content: 'Done' }] };
  await respond({ input: [callOutput], previous_response_id: id });
  expect(bodies[1]?.messages[1]).toMatchObject({ role: 'assistant', reasoning_content: 'Hmm', tool_calls: [{ id: 'c' }] });
});

verifies('http.responses/sealed', 'is a separate item before the calls if text comes between', async () => {
  reply = { deltas: [{ reasoning_content: 'Hmm' }, { content: 'I look' }, call], finish: 'tool_calls' };
  const asking = { model: 'deep/m', input: 'Hi', tools: [{ type: 'function', name: 't' }], include: ['reasoning.encrypted_content'] };
  const events = await readEvents(await http.post('/v1/responses', { ...asking, stream: true, store: false }));
  const { output } = events.at(-1)?.['response'] as { output: { type: string; encrypted_content?: string }[] };
  expect(output.map((item) => [item.type, item.encrypted_content !== undefined])).toEqual([
    ['reasoning', false],
    ['message', false],
    ['reasoning', true],
    ['function_call', false],
  ]);
  expect(events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)).toEqual(output);
  const other = createTestHttp([{ id: 'deep', name: 'Deep', kind: 'deepseek', apiKey: 'k' }], upstream);
  reply = { deltas: [{ content: 'Done' }] };
  const input = [{ role: 'user', content: 'Hi' }, ...output, callOutput];
  expect((await other.post('/v1/responses', { model: 'deep/m', input })).status).toBe(200);
  expect(bodies[1]?.messages[1]).toMatchObject({
    role: 'assistant',
    content: 'I look',
    reasoning_content: 'Hmm',
    tool_calls: [{ id: 'c' }],
  });
});

verifies('http.responses/usage', 'has the tokens of the thoughts', async () => {
  reply = {
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
  reply = { deltas: [{ content: 'Yes' }] };
  const input = [
    { role: 'user', content: 'word '.repeat(500) },
    { role: 'assistant', content: 'Yes' },
    { role: 'user', content: 'And?' },
  ];
  await respond({ input });
  await respond({ input, truncation: 'auto', instructions: 'Be brief' });
  expect(bodies.map(({ messages }) => messages.map(({ content }) => content?.slice(0, 8)))).toEqual([
    ['word wor', 'Yes', 'And?'],
    ['Be brief', 'Yes', 'And?'],
  ]);
});

verifies(
  'http.responses/passed',
  'fields that servers of the format know go upstream; a refused one is left out, named, and not sent again',
  async () => {
    reply = { deltas: [{ content: 'Yes' }] };
    const fields = { text: { verbosity: 'low' }, service_tier: 'flex', user: 'u', safety_identifier: 's' };
    await respond({ input: 'Hi', ...fields });
    expect(bodies[0]).toMatchObject({ verbosity: 'low', service_tier: 'flex', user: 'u', safety_identifier: 's' });
    let requests = 0;
    const strict = createTestHttp([{ id: 'deep', name: 'Deep', kind: 'deepseek', apiKey: 'k' }], async (url, init) => {
      requests++;
      if (!String(init?.body).includes('"verbosity"')) return upstream(url, init);
      return Response.json({ error: { message: 'Extra inputs are not permitted: verbosity' } }, { status: 422 });
    });
    for (const sent of [2, 3]) {
      const response = await strict.post('/v1/responses', { model: 'deep/m', input: 'Hi', ...fields });
      expect([response.status, response.headers.get('x-perch-ignored'), requests]).toEqual([200, 'text.verbosity', sent]);
    }
    expect(bodies.at(-1)).toMatchObject({ service_tier: 'flex' });
  },
);
