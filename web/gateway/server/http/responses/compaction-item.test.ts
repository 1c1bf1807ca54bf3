import { expect } from 'vitest';
import { createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { UPSTREAM_TEXT } from '../../../../../tests/test-upstream.ts';

const v1 = createUpstreamHttp();
const TEXT = UPSTREAM_TEXT.join('');
const lastMessages = (): unknown => v1.upstream.requests.at(-1)?.body?.['messages'];

verifies('http.responses/input-tokens', 'counts the tokens of a request without calling a model', async () => {
  const client = v1.http.openai();
  const count = async (body: Parameters<typeof client.responses.inputTokens.count>[0]): Promise<number> =>
    (await client.responses.inputTokens.count(body)).input_tokens;
  const short = await count({ model: 'up/normal', input: 'Hi' });
  expect(short).toBeGreaterThan(0);
  expect(await count({ model: 'perch/main', input: 'Hi '.repeat(200) })).toBeGreaterThan(short + 100);
  const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];
  expect(await count({ model: 'up/normal', input: 'Hi', tools, instructions: 'Be kind' })).toBeGreaterThan(short);
  const { id } = await client.conversations.create({ items: [{ type: 'message', role: 'user', content: 'Tea '.repeat(100) }] });
  expect(await count({ model: 'up/normal', input: 'Hi', conversation: id })).toBeGreaterThan(short + 50);
  expect(v1.upstream.requests).toEqual([]);
});

verifies('http.responses/compact', 'a summary replaces earlier messages, and the next request includes it', async () => {
  const client = v1.http.openai();
  const input = [
    { role: 'user' as const, content: 'One' },
    { role: 'assistant' as const, content: 'A long answer' },
    { role: 'user' as const, content: 'Two' },
  ];
  const { output, usage } = await client.responses.compact({ model: 'up/normal', input });
  expect(output).toMatchObject([
    { role: 'user' },
    { role: 'user' },
    { type: 'compaction', encrypted_content: expect.any(String) as string },
  ]);
  expect(usage.output_tokens).toBeGreaterThan(0);
  expect(v1.http.recorded).toHaveLength(1);
  expect(JSON.stringify(lastMessages())).toContain('Summarise this conversation');
  await client.responses.create({
    model: 'up/normal',
    input: [...(output as unknown as typeof input), { role: 'user', content: 'Three' }],
  });
  expect(lastMessages()).toEqual([
    { role: 'user', content: 'One' },
    { role: 'user', content: 'Two' },
    { role: 'user', content: `Summary of the conversation so far:\n${TEXT}` },
    { role: 'user', content: 'Three' },
  ]);
  const agent = await client.responses.compact({ model: 'perch/main', input });
  expect(agent.output.at(-1)).toMatchObject({ type: 'compaction' });
  const theirs = [{ type: 'compaction', encrypted_content: 'xx' }, ...input];
  const other = await v1.http.post('/v1/responses', { model: 'up/normal', input: theirs });
  expect([other.status, other.headers.get('x-perch-ignored')]).toEqual([200, 'input[0]']);
});
