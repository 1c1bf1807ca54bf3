import type { WorkspaceFile } from '../workspace.ts';
import type { IndexEntry } from './index-entry.ts';

/** State of a file when it was read. */
export interface IndexedFile extends WorkspaceFile {
  /** SHA-256 of its text; null if only an appended part was read. */
  hash: string | null;
  /** Number of line breaks. */
  lines: number;
  /** Whether its last line has no line break, such as after an interrupted write. */
  isCut: boolean;
  /** Number of lines that could not be parsed. */
  broken: number;
}

/**
 * Stores parsed files, so that a start reads only files that have changed since, and a snapshot of the search, so that only changes are
 * analysed again. Lost data is rebuilt from the files.
 *
 * `put` (a file and its passages), `remove` and `putSnapshot` must each be atomic and independent of each other. A snapshot contains the
 * version of each file; an outdated one is brought up to date from the stored files.
 */
export interface IndexStore extends SnapshotStore {
  files(): Promise<IndexedFile[]>;
  /** In order. */
  entries(path: string): Promise<IndexEntry[]>;
  /** Records a file and its passages in one step. `change`: the known difference to the previous record. */
  put(
    file: IndexedFile,
    entries: readonly IndexEntry[],
    change: { removed: readonly string[]; written: readonly IndexEntry[] },
  ): Promise<void>;
  /** Deletes a file's record and its passages. */
  remove(path: string): Promise<void>;
}

/** Stores a snapshot of a search. */
export interface SnapshotStore {
  /** The latest snapshot; undefined if there is none or it cannot be read. It contains its own checksum. */
  snapshot(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Replaces the snapshot. `bytes` must not change afterwards; about 300 bytes per passage. */
  putSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}
