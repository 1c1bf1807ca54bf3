import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Columns } from '../../search/columns/columns.ts';
import { createBytes, createIntegers, growColumn } from '../../search/columns/grow-column.ts';
import { type StringColumn, StringWriter } from '../../search/columns/string-column.ts';
import { ENGLISH, type Language, LANGUAGES } from '../../search/text/languages.ts';

/** Fixed cost of writing a thread, in characters. */
const THREAD_COST = 50;

/** Conversations and notes by number: their names, languages and last passages. A thread without passages counts as missing. */
export class Threads {
  readonly #restored: StringColumn | undefined;
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  #counts = createIntegers(0);
  #lastPassages = createIntegers(0);
  /** Indices into `LANGUAGES`. */
  #languages = createBytes(0);

  constructor(columns?: Columns) {
    if (!columns) return;
    this.#restored = columns.strings('thread');
    this.#counts = columns.i32('thread/count').slice();
    this.#lastPassages = columns.i32('thread/last').slice();
    this.#languages = columns.u8('thread/language').slice();
  }

  /** Upper bound (exclusive) of thread numbers. */
  get end(): number {
    return this.#restoredCount + this.#names.length;
  }

  getName(thread: number): string {
    return thread < this.#restoredCount ? (this.#restored?.at(thread) ?? '') : (this.#names[thread - this.#restoredCount] ?? '');
  }

  getLanguage(thread: number): Language {
    return LANGUAGES[this.#languages[thread] ?? 0] ?? ENGLISH;
  }

  /** The last passage; -1 if there is none. */
  getLastPassage(thread: number): number {
    return this.#counts[thread] ? (this.#lastPassages[thread] ?? -1) : -1;
  }

  /** Returns the number of a thread by name. `language` is set if the thread has no passages yet. */
  numberFor(name: string, language: Language): number {
    let thread = this.#numbers.get(name) ?? this.#restored?.find(name) ?? -1;
    if (thread === -1) {
      thread = this.end;
      this.#names.push(name);
      this.#numbers.set(name, thread);
      this.#counts = growColumn(this.#counts, createIntegers, thread);
      this.#lastPassages = growColumn(this.#lastPassages, createIntegers, thread);
      this.#languages = growColumn(this.#languages, createBytes, thread);
    }
    if (!this.#counts[thread]) this.setLanguage(thread, language);
    return thread;
  }

  setLanguage(thread: number, language: Language): void {
    this.#languages[thread] = LANGUAGES.indexOf(language);
  }

  added(thread: number, passage: number): void {
    this.#counts[thread] = (this.#counts[thread] ?? 0) + 1;
    this.#lastPassages[thread] = passage;
  }

  /** `last`: the thread's last passage after the removal. */
  removed(thread: number, last: number): void {
    this.#counts[thread] = (this.#counts[thread] ?? 0) - 1;
    this.#lastPassages[thread] = last;
  }

  /** Captures the threads that have passages, for writing in slices. `passages`: number in the snapshot by passage number. */
  capture(passages: Int32Array): ThreadSnapshot {
    const numbers = createIntegers(this.end).fill(-1);
    const [lasts, languages] = [this.#lastPassages.slice(), this.#languages.slice()];
    const counts = this.#counts.slice();
    let count = 0;
    for (let thread = 0; thread < numbers.length; thread++) if (counts[thread]) numbers[thread] = count++;
    return {
      numbers,
      write: async (into, slicer) => {
        const names = new StringWriter();
        const written = { count: createIntegers(count), last: createIntegers(count) };
        const ofLanguages = createBytes(count);
        for (const [thread, number] of numbers.entries()) {
          if (number === -1) continue;
          if (this.#restored && thread < this.#restoredCount) names.copy(this.#restored, thread);
          else names.add(this.getName(thread));
          written.count[number] = counts[thread] ?? 0;
          written.last[number] = passages[lasts[thread] ?? -1] ?? -1;
          ofLanguages[number] = languages[thread] ?? 0;
          await slicer.after(THREAD_COST);
        }
        into.setStrings('thread', names.finish());
        into.set('thread/count', written.count);
        into.set('thread/last', written.last);
        into.set('thread/language', ofLanguages);
      },
    };
  }

  get #restoredCount(): number {
    return this.#restored?.length ?? 0;
  }
}

interface ThreadSnapshot {
  /** Number in the snapshot by thread number; -1 if it is not included. */
  numbers: Int32Array;
  write(into: Columns, slicer: TimeSlicer): Promise<void>;
}
