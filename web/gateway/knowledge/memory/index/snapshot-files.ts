import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Columns } from '../../search/columns/columns.ts';
import { type StringColumn, StringWriter } from '../../search/columns/string-column.ts';
import { MemoryCategory } from '../long-term.ts';
import type { MemorySearch } from '../search/memory-search.ts';
import type { IndexEntry, PassageKind } from './index-entry.ts';
import type { IndexedFile } from './index-store.ts';
import type { FileEntries, EntryRow } from './file-entries.ts';

const KINDS: readonly PassageKind[] = ['memory', 'note', 'day', 'message'];
const CATEGORIES: readonly MemoryCategory[] = Object.values(MemoryCategory);
/** Numbers per file: size, time, lines, whether it is truncated, broken lines. */
const NUMBERS_PER_FILE = 5;
/** Integers per passage: its lines, then indices into the lists above and into string columns (-1: none), and whether it has a key. */
const NUMBERS_PER_ENTRY = 8;
const HAS_KEY_OFFSET = 7;
/** Fixed cost of writing a passage, in characters. */
const ENTRY_COST = 200;

/** The files of a snapshot with their passages. Entries are created on demand; indexed texts are read from the search. */
export class SnapshotFiles {
  readonly files: readonly SnapshotFile[];
  readonly #ids: StringColumn;
  /** Threads and speakers. */
  readonly #names: StringColumn;
  readonly #keys: StringColumn;
  readonly #blanks: StringColumn;
  readonly #numbers: Int32Array;
  readonly #timestamps: Float64Array;
  /** Index of the file, by passage. */
  readonly #fileIndexes: Uint32Array;
  readonly #search: MemorySearch;

  /** `columns`: the output of `writeFiles`; `search`: the search of the same snapshot. */
  constructor(columns: Columns, search: MemorySearch) {
    this.#search = search;
    this.#ids = columns.strings('entry/id');
    this.#names = columns.strings('entry/name');
    this.#keys = columns.strings('entry/key');
    this.#blanks = columns.strings('entry/blank');
    this.#numbers = columns.i32('entry/numbers');
    this.#timestamps = columns.f64('entry/at');
    this.#fileIndexes = new Uint32Array(this.#ids.length);
    const [paths, hashes] = [columns.strings('file/path'), columns.strings('file/hash')];
    const numbers = columns.f64('file/numbers');
    let from = 0;
    this.files = Array.from(columns.u32('file/count'), (count, index) => {
      const [size = 0, modifiedAt = 0, lines = 0, isCut = 0, broken = 0] = numbers.subarray(NUMBERS_PER_FILE * index);
      const file = { path: paths.at(index), size, modifiedAt, hash: hashes.at(index) || null, lines, isCut: isCut === 1, broken };
      this.#fileIndexes.fill(index, from, (from += count));
      return new SnapshotFile(file, this, from - count, count);
    });
  }

  /** Number of a passage by id, in a file accepted by `accepts`; -1 if there is none. */
  findNumber(id: string, accepts: (file: SnapshotFile) => boolean): number {
    return this.#ids.find(id, (number) => this.#isIn(number, accepts));
  }

  /** Whether a file accepted by `accepts` has a message with this key. */
  hasKey(key: string, accepts: (file: SnapshotFile) => boolean): boolean {
    const isKey = (number: number): boolean => this.#numbers[NUMBERS_PER_ENTRY * number + HAS_KEY_OFFSET] === 1;
    return this.#keys.find(key, (number) => isKey(number) && this.#isIn(number, accepts)) !== -1;
  }

