import type { WorkspaceFile } from '../workspace.ts';
import type { Entry } from './entry.ts';

/** A file as it was when it was read. */
export interface ReadFile extends WorkspaceFile {
  /** SHA-256 of its text; null where only what was added to it was read. */
  hash: string | null;
  /** Line breaks in it. */
  lines: number;
  /** Its last line has no end, as where writing it was cut off. */
  isCut: boolean;
  /** Lines that are no records. */
  broken: number;
}

/**
 * Keeps what was read of files, so that a start reads only files that have changed since, and a snapshot of the search, so that it analyses only what has changed. What is lost is
 * read again.
 *
 * What must come about in one step: `put` (a file and its passages), `remove`, and `putSnapshot`, each by itself and in no step with another. A snapshot says of which state
 * of each file it is; one that is older than what is noted of the files is brought up to date from that.
 */
export interface IndexStore {
  files(): Promise<ReadFile[]>;
  /** In their order. */
  entries(path: string): Promise<Entry[]>;
  /** Notes a file and its passages, in one step; `change` is how they differ from what was noted before, as far as is known here. */
  put(file: ReadFile, entries: readonly Entry[], change: { removed: readonly string[]; written: readonly Entry[] }): Promise<void>;
  /** Forgets a file and its passages. */
  remove(path: string): Promise<void>;
  /** What was last put; undefined where there is none, or what there is cannot be read. It has its own checksum. */
  snapshot(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Puts it in place of the one before. It is not changed afterwards; some 300 bytes for each passage. */
  putSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}
