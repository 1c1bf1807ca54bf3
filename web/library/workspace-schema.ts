import type { DBSchema } from 'idb';
import type { IndexEntry } from '../gateway/knowledge/memory/index/index-entry.ts';
import type { IndexedFile } from '../gateway/knowledge/memory/index/index-store.ts';
import type { QuantizedVector } from '../gateway/knowledge/memory/vectors/vector-rows.ts';
import type { WorkspaceFile } from '../gateway/knowledge/memory/workspace.ts';
import type { Migration } from '../gateway/storage/database.ts';

/** A file of a workspace. Its text is stored separately in parts, so that listing files reads no text. */
export interface FileRow extends WorkspaceFile {
  parts: number;
  /** Number of characters in the last part. */
  lastPart: number;
}

/**
 * Index rows, which can be rebuilt from the files. A file's `token` changes with each write, so that a tab can tell whether the last write
 * was its own.
 */
export type IndexRow =
  | { kind: 'file'; file: IndexedFile; token: string }
  | { kind: 'passage'; passage: IndexEntry }
  | { kind: 'snapshot'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'vector'; vector: QuantizedVector };

/** Schema of a workspace's database, which is named by `workspaceDir`. */
export interface WorkspaceSchema extends DBSchema {
  /** By path. */
  files: { key: string; value: FileRow };
  /** By path and part number, from 0. */
  texts: { key: [path: string, part: number]; value: string };
  /** The memory index. */
  'memory.db': { key: [kind: IndexRow['kind'], path: string, id: string]; value: IndexRow };
}

/**
 * Append only, as the vault's: the version is the length. A step that changes what `memory.db` holds empties it. One that upgrades must first see that the database is a
 * workspace at all: other programs of the same origin have databases too.
 */
export const migrations: readonly Migration<WorkspaceSchema>[] = [
  (db) => {
    db.createObjectStore('files', { keyPath: 'path' });
    db.createObjectStore('texts');
    db.createObjectStore('memory.db');
  },
];
