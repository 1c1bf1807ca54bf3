import type { CollectionSource } from '#shared/rpc/collection-source.ts';
import type { PassageLocator } from '#shared/rpc/passage.ts';

/** A source as stored. `root`: the folder that the bridge reads, once it is known. */
export type StoredSource = CollectionSource & { root?: string };

/** A collection of documents (docs/decisions/0131-collections.md). */
export interface CollectionRecord {
  id: string;
  name: string;
  description: string;
  sources: StoredSource[];
  keepOriginals: boolean;
  embeddingModel: string | null;
  createdAt: number;
  updatedAt: number;
  /** Sources that are still to be listed. Indexing continues after a restart; null if none is left. */
  pending: { sourceIds: string[]; startedAt: number } | null;
  /** Whether a key with limited scopes wrote the name or description: they are left out of instructions. */
  isUnreviewed?: boolean;
}

/** A document of a collection. */
export interface CollectionDocumentRecord {
  /** `<collection>-<random>` */
  id: string;
  collectionId: string;
  sourceId: string;
  path: string;
  title: string;
  url?: string;
  mimeType: string;
  size: number;
  modifiedAt: number | null;
  addedAt: number;
  /** `waiting`: to be read, or read again; an earlier text can still be searched. */
  status: 'waiting' | 'indexed' | 'failed' | 'skipped';
  error?: string;
  notes?: string[];
  /** SHA-256 of the file whose text is stored. */
  hash?: string;
  /** The text that is searched; undefined if there is none. */
  text?: DocumentTextInfo;
  /** Hash of the stored file: one that is kept, or one that waits to be read. */
  blobs?: string[];
  /** Position of a message in an mbox file, in bytes. */
  offset?: number;
  /** Number of links between a start page and this web page. */
  depth?: number;
}

export interface DocumentTextInfo {
  /** `<document>.<random>`; different for each version. */
  id: string;
  indexedAt: number;
  parts: number;
  passages: number;
  /** Characters. */
  length: number;
  pageCount?: number;
}

/** A passage as stored. `text` is missing if it is the document's text from `start` to `end`. */
export interface StoredPassage {
  locator: PassageLocator;
  text?: string;
}

/** A part of a document's text, with the passages that start in it. */
export interface CollectionTextRecord {
  /** `<text>.<part>`, with four digits for the part. */
  id: string;
  /** Offset of the part in the text. */
  start: number;
  text: string;
  /** Number of the first passage. */
  first: number;
  passages: StoredPassage[];
}

/** A segment of the search index over the passages of one collection. Local to this replica. */
export interface CollectionSegmentRow {
  /** `<collection>/<number>` */
  id: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Vectors of a text's passages. Local to this replica. */
export interface CollectionVectorsRow {
  /** ID of the text. */
  id: string;
  model: string;
  dimensions: number;
  /** One row for each passage. */
  bytes: Int8Array<ArrayBuffer>;
}

/** Key of a part of a text. */
export const toTextPartId = (textId: string, part: number): string => `${textId}.${String(part).padStart(4, '0')}`;
