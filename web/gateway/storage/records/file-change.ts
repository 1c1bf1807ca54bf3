import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';

/** A file to write or remove, unless it has changed since it was seen. */
export interface FileChange {
  path: string;
  /** Null if there was none. */
  base: Pick<FileEntry, 'size' | 'modifiedAt'> | null;
  /** Null removes the file. */
  file: FileRecord | null;
}

export interface FileChangeResult {
  outcome: 'done' | 'changed' | 'full';
  /** The stored file, if it was written. */
  file: FileRecord | null;
}
