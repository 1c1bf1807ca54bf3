import type { Entry } from './entry.ts';
import type { ReadFile } from './index-store.ts';

/** A passage without its text. `blank` holds the text of a passage that is not indexed because it has no words; null otherwise. */
export type Row = Omit<Entry, 'text'> & { blank: string | null };

/** An indexed file and its passages. */
export interface KnownFile {
  readonly file: ReadFile;
  /** In order. */
  readonly entries: readonly Entry[];
  readonly count: number;
  /** Undefined if there is none. */
  at(place: number): Entry | undefined;
  /** Position of a passage; -1 if it is not in this file. */
  placeOf(entry: Entry): number;
  rows(): Iterable<Row>;
}

/** A file whose passages are in memory. */
export class LiveFile implements KnownFile {
  readonly file: ReadFile;
  readonly entries: readonly Entry[];

  constructor(file: ReadFile, entries: readonly Entry[]) {
    [this.file, this.entries] = [file, entries];
  }

  get count(): number {
    return this.entries.length;
  }

  at(place: number): Entry | undefined {
    return this.entries[place];
  }

  placeOf({ id }: Entry): number {
    return this.entries.findIndex((entry) => entry.id === id);
  }

  *rows(): Generator<Row> {
    for (const { text, ...entry } of this.entries) yield { ...entry, blank: text.trim() === '' ? text : null };
  }
}
