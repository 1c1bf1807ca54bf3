import type { Breath } from '../../documents/breath.ts';
import type { Columns } from '../columns/columns.ts';
import { type StringColumn, StringWriter } from '../columns/string-column.ts';
import { MemoryCategory } from '../long-term.ts';
import type { MemorySearch } from '../search/memory-search.ts';
import type { Entry, PassageKind } from './entry.ts';
import type { ReadFile } from './index-store.ts';
import type { KnownFile, Row } from './known-file.ts';

const KINDS: readonly PassageKind[] = ['memory', 'note', 'day', 'message'];
const CATEGORIES: readonly MemoryCategory[] = Object.values(MemoryCategory);
/** Numbers per file: size, time, lines, whether it is truncated, broken lines. */
const OF_FILE = 5;
/** Integers per passage: its lines, then indices into the lists above and into string columns (-1: none), and whether it has a key. */
const OF_ENTRY = 8;
const HAS_KEY = 7;
/** Fixed cost of writing a passage, in characters. */
const EACH = 200;

/** The files of a snapshot with their passages. Entries are created on demand; indexed texts are read from the search. */
export class StoredFiles {
  readonly files: readonly StoredFile[];
  readonly #ids: StringColumn;
  /** Threads and speakers. */
  readonly #names: StringColumn;
  readonly #keys: StringColumn;
  readonly #blanks: StringColumn;
  readonly #numbers: Int32Array;
  readonly #at: Float64Array;
  /** Index of the file, by passage. */
  readonly #fileOf: Uint32Array;
  readonly #search: MemorySearch;

  /** `columns`: the output of `writeFiles`; `search`: the search of the same snapshot. */
  constructor(columns: Columns, search: MemorySearch) {
    this.#search = search;
    this.#ids = columns.strings('entry/id');
    this.#names = columns.strings('entry/name');
    this.#keys = columns.strings('entry/key');
    this.#blanks = columns.strings('entry/blank');
    this.#numbers = columns.i32('entry/numbers');
    this.#at = columns.f64('entry/at');
    this.#fileOf = new Uint32Array(this.#ids.length);
    const [paths, hashes] = [columns.strings('file/path'), columns.strings('file/hash')];
    const numbers = columns.f64('file/numbers');
    let from = 0;
    this.files = Array.from(columns.u32('file/count'), (count, place) => {
      const [size = 0, modifiedAt = 0, lines = 0, isCut = 0, broken = 0] = numbers.subarray(OF_FILE * place);
      const file = { path: paths.at(place), size, modifiedAt, hash: hashes.at(place) || null, lines, isCut: isCut === 1, broken };
      this.#fileOf.fill(place, from, (from += count));
      return new StoredFile(file, this, from - count, count);
    });
  }

  /** Number of a passage by id, in a file accepted by `isWanted`; -1 if there is none. */
  numberOf(id: string, isWanted: (file: StoredFile) => boolean): number {
    return this.#ids.find(id, (number) => this.#isIn(number, isWanted));
  }

  /** Whether a file accepted by `isWanted` has a message with this key. */
  hasKey(key: string, isWanted: (file: StoredFile) => boolean): boolean {
    const isKey = (number: number): boolean => this.#numbers[OF_ENTRY * number + HAS_KEY] === 1;
    return this.#keys.find(key, (number) => isKey(number) && this.#isIn(number, isWanted)) !== -1;
  }

  entry(number: number): Entry {
    const { blank, ...row } = this.row(number);
    return { ...row, text: blank ?? this.#search.get(row.id)?.text ?? '' };
  }

  row(number: number): Row {
    const [line = 0, end = 0, kind = 0, category = 0, thread = 0, speaker = -1, blank = -1, hasKey = 0] = this.#numbers.subarray(
      OF_ENTRY * number,
      OF_ENTRY * (number + 1),
    );
    const at = this.#at[number] ?? NaN;
    return {
      id: this.#ids.at(number),
      kind: KINDS[kind] ?? 'memory',
      thread: this.#names.at(thread),
      blank: blank === -1 ? null : this.#blanks.at(blank),
      category: CATEGORIES[category] ?? null,
      path: this.files[this.#fileOf[number] ?? 0]?.file.path ?? '',
      line,
      end,
      at: Number.isNaN(at) ? null : at,
      speaker: speaker === -1 ? null : this.#names.at(speaker),
      key: hasKey === 1 ? this.#keys.at(number) : null,
    };
  }

  #isIn(number: number, isWanted: (file: StoredFile) => boolean): boolean {
    const file = this.files[this.#fileOf[number] ?? 0];
    return file !== undefined && isWanted(file);
  }
}

/** A file that has not changed since the snapshot. */
export class StoredFile implements KnownFile {
  readonly file: ReadFile;
  readonly count: number;
  readonly #all: StoredFiles;
  readonly #from: number;

  constructor(file: ReadFile, all: StoredFiles, from: number, count: number) {
    [this.file, this.#all, this.#from, this.count] = [file, all, from, count];
  }

  /** Created on each access. */
  get entries(): readonly Entry[] {
    return Array.from({ length: this.count }, (_, place) => this.#all.entry(this.#from + place));
  }

  at(place: number): Entry | undefined {
    return place < 0 || place >= this.count ? undefined : this.#all.entry(this.#from + place);
  }

  placeOf({ id }: Entry): number {
    const number = this.#all.numberOf(id, (file) => file === this);
    return number === -1 ? -1 : number - this.#from;
  }

  *rows(): Generator<Row> {
    for (let place = 0; place < this.count; place++) yield this.#all.row(this.#from + place);
  }
}

/** Writes files and their passages in slices. */
export async function writeFiles(files: readonly KnownFile[], into: Columns, breath: Breath): Promise<void> {
  const [paths, hashes] = [new StringWriter(), new StringWriter()];
  const [ids, names, keys, blanks] = [new StringWriter(), new StringWriter(), new StringWriter(), new StringWriter()];
  const nameNumbers = new Map<string, number>();
  const nameOf = (name: string): number => {
    let number = nameNumbers.get(name);
    if (number === undefined) nameNumbers.set(name, (number = names.add(name)));
    return number;
  };
  const total = files.reduce((sum, { count }) => sum + count, 0);
  const numbers = new Int32Array(OF_ENTRY * total);
  const at = new Float64Array(total);
  const ofFiles = new Float64Array(OF_FILE * files.length);
  let next = 0;
  for (const [place, known] of files.entries()) {
    const { file } = known;
    paths.add(file.path);
    hashes.add(file.hash ?? '');
    ofFiles.set([file.size, file.modifiedAt, file.lines, Number(file.isCut), file.broken], OF_FILE * place);
    for (const row of known.rows()) {
      const category = row.category === null ? -1 : CATEGORIES.indexOf(row.category);
      const speaker = row.speaker === null ? -1 : nameOf(row.speaker);
      const blank = row.blank === null ? -1 : blanks.add(row.blank);
      numbers.set(
        [row.line, row.end, KINDS.indexOf(row.kind), category, nameOf(row.thread), speaker, blank, Number(row.key !== null)],
        OF_ENTRY * next,
      );
      at[next++] = row.at ?? NaN;
      ids.add(row.id);
      keys.add(row.key ?? '');
      await breath.after(EACH);
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
