import { expect } from 'vitest';
import { COLLECTION_LIMITS } from '#shared/rpc/methods/collection-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { createCollection, encode, listDocuments, toFile, waitUntil, waitUntilIdle } from './fixture.ts';

verifies('collections/replica', 'the other host searches what was synced, and forgets what was removed', async () => {
  const hosts = new TestHosts();
  await using first = await hosts.host();
  await using second = await hosts.host();
  const { client } = await first.client();
  const { client: other } = await second.client();
  const { id } = await createCollection(client, [toFile('whales.md', 'Blue whales eat krill.'), toFile('otters.md', 'Otters eat fish.')]);
  const search = async (query: string) => (await other.call('collections.search', { query })).passages.map(({ path }) => path);
  await waitUntil(async () => (await search('krill')).length === 1);
  expect((await other.call('collections.list', {})).collections).toMatchObject([{ id, documentCount: 2, state: 'idle' }]);
  const [, document] = await listDocuments(other, id);
  const original = await other.call('collections.original', { documentId: document?.id ?? '' });
  expect(original.data).toBe(encode('Blue whales eat krill.'));
  await client.call('collections.addFiles', { collectionId: id, files: [toFile('whales.md', 'Blue whales migrate.')] });
  await waitUntil(async () => (await search('migrate')).length === 1);
  expect(await search('krill')).toEqual([]);
  const [otters] = await listDocuments(client, id);
  await client.call('collections.removeDocuments', { collectionId: id, documentIds: [otters?.id ?? ''] });
  await waitUntil(async () => (await search('fish')).length === 0);
  await client.call('collections.delete', { collectionId: id });
  await waitUntil(async () => (await other.call('collections.list', {})).count === 0);
  expect(await (await second.vault.documents()).getSegments(id)).toEqual([]);
});

verifies(
  ['collections/cancel', 'collections/restart'],
  'what was cancelled waits for a refresh; what a stop interrupted goes on',
  async () => {
    await using gw = await createTestGateway({ name: 'collections-cancel' });
    const { client } = await gw.client();
    const { collection } = await client.call('collections.create', { name: 'Library' });
    const collectionId = collection.id;
    const add = (from: number) =>
      client.call('collections.addFiles', {
        collectionId,
        files: Array.from({ length: 50 }, (_, number) => toFile(`${from + number}.md`, `Note ${from + number} about herons.`)),
      });
    await add(0);
    const cancelled = await client.call('collections.cancel', { collectionId });
    expect(cancelled.collection).toMatchObject({ state: 'idle', progress: null, documentCount: 50 });
    const skipped = await client.call('collections.documents', { collectionId, status: 'skipped' });
    expect(skipped.total).toBeGreaterThan(0);
    expect(skipped.documents[0]?.error).toBe('Indexing was cancelled.');
    await client.call('collections.refresh', { collectionId });
    expect(await waitUntilIdle(client, collectionId)).toMatchObject({ documentCount: 50, passageCount: 50 });
    await add(50);
    const { indexedDB } = globalThis;
    await gw.gateway.close();
    await using again = await createTestGateway({ name: 'collections-cancel', indexedDB });
    const { client: next } = await again.client();
    expect(await waitUntilIdle(next, collectionId)).toMatchObject({ documentCount: 100, passageCount: 100 });
    const found = await next.call('collections.search', { query: 'note 99' });
    expect(found.passages[0]?.path).toBe('99.md');
  },
);

verifies('collections/limits', 'a collection with all its documents takes no more, and says so', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  const id = 'full';
  const settings = { name: 'Full', description: '', sources: [], keepOriginals: false, embeddingModel: null };
  await gw.vault.collection('collections').put({ id, ...settings, createdAt: 1, updatedAt: 1, pending: null });
  const document = {
    collectionId: id,
    sourceId: 'files',
    title: 'T',
    mimeType: '',
    size: 1,
    modifiedAt: null,
    addedAt: 1,
    status: 'failed',
  } as const;
  const put = Array.from({ length: COLLECTION_LIMITS.documents }, (_, number) => ({
    ...document,
    id: `${id}-${number}`,
    path: `${number}.md`,
  }));
  await (await gw.vault.documents()).write({ put });
  const more = client.call('collections.addFiles', { collectionId: id, files: [toFile('more.md', 'More')] });
  await expect(more).rejects.toThrow('A collection can have 10000 documents. This one has 10000.');
  const page = await client.call('collections.documents', { collectionId: id, limit: 2, cursor: '9999' });
  expect(page).toMatchObject({ total: 10_000, cursor: null, documents: [{ path: '9999.md' }] });
});

verifies('collections/meaning', 'passages alike in meaning are found too; by words alone if the model fails', async () => {
  let fails = false;
  const embed = (text: string): number[] => (/whale|cetacean/i.test(text) ? [1, 0, 0.1] : [0, 1, 0.1]);
  await using gw = await createTestGateway({
    fetch: async (url, { body }) => {
      if (!url.endsWith('/embeddings')) return Response.json({ object: 'list', data: [{ id: 'small', object: 'model' }] });
      if (fails) return new Response('no', { status: 500 });
      const { input } = JSON.parse(String(body)) as { input: string[] };
      return Response.json({
        object: 'list',
        model: 'small',
        data: input.map((text, index) => ({ object: 'embedding', index, embedding: embed(text) })),
      });
    },
  });
  const { client } = await gw.client();
  const { collection } = await client.call('collections.create', { name: 'Library', embeddingModel: 'test/small' });
  const files = [toFile('whales.md', 'The humpback whale sings.'), toFile('otters.md', 'Otters eat fish.')];
  await client.call('collections.addFiles', { collectionId: collection.id, files });
  await waitUntilIdle(client, collection.id);
  const byMeaning = await client.call('collections.search', { query: 'cetaceans' });
  expect(byMeaning.semantic).toBe(true);
  expect(byMeaning.passages[0]?.path).toBe('whales.md');
  fails = true;
  const byWords = await client.call('collections.search', { query: 'otters' });
  expect(byWords).toMatchObject({ semantic: false, passages: [{ path: 'otters.md' }] });
});
