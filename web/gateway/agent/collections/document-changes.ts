import { FILES_SOURCE } from '#shared/rpc/methods/collection-contracts.ts';
import type { CollectionDocumentRecord } from '../../storage/records/collection-records.ts';
import type { CollectionDocuments } from './collection-documents.ts';
import type { CollectionIndexes } from './collection-indexes.ts';
import type { SourceFile } from './source-files.ts';

/** Records that are written together. */
export const BATCH_SIZE = 200;

/** A new document that waits to be read. */
export function createDocument(
  collectionId: string,
  sourceId: string,
  file: SourceFile & { mimeType?: string; blobs?: string[]; depth?: number },
  addedAt: number,
): CollectionDocumentRecord {
  const { path, mimeType = '', ...rest } = file;
  return {
    id: `${collectionId}-${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`,
    collectionId,
    sourceId,
    path,
    title: path.split('/').at(-1) ?? path,
    mimeType,
    addedAt,
    status: 'waiting',
    ...rest,
  };
}

/** Strict: removes documents with their texts and files. */
export async function deleteDocuments(
  { documents, indexes }: { documents: CollectionDocuments; indexes: CollectionIndexes },
  collectionId: string,
  removed: readonly CollectionDocumentRecord[],
): Promise<void> {
  for (let from = 0; from < removed.length; from += BATCH_SIZE) {
    const batch = removed.slice(from, from + BATCH_SIZE);
    await documents.write({
      remove: batch.map(({ id }) => id),
      removeTexts: batch.flatMap(({ text }) => text ?? []),
      releaseBlobs: batch.flatMap(({ blobs = [] }) => blobs),
    });
    for (const { text } of batch) if (text) indexes.remove(collectionId, text.id);
  }
}

/** Keeps only the texts of indexed documents. */
export async function releaseOriginals(documents: CollectionDocuments, id: string): Promise<void> {
  const kept = [...(await documents.load(id)).values()].filter(({ status, blobs }) => blobs && status === 'indexed');
  for (let from = 0; from < kept.length; from += BATCH_SIZE) {
    const batch = kept.slice(from, from + BATCH_SIZE);
    await documents.write({
      put: batch.map(({ blobs: _, ...document }) => document),
      releaseBlobs: batch.flatMap(({ blobs = [] }) => blobs),
    });
  }
}

export async function setDocumentStatus(
  documents: CollectionDocuments,
  changed: readonly CollectionDocumentRecord[],
  status: 'waiting' | 'skipped',
  error?: string,
): Promise<void> {
  for (let from = 0; from < changed.length; from += BATCH_SIZE)
    await documents.write({
      put: changed
        .slice(from, from + BATCH_SIZE)
        .map(({ error: _, ...document }) => ({ ...document, status, ...(error === undefined ? {} : { error }) })),
    });
}

/** Whether the file of a document still exists: one whose text alone was kept cannot be read again. */
export const canReadFile = ({ sourceId, blobs }: CollectionDocumentRecord): boolean => sourceId !== FILES_SOURCE || blobs !== undefined;