  entry(number: number): IndexEntry {
    const { blank, ...row } = this.row(number);
    return { ...row, text: blank ?? this.#search.get(row.id)?.text ?? '' };
  }

  row(number: number): EntryRow {
    const [line = 0, end = 0, kind = 0, category = 0, thread = 0, speaker = -1, blank = -1, hasKey = 0] = this.#numbers.subarray(
      NUMBERS_PER_ENTRY * number,
      NUMBERS_PER_ENTRY * (number + 1),
    );
    const at = this.#timestamps[number] ?? NaN;
    return {
      id: this.#ids.at(number),
      kind: KINDS[kind] ?? 'memory',
      thread: this.#names.at(thread),
      blank: blank === -1 ? null : this.#blanks.at(blank),
      category: CATEGORIES[category] ?? null,
      path: this.files[this.#fileIndexes[number] ?? 0]?.file.path ?? '',
      line,
      end,
      at: Number.isNaN(at) ? null : at,
      speaker: speaker === -1 ? null : this.#names.at(speaker),
      key: hasKey === 1 ? this.#keys.at(number) : null,
    };
  }

  #isIn(number: number, accepts: (file: SnapshotFile) => boolean): boolean {
    const file = this.files[this.#fileIndexes[number] ?? 0];
    return file !== undefined && accepts(file);
  }
}

/** A file that has not changed since the snapshot. */
export class SnapshotFile implements FileEntries {
  readonly file: IndexedFile;
  readonly count: number;
  readonly #snapshot: SnapshotFiles;
  readonly #firstEntry: number;

  constructor(file: IndexedFile, all: SnapshotFiles, from: number, count: number) {
    [this.file, this.#snapshot, this.#firstEntry, this.count] = [file, all, from, count];
  }

  /** Created on each access. */
  get entries(): readonly IndexEntry[] {
    return Array.from({ length: this.count }, (_, index) => this.#snapshot.entry(this.#firstEntry + index));
  }

  at(index: number): IndexEntry | undefined {
    return index < 0 || index >= this.count ? undefined : this.#snapshot.entry(this.#firstEntry + index);
  }

  indexOf({ id }: IndexEntry): number {
    const number = this.#snapshot.findNumber(id, (file) => file === this);
    return number === -1 ? -1 : number - this.#firstEntry;
  }

  *rows(): Generator<EntryRow> {
    for (let index = 0; index < this.count; index++) yield this.#snapshot.row(this.#firstEntry + index);
  }
}

/** Writes files and their passages in slices. */
export async function writeFiles(files: readonly FileEntries[], into: Columns, slicer: TimeSlicer): Promise<void> {
  const [paths, hashes] = [new StringWriter(), new StringWriter()];
  const [ids, names, keys, blanks] = [new StringWriter(), new StringWriter(), new StringWriter(), new StringWriter()];
  const nameNumbers = new Map<string, number>();
  const getNameNumber = (name: string): number => {
    let number = nameNumbers.get(name);
    if (number === undefined) nameNumbers.set(name, (number = names.add(name)));
    return number;
  };
  const total = files.reduce((sum, { count }) => sum + count, 0);
  const numbers = new Int32Array(NUMBERS_PER_ENTRY * total);
  const at = new Float64Array(total);
  const ofFiles = new Float64Array(NUMBERS_PER_FILE * files.length);
  let next = 0;
  for (const [index, known] of files.entries()) {
    const { file } = known;
    paths.add(file.path);
    hashes.add(file.hash ?? '');
    ofFiles.set([file.size, file.modifiedAt, file.lines, Number(file.isCut), file.broken], NUMBERS_PER_FILE * index);
    for (const row of known.rows()) {
      const category = row.category === null ? -1 : CATEGORIES.indexOf(row.category);
      const speaker = row.speaker === null ? -1 : getNameNumber(row.speaker);
      const blank = row.blank === null ? -1 : blanks.add(row.blank);
      numbers.set(
        [row.line, row.end, KINDS.indexOf(row.kind), category, getNameNumber(row.thread), speaker, blank, Number(row.key !== null)],
        NUMBERS_PER_ENTRY * next,
      );
      at[next++] = row.at ?? NaN;
      ids.add(row.id);
      keys.add(row.key ?? '');
      await slicer.after(ENTRY_COST);
    }
  }
  into.setStrings('file/path', paths.finish());
  into.setStrings('file/hash', hashes.finish());
  into.set('file/numbers', ofFiles);
  into.set(
    'file/count',
    Uint32Array.from(files, ({ count }) => count),
  );
  into.setStrings('entry/id', ids.finish());
  into.setStrings('entry/name', names.finish());
  into.setStrings('entry/key', keys.finish());
  into.setStrings('entry/blank', blanks.finish());
  into.set('entry/numbers', numbers);
  into.set('entry/at', at);
}
