import type { Collection, CollectionDocument } from '#shared/rpc/methods/collection-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DocumentWrite } from '../../storage/document-store.ts';
import type { CollectionDocumentRecord, CollectionRecord } from '../../storage/records/collection-records.ts';
import type { RemoteChange, Vault } from '../../storage/vault-interface.ts';

/** The collection of a document. */
const toCollectionId = (documentId: string): string => documentId.slice(0, Math.max(0, documentId.lastIndexOf('-')));

/** Records of documents, in memory for collections that are in use. */
export class CollectionDocuments {
  readonly #vault: Vault;
  readonly #loading = new Map<string, Promise<Map<string, CollectionDocumentRecord>>>();
  readonly #loaded = new Map<string, Map<string, CollectionDocumentRecord>>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Documents of a collection by ID. */
  async load(collectionId: string): Promise<ReadonlyMap<string, CollectionDocumentRecord>> {
    let loading = this.#loading.get(collectionId);
    if (!loading) {
      loading = this.#read(collectionId);
      this.#loading.set(collectionId, loading);
      loading.catch(() => this.#loading.delete(collectionId));
    }
    return loading;
  }

  /** Documents of a collection that are in memory; none before `load`. */
  list(collectionId: string): Iterable<CollectionDocumentRecord> {
    return this.#loaded.get(collectionId)?.values() ?? [];
  }

  /** A document in memory. */
  peek(documentId: string): CollectionDocumentRecord | undefined {
    return this.#loaded.get(toCollectionId(documentId))?.get(documentId);
  }

  /** Throws `NOT_FOUND`. */
  async get(documentId: string): Promise<CollectionDocumentRecord> {
    const document = (await this.load(toCollectionId(documentId))).get(documentId);
    if (!document) throw new RpcError('NOT_FOUND', `No document with ID "${documentId}".`);
    return document;
  }

  /** Strict: stores changes, all or none. */
  async write(change: DocumentWrite): Promise<void> {
    await (await this.#vault.documents()).write(change);
    for (const record of change.put ?? []) this.#loaded.get(record.collectionId)?.set(record.id, record);
    for (const id of change.remove ?? []) this.#loaded.get(toCollectionId(id))?.delete(id);
  }

  /** Reads documents that another host has changed. Returns the texts that they had before. */
  async applyRemote(changes: readonly RemoteChange[]): Promise<{ collectionId: string; removedTextId: string | undefined }[]> {
    return Promise.all(
      changes.map(async ({ key, deleted }) => {
        const collectionId = toCollectionId(key);
        const documents = await this.#loading.get(collectionId)?.catch(() => undefined);
        if (!documents) return { collectionId, removedTextId: undefined };
        const before = documents.get(key);
        const record = deleted ? undefined : await this.#vault.collection('collectionDocuments').get(key);
        if (record) documents.set(key, record);
        else documents.delete(key);
        return { collectionId, removedTextId: before?.text?.id === record?.text?.id ? undefined : before?.text?.id };
      }),
    );
  }

  forget(collectionId: string): void {
    this.#loading.delete(collectionId);
    this.#loaded.delete(collectionId);
  }

  async #read(collectionId: string): Promise<Map<string, CollectionDocumentRecord>> {
    const records = await this.#vault.collection('collectionDocuments').list(`${collectionId}-`);
    const documents = new Map(records.map((record) => [record.id, record]));
    this.#loaded.set(collectionId, documents);
    return documents;
  }
}

/** State of indexing as clients see it. */
export type IndexingState = Pick<Collection, 'state' | 'waitingFor' | 'progress'>;

type Totals = Pick<Collection, 'documentCount' | 'failedCount' | 'passageCount' | 'size'>;

function sumDocuments(documents: Iterable<CollectionDocumentRecord>): Totals {
  const totals: Totals = { documentCount: 0, failedCount: 0, passageCount: 0, size: 0 };
  for (const { status, text, size } of documents) {
    totals.documentCount++;
    if (status === 'failed') totals.failedCount++;
    totals.passageCount += text?.passages ?? 0;
    totals.size += size;
  }
  return totals;
}

/** A collection as clients see it. */
export function toCollection(
  { pending: _, isUnreviewed: __, sources, ...fields }: CollectionRecord,
  documents: ReadonlyMap<string, CollectionDocumentRecord>,
  state: IndexingState,
): Collection {
  return { ...fields, sources: sources.map(({ root: _root, ...source }) => source), ...sumDocuments(documents.values()), ...state };
}

/** A document as clients see it. `isOnDisk`: whether the bridge can read its file. */
export const toDocument = (record: CollectionDocumentRecord, isOnDisk: boolean): CollectionDocument => ({
  id: record.id,
  collectionId: record.collectionId,
  sourceId: record.sourceId,
  path: record.path,
  title: record.title,
  url: record.url ?? null,
  mimeType: record.mimeType,
  size: record.size,
  modifiedAt: record.modifiedAt,
  addedAt: record.addedAt,
  indexedAt: record.text?.indexedAt ?? null,
  status: record.status,
  error: record.error ?? null,
  notes: record.notes ?? [],
  pageCount: record.text?.pageCount ?? null,
  passageCount: record.text?.passages ?? 0,
  length: record.text?.length ?? 0,
  hasOriginal: record.blobs !== undefined || isOnDisk,
});
