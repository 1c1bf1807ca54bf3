import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createTestGateway, waitFor } from '../../../../../tests/support/test-gateway.ts';

/** Texts of the same meaning get the same direction: cars, animals, and the rest. */
const TEXT_KINDS = [/\b(car|vehicle|automobile|peugeot)\b/i, /\b(dog|terrier|bruno)\b/i];
const toVector = (text: string): number[] => {
  const kind = TEXT_KINDS.findIndex((each) => each.test(text));
  return Array.from({ length: 64 }, (_, at) => (at % 3 === kind + 1 ? 1 : 0.05) + (text.length % 7) / 100);
};

function createFixture({ broken = false } = {}) {
  const embedded: string[] = [];
  const fetch = async (url: string, { body = '{}' }: { body?: string | undefined }) => {
    if (url.endsWith('/models')) return Response.json({ object: 'list', data: [{ id: 'scripted', object: 'model' }] });
    if (!url.endsWith('/embeddings')) return new Response('{}', { status: 404 });
    if (broken) return Response.json({ error: { message: 'Out of order' } }, { status: 500 });
    const { input } = JSON.parse(body) as { input: string[] };
    embedded.push(...input);
    const data = input.map((text, index) => ({ index, embedding: toVector(text) })).toReversed();
    return Response.json({ object: 'list', data, usage: { prompt_tokens: 3, total_tokens: 3 } });
  };
  return { embedded, fetch };
}

verifies(
  'memory.vectors/gateway',
  'finds texts of the same meaning with different words; each text is sent once, and its usage booked',
  async () => {
    const { embedded, fetch } = createFixture();
    await using gw = await createTestGateway({ fetch });
    const { client } = await gw.client();
    for (const text of ['The Peugeot is parked behind the church', 'Bruno is a terrier', 'The rent is due on Monday'])
      await client.call('memory.add', { text });
    const find = async () => (await client.call('memory.search', { query: 'Which automobile have we got?' })).results;
    expect((await find()).map(({ why }) => why.alike)).not.toContain(expect.any(Number));
    expect(embedded).toEqual([]);
    await client.call('config.set', { key: 'memory.embeddings.model', value: 'test/scripted' });
    await waitFor(async () => (await find())[0]?.why.alike !== undefined, 'vectors');
    const [first] = await find();
    expect(first).toMatchObject({ text: 'The Peugeot is parked behind the church', kind: 'memory' });
    expect(first?.why.alike).toBeGreaterThan(0.9);
    const remembered = embedded.filter((text) => !text.startsWith('Which'));
    expect(remembered.sort()).toEqual(['Bruno is a terrier', 'The Peugeot is parked behind the church', 'The rent is due on Monday']);
    // A memory that is added later gets a vector too.
    await client.call('memory.add', { text: 'A second vehicle is in the garage' });
    await waitFor(async () => (await find()).some(({ text, why }) => text.startsWith('A second') && (why.alike ?? 0) > 0.9), 'the second');
    const usage = await gw.vault.usage.since(0);
    await waitFor(async () => (await gw.vault.usage.since(0)).some(({ principal }) => principal === 'memory'), 'usage');
    expect(usage.every(({ model }) => model === 'test/scripted')).toBe(true);
  },
);

verifies('memory.vectors/gateway', 'a model that fails, or makes none, leaves the search by words', async () => {
  const { fetch } = createFixture({ broken: true });
  await using gw = await createTestGateway({ fetch });
  const { client } = await gw.client();
  await client.call('memory.add', { text: 'Bruno is a terrier' });
  for (const model of ['test/scripted', 'guide/guide', 'nobody/none']) {
    await client.call('config.set', { key: 'memory.embeddings.model', value: model });
    const { results } = await client.call('memory.search', { query: 'terrier' });
    expect(results[0], model).toMatchObject({ text: 'Bruno is a terrier', why: { words: ['terrier'] } });
  }
  const logged = async (): Promise<string> => JSON.stringify((await client.call('system.logs', { level: 'warn' })).logs);
  await waitFor(async () => (await logged()).includes('Guide does not support embeddings'), 'the guide makes none');
  await waitFor(async () => (await logged()).includes('uses words only'), 'a warning');
  expect(gw.faults).toEqual([]);
});
