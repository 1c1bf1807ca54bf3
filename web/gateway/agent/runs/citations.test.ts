import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { citedSource } from '#shared/rpc/passage.ts';
import { z } from '#shared/rpc/zod.ts';
import { parseJsonLines } from '../sessions/session-transfer.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type TestGateway } from '../../../../tests/support/test-gateway.ts';
import { createCollection, toFile } from '../collections/fixture.ts';

const WHALES = `# Whales\n\nThe blue whale is the largest animal. It eats krill.\n\n## Migration\n\nHumpback whales swim 8,000 kilometres from Alaska to Hawaii.\n`;
const BRIDGES = `# Bridges\n\nThe longest suspension bridge stands in Çanakkale. It was opened on 18 March 2022.\n`;

/** A gateway whose model searches for `krill` first and then answers `answers` in turn; two documents are attached to its agent. */
async function openLibrary(answers: string[]): Promise<TestGateway> {
  let turn = -1;
  const gw = await createTestGateway({
    model: ({ body: { messages } }) => {
      if (messages.at(-1)?.role === 'tool') return toPieces(answers[turn] ?? '');
      turn++;
      const isFollowUp = messages.some(({ role }) => role === 'tool');
      return isFollowUp ? toPieces(answers[turn] ?? '') : [{ tool: 'collection_search', args: { query: 'whale bridge' } }];
    },
  });
  const { client } = await gw.client();
  const { id } = await createCollection(client, [toFile('whales.md', WHALES), toFile('bridges.md', BRIDGES)]);
  await client.call('config.patch', { patch: { agents: { main: { collections: [id] } } } });
  client.close();
  return gw;
}

const toPieces = (text: string): string[] => text.match(/.{1,4}/gsu) ?? [];

/** Numbers that the search gives the passages with these texts. */
async function findNumbers(...texts: string[]): Promise<number[]> {
  await using gw = await openLibrary(['Nothing.']);
  const { client, events } = await gw.client();
  await client.call('chat.send', { message: 'What is there?' });
  const read = events.flatMap(({ event, payload }) =>
    event === 'chat.sources' ? z.object({ sources: z.array(citedSource) }).parse(payload).sources : [],
  );
  return texts.map((text) => read.find((source) => source.text.includes(text))?.number ?? 0);
}

verifies('chat.citations/supported', 'stores the claims that a passage supports, without the markers of the model', async () => {
  const [whale = 0, bridge = 0] = await findNumbers('krill', 'Çanakkale');
  const answer = `Blue whales eat krill [${whale}]. They live for 90 years [${whale}]. The bridge in Çanakkale opened in March 2022 [${whale}].`;
  await using gw = await openLibrary([answer, `As said, blue whales eat krill [${whale}].`]);
  const { client, events } = await gw.client();
  const { messageId } = await client.call('chat.send', { message: 'What do whales eat?' });
  const { messages } = await client.call('chat.history', { sessionId: 'main' });
  const reply = messages.find(({ id }) => id === messageId);
  const content = 'Blue whales eat krill. They live for 90 years. The bridge in Çanakkale opened in March 2022.';
  expect(reply?.content).toBe(content);
  expect(reply?.citations?.map(({ start, end, number, quote }) => [content.slice(start, end), number, quote.text])).toEqual([
    ['Blue whales eat krill', whale, 'The blue whale is the largest animal. It eats krill.'],
    [
      'The bridge in Çanakkale opened in March 2022',
      bridge,
      'The longest suspension bridge stands in Çanakkale. It was opened on 18 March 2022.',
    ],
  ]);
  expect(reply?.sources).toMatchObject([whale, bridge].sort().map((number) => ({ number, kind: 'passage' })));
  expect(messages.some((message) => 'readSources' in message)).toBe(false);
  const order = events.map(({ event }) => event);
  expect(order.indexOf('chat.sources')).toBeLessThan(order.indexOf('chat.done'));

  // A later turn cites what was read before, and the model sees its citations.
  await client.call('chat.send', { message: 'Again?' });
  const { messages: later } = await client.call('chat.history', { sessionId: 'main' });
  expect(later.at(-1)).toMatchObject({
    content: 'As said, blue whales eat krill.',
    citations: [{ number: whale }],
    sources: [{ number: whale }],
  });
  expect(gw.calls.at(-1)?.body.messages.map(({ content }) => content)).toContain(
    `Blue whales eat krill [${whale}]. They live for 90 years. The bridge in Çanakkale opened in March 2022 [${bridge}].`,
  );

  // Exports contain them, and an import keeps them.
  const path = 'main/main.jsonl';
  const { content: lines } = await client.call('sessions.export', { path, format: 'jsonl' });
  expect(parseJsonLines(lines).find(({ id }) => id === messageId)?.citations).toHaveLength(2);
  const { content: markdown } = await client.call('sessions.export', { path, format: 'markdown' });
  expect(markdown).toContain(
    `Blue whales eat krill[^${whale}]. They live for 90 years. The bridge in Çanakkale opened in March 2022[^${bridge}].`,
  );
  expect(markdown).toMatch(new RegExp(String.raw`^\[\^${whale}\]: .*Whales`, 'm'));
  expect(gw.faults).toEqual([]);
});

