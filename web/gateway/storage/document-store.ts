import { BLOB_STORES, type BlobStore, deleteUnusedBlobs } from './blob-store.ts';
import type {
  CollectionDocumentRecord,
  CollectionSegmentRow,
  CollectionTextRecord,
  CollectionVectorsRow,
} from './records/collection-records.ts';
import { toTextPartId, type DocumentTextInfo } from './records/collection-records.ts';
import { putInStore, removeFromStore } from './store-requests.ts';
import type { Transactions } from './transactions.ts';

/** Changes of documents that are stored together. */
export interface DocumentWrite {
  put?: readonly CollectionDocumentRecord[];
  remove?: readonly string[];
  texts?: readonly CollectionTextRecord[];
  /** Texts that no document has any more. */
  removeTexts?: readonly DocumentTextInfo[];
  /** Files that documents refer to. */
  blobs?: readonly { hash: string; bytes: Uint8Array<ArrayBuffer> }[];
  /** Hashes of files that may not be needed any more. */
  releaseBlobs?: readonly string[];
}

/** Documents of collections, their texts and files, and this replica's search index over them. */
export interface DocumentStore {
  /** Strict: all changes or none. */
  write(change: DocumentWrite): Promise<void>;
  /** Bytes of a stored file; undefined if neither this replica nor the journal has it. */
  getFile(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Parts of a text by number; undefined for those that are not here (yet). */
  getParts(textId: string, parts: readonly number[]): Promise<(CollectionTextRecord | undefined)[]>;
  /** Segments of a collection's index, oldest first. */
  getSegments(collectionId: string): Promise<CollectionSegmentRow[]>;
  /** Relaxed: adds a segment in place of others. */
  replaceSegments(removed: readonly string[], added?: CollectionSegmentRow): Promise<void>;
  /** IDs of the texts of a collection that have vectors. */
  getVectorIds(collectionId: string): Promise<string[]>;
  getVectors(collectionId: string): Promise<CollectionVectorsRow[]>;
  /** Relaxed. */
  writeVectors(rows: readonly CollectionVectorsRow[], removed?: readonly string[]): Promise<void>;
  /** Relaxed: deletes this replica's index of a collection. */
  dropIndex(collectionId: string): Promise<void>;
}

const toPrefixRange = (prefix: string): IDBKeyRange => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** Creates the document store of a vault. */
export function createDocumentStore({ transactions, blobs }: { transactions: Transactions; blobs: BlobStore }): DocumentStore {
  return {
    write: ({ put = [], remove = [], texts = [], removeTexts = [], blobs: files = [], releaseBlobs = [] }) =>
      transactions.write([...BLOB_STORES, 'collectionTexts', 'collectionVectors'], async ({ tx, put: putRecord, remove: removeRecord }) => {
        for (const file of files) putInStore(tx, 'blobs', file);
        await Promise.all([
          ...texts.map((text) => putRecord('collectionTexts', text.id, text)),
          ...put.map((document) => putRecord('collectionDocuments', document.id, document)),
          ...remove.map((id) => removeRecord('collectionDocuments', id)),
          ...removeTexts.flatMap(({ id, parts }) => {
            removeFromStore(tx, 'collectionVectors', id);
            return Array.from({ length: parts }, (_, part) => removeRecord('collectionTexts', toTextPartId(id, part)));
          }),
        ]);
        if (releaseBlobs.length > 0) await deleteUnusedBlobs(tx, releaseBlobs);
      }),

    getFile: (hash) => blobs.find(hash),

    getParts: (textId, parts) =>
      transactions.read(['collectionTexts'], (tx) =>
        Promise.all(parts.map((part) => tx.objectStore('collectionTexts').get(toTextPartId(textId, part)))),
      ),

    getSegments: (collectionId) =>
      transactions.read(['collectionSegments'], (tx) => tx.objectStore('collectionSegments').getAll(toPrefixRange(`${collectionId}/`))),

    replaceSegments: (removed, added) =>
      transactions.writeLocal(['collectionSegments'], async (tx) => {
        for (const id of removed) removeFromStore(tx, 'collectionSegments', id);
        if (added) putInStore(tx, 'collectionSegments', added);
      }),

    getVectorIds: (collectionId) =>
      transactions.read(['collectionVectors'], (tx) => tx.objectStore('collectionVectors').getAllKeys(toPrefixRange(`${collectionId}-`))),

    getVectors: (collectionId) =>
      transactions.read(['collectionVectors'], (tx) => tx.objectStore('collectionVectors').getAll(toPrefixRange(`${collectionId}-`))),

    writeVectors: (rows, removed = []) =>
      transactions.writeLocal(['collectionVectors'], async (tx) => {
        for (const id of removed) removeFromStore(tx, 'collectionVectors', id);
        for (const row of rows) putInStore(tx, 'collectionVectors', row);
      }),

    dropIndex: (collectionId) =>
      transactions.writeLocal(['collectionSegments', 'collectionVectors'], async (tx) => {
        removeFromStore(tx, 'collectionSegments', toPrefixRange(`${collectionId}/`));
        removeFromStore(tx, 'collectionVectors', toPrefixRange(`${collectionId}-`));
      }),
  };
}
