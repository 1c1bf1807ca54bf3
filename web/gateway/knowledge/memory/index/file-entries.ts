import type { IndexEntry } from './index-entry.ts';
import type { IndexedFile } from './index-store.ts';

/** A passage without its text. `blank` holds the text of a passage that is not indexed because it has no words; null otherwise. */
export type EntryRow = Omit<IndexEntry, 'text'> & { blank: string | null };

/** An indexed file and its passages. */
export interface FileEntries {
  readonly file: IndexedFile;
  /** In order. */
  readonly entries: readonly IndexEntry[];
  readonly count: number;
  /** Undefined if there is none. */
  at(index: number): IndexEntry | undefined;
  /** Position of a passage; -1 if it is not in this file. */
  indexOf(entry: IndexEntry): number;
  rows(): Iterable<EntryRow>;
}

/** A file whose passages are in memory. */
export class InMemoryFile implements FileEntries {
  readonly file: IndexedFile;
  readonly entries: readonly IndexEntry[];

  constructor(file: IndexedFile, entries: readonly IndexEntry[]) {
    [this.file, this.entries] = [file, entries];
  }

  get count(): number {
    return this.entries.length;
  }

  at(index: number): IndexEntry | undefined {
    return this.entries[index];
  }

  indexOf({ id }: IndexEntry): number {
    return this.entries.findIndex((entry) => entry.id === id);
  }

  *rows(): Generator<EntryRow> {
    for (const { text, ...entry } of this.entries) yield { ...entry, blank: text.trim() === '' ? text : null };
  }
}