it('gives no citations to a reply that read nothing', async () => {
  await using gw = await createTestGateway({ model: () => ['An array such as [1] stays.'] });
  const { client } = await gw.client();
  await client.call('chat.send', { message: 'Hi' });
  const { messages } = await client.call('chat.history', { sessionId: 'main' });
  expect(messages.at(-1)).toMatchObject({ content: 'An array such as [1] stays.' });
  expect(messages.at(-1)).not.toHaveProperty('citations');
});

verifies('chat.citations/api', 'annotates answers of agents over /v1 in OpenAI’s form', async () => {
  const [whale = 0] = await findNumbers('krill');
  await using gw = await openLibrary(Array.from({ length: 4 }, () => `Blue whales eat krill [${whale}].`));
  const openai = new OpenAI({
    baseURL: 'http://127.0.0.1:7333/v1',
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => gw.gateway.fetch(new Request(url as string, init as RequestInit), { id: 'owner', scopes: ['admin'] }),
  });
  const text = 'Blue whales eat krill.';
  const file = { type: 'file_citation', index: 21, filename: 'whales.md', file_id: expect.any(String) as string };
  const messages = [{ role: 'user' as const, content: 'What do whales eat?' }];
  const whole = await openai.chat.completions.create({ model: 'perch/main', messages });
  expect(whole.choices[0]?.message).toMatchObject({
    content: text,
    annotations: [{ type: 'file_citation', file_citation: { filename: 'whales.md', index: 21 } }],
  });

  let streamed = '';
  const annotations: unknown[] = [];
  for await (const { choices } of await openai.chat.completions.create({ model: 'perch/main', messages, stream: true })) {
    const delta = choices[0]?.delta as { content?: string; annotations?: unknown[] } | undefined;
    streamed += delta?.content ?? '';
    annotations.push(...(delta?.annotations ?? []));
  }
  expect(streamed).toBe(text);
  expect(annotations).toHaveLength(1);

  const response = await openai.responses.create({ model: 'perch/main', input: 'What do whales eat?' });
  expect(response.output_text).toBe(text);
  expect(response.output.at(-1)).toMatchObject({ content: [{ type: 'output_text', annotations: [file] }] });

  const events = [];
  for await (const event of await openai.responses.create({ model: 'perch/main', input: 'What do whales eat?', stream: true }))
    events.push(event);
  expect(events.filter(({ type }) => type === 'response.output_text.annotation.added')).toMatchObject([
    { annotation: file, annotation_index: 0, content_index: 0, item_id: expect.any(String) as string },
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: [{ content: [{ text, annotations: [file] }] }] } });
  expect(gw.faults).toEqual([]);
});

verifies('chat.citations/messages', 'cites in answers of agents over /v1/messages in Anthropic’s form', async () => {
  const [whale = 0] = await findNumbers('krill');
  await using gw = await openLibrary(Array.from({ length: 2 }, () => `Blue whales eat krill [${whale}]. That is all.`));
  const anthropic = new Anthropic({
    baseURL: 'http://127.0.0.1:7333',
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => gw.gateway.fetch(new Request(url, init), { id: 'owner', scopes: ['admin'] }),
  });
  const params = { model: 'perch/main', max_tokens: 100, messages: [{ role: 'user' as const, content: 'What do whales eat?' }] };
  const citation = {
    ...{ type: 'search_result_location', source: 'whales.md', search_result_index: whale - 1 },
    ...{ start_block_index: 0, end_block_index: 1, title: expect.any(String) as string, cited_text: expect.stringContaining('krill') },
  };
  const whole = await anthropic.messages.create(params);
  expect(whole.content).toEqual([
    { type: 'text', text: 'Blue whales eat krill', citations: [citation] },
    { type: 'text', text: '. That is all.', citations: null },
  ]);
  // Streamed text stays in one block.
  const streamed = await anthropic.messages.stream(params).finalMessage();
  expect(streamed.content).toEqual([{ type: 'text', text: 'Blue whales eat krill. That is all.', citations: [citation] }]);
  // A client sends an answer back as it was: one text, which is known as a reply to this client.
  const next = [...params.messages, { role: 'assistant' as const, content: whole.content }, { role: 'user' as const, content: 'Sure?' }];
  await anthropic.messages.create({ ...params, messages: next });
  expect(JSON.stringify(gw.calls.at(-1)?.body.messages)).toContain('Blue whales eat krill. That is all.');
  expect(gw.faults).toEqual([]);
});
