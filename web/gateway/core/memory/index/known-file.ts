import type { Entry } from './entry.ts';
import type { ReadFile } from './index-store.ts';

/** A passage without its text, but for one that says nothing and so is not searched. */
export type Row = Omit<Entry, 'text'> & { blank: string | null };

/** A file that was read, and its passages. */
export interface KnownFile {
  readonly file: ReadFile;
  /** In their order. */
  readonly entries: readonly Entry[];
  readonly count: number;
  /** Undefined where there is none. */
  at(place: number): Entry | undefined;
  /** -1: it is not of this file. */
  placeOf(entry: Entry): number;
  rows(): Iterable<Row>;
}

/** One whose passages are in memory. */
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
