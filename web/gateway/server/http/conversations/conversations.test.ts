import { expect } from 'vitest';
import { createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { UPSTREAM_TEXT } from '../../../../../tests/test-upstream.ts';

const v1 = createUpstreamHttp();
const TEXT = UPSTREAM_TEXT.join('');
const createMessage = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text });
const lastMessages = (): unknown => v1.upstream.requests.at(-1)?.body?.['messages'];

verifies('http.conversations/openai', 'are created, changed, read by pages and deleted, each key its own', async () => {
  const client = v1.http.openai('key:a');
  const empty = await client.conversations.create();
  expect(empty).toMatchObject({ object: 'conversation', metadata: {} });
  const { id, metadata } = await client.conversations.create({
    items: [createMessage('One'), createMessage('Two')],
    metadata: { topic: 'tea' },
  });
  expect(metadata).toEqual({ topic: 'tea' });
  expect(await client.conversations.update(id, { metadata: { topic: 'milk' } })).toMatchObject({ id, metadata: { topic: 'milk' } });
  expect(await client.conversations.retrieve(id)).toMatchObject({ id, metadata: { topic: 'milk' } });
  const added = await client.conversations.items.create(id, { items: [createMessage('Three')] });
  expect(added.data).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'Three' }] }]);
  const texts = async (order: 'asc' | 'desc') =>
    (await client.conversations.items.list(id, { order, limit: 2 })).data.map((item) => JSON.stringify(item).match(/One|Two|Three/)?.[0]);
  expect([await texts('asc'), await texts('desc')]).toEqual([
    ['One', 'Two'],
    ['Three', 'Two'],
  ]);
  const item = added.data[0]?.id ?? '';
  expect(await client.conversations.items.retrieve(item, { conversation_id: id })).toMatchObject({ id: item });
  await client.conversations.items.delete(item, { conversation_id: id });
  await expect(client.conversations.items.retrieve(item, { conversation_id: id })).rejects.toMatchObject({ status: 404 });
  await expect(client.conversations.items.delete(item, { conversation_id: id })).rejects.toMatchObject({ status: 404 });
  const other = v1.http.openai('key:b');
  await expect(other.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await expect(other.conversations.items.create(id, { items: [createMessage('x')] })).rejects.toMatchObject({ status: 404 });
  await expect(other.responses.create({ model: 'perch/main', input: 'x', conversation: id })).rejects.toMatchObject({ status: 404 });
  await expect(client.conversations.create({ items: Array.from({ length: 21 }, () => createMessage('x')) })).rejects.toMatchObject({
    status: 400,
  });
  expect(await client.conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true });
  await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
});

verifies('http.conversations/continued', 'a response sees earlier messages, and is added; a failed one is not', async () => {
  const client = v1.http.openai();
  const { id } = await client.conversations.create({ items: [createMessage('One')] });
  const first = await client.responses.create({ model: 'up/normal', input: 'Two', conversation: id, store: false });
  expect(first.conversation).toEqual({ id });
  expect(lastMessages()).toEqual([
    { role: 'user', content: 'One' },
    { role: 'user', content: 'Two' },
  ]);
  await client.responses.create({ model: 'up/normal', input: 'Three', conversation: { id } });
  expect(lastMessages()).toMatchObject([
    { content: 'One' },
    { content: 'Two' },
    { role: 'assistant', content: TEXT },
    { content: 'Three' },
  ]);
  const before = (await client.conversations.items.list(id, { limit: 100 })).data.length;
  expect(before).toBe(5);
  const cut = await client.responses.create({ model: 'up/cut', input: 'Four', conversation: id, stream: true });
  let last = '';
  for await (const { type } of cut) last = type;
  expect(last).toBe('response.failed');
  expect((await client.conversations.items.list(id, { limit: 100 })).data.length).toBe(before);
  await expect(
    client.responses.create({ model: 'up/normal', input: 'x', conversation: id, previous_response_id: first.id }),
  ).rejects.toMatchObject({ status: 400, param: 'conversation' });
});

verifies('http.conversations/continued', 'calls of tools are answered in the next request', async () => {
  const client = v1.http.openai();
  const { id } = await client.conversations.create();
  const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];
  v1.upstream.queue.push('tool');
  const asked = await client.responses.create({ model: 'up/tool', input: 'Weather?', tools, conversation: id });
  const call = asked.output.find((item) => item.type === 'function_call');
  v1.upstream.queue.push('normal');
  await client.responses.create({
    model: 'up/normal',
    input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' }],
    tools,
    conversation: id,
  });
  expect(lastMessages()).toMatchObject([{ role: 'user' }, { role: 'assistant', tool_calls: [{}] }, { role: 'tool', content: 'sunny' }]);
});
