import { yieldToEventLoop } from '#shared/async/time-slicer.ts';
import { toBase64 } from '#shared/base64.ts';
import type { GatewayClient } from '#shared/client/client.ts';
import type { Collection, CollectionDocument } from '#shared/rpc/methods/collection-contracts.ts';

export const encode = (text: string): string => toBase64(new TextEncoder().encode(text));
export const toFile = (path: string, text: string) => ({ path, mimeType: '', data: encode(text) });

/** Resolves when a condition holds. */
export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await yieldToEventLoop();
}

/** Resolves with the collection when it is not being indexed. */
export async function waitUntilIdle(client: GatewayClient, collectionId: string): Promise<Collection> {
  for (;;) {
    const { collection } = await client.call('collections.get', { collectionId });
    if (collection.state !== 'indexing') return collection;
    await yieldToEventLoop();
  }
}

/** Creates a collection of these files and waits until they are indexed. */
export async function createCollection(client: GatewayClient, files: readonly ReturnType<typeof toFile>[]): Promise<Collection> {
  const { collection } = await client.call('collections.create', { name: 'Library' });
  if (files.length > 0) await client.call('collections.addFiles', { collectionId: collection.id, files: [...files] });
  return waitUntilIdle(client, collection.id);
}

export async function listDocuments(client: GatewayClient, collectionId: string): Promise<CollectionDocument[]> {
  return (await client.call('collections.documents', { collectionId })).documents;
}
