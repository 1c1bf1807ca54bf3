import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Columns } from '../../search/columns/columns.ts';
import { createBytes, createFloats, createIntegers, growColumn } from '../../search/columns/grow-column.ts';
import { type StringColumn, StringWriter } from '../../search/columns/string-column.ts';
import type { TimeRange } from '../../search/text/time-words.ts';
import type { Passage } from './passage.ts';

/** Derived data of a passage, apart from its terms and texts. */
interface PassageFacts {
  thread: number;
  /** Number of meaningful words. */
  length: number;
  /** Time ranges mentioned in the text. */
  times: readonly TimeRange[];
  /** Whether it ends with a question, so that the following passage is the better result. */
  asks: boolean;
  /** Language of the terms, as an index into `LANGUAGES`. */
  language: number;
}

/** Columns restored from a snapshot; they are never modified. */
interface RestoredColumns {
  ids: StringColumn;
  texts: StringColumn;
  /** Distinct names of speakers. */
  speakers: StringColumn;
  /** Index of the speaker by passage; -1 if there is none. */
  speakerIndexes: Int32Array<ArrayBuffer>;
  /** End of each passage's times, and the times as pairs of numbers. */
  timeEnds: Uint32Array<ArrayBuffer>;
  times: Float64Array<ArrayBuffer>;
}

/** Fixed cost of writing a passage's numbers, in characters. */
const PASSAGE_COST = 20;
const NO_TIMES: readonly TimeRange[] = [];

/** Passages by number, stored in columns. Numbers are assigned in order of addition and never reused. */
export class PassageTable {
  readonly #restored: RestoredColumns | undefined;
  /** Number of passages in the snapshot; their numbers are below it. */
  readonly #restoredCount: number;
  /** Passages added after the snapshot. */
  readonly #added: (Passage | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #times = new Map<number, readonly TimeRange[]>();
  #size: number;
  /** Number of meaningful words; negative if the passage was removed. */
  lengths = createIntegers(0);
  threadNumbers = createIntegers(0);
  /** Previous and next passage in the thread; -1 if there is none. */
  previous = createIntegers(0);
  next = createIntegers(0);
  languages = createBytes(0);
  #isQuestion = createBytes(0);
  /** NaN if the passage does not age. */
  #timestamps = createFloats(0);

  constructor(columns?: Columns) {
    this.#restoredCount = this.#size = columns?.i32('length').length ?? 0;
    if (!columns) return;
    this.#restored = {
      ids: columns.strings('id'),
      texts: columns.strings('text'),
      speakers: columns.strings('speaker'),
      speakerIndexes: columns.i32('speakerOf'),
      timeEnds: columns.u32('timeEnds'),
      times: columns.f64('times'),
    };
    this.lengths = columns.i32('length').slice();
    this.threadNumbers = columns.i32('threadOf').slice();
    this.previous = columns.i32('previous').slice();
    this.next = columns.i32('next').slice();
    this.languages = columns.u8('language').slice();
    this.#isQuestion = columns.u8('asks').slice();
    this.#timestamps = columns.f64('at').slice();
  }

  get size(): number {
    return this.#size;
  }

  /** Upper bound (exclusive) of passage numbers. */
  get end(): number {
    return this.#restoredCount + this.#added.length;
  }

  hasPassage(number: number): boolean {
    return (this.lengths[number] ?? -1) >= 0;
  }

  /** Returns -1 if no passage has that id. */
  findNumber(id: string): number {
    return this.#numbers.get(id) ?? this.#restored?.ids.find(id, (number) => this.hasPassage(number)) ?? -1;
  }

  asks(number: number): boolean {
    return this.#isQuestion[number] === 1;
  }

  /** Milliseconds since the Unix epoch; null if the passage does not age. */
  at(number: number): number | null {
    const at = this.#timestamps[number] ?? NaN;
    return Number.isNaN(at) ? null : at;
  }

  getTimes(number: number): readonly TimeRange[] {
    if (!this.#restored || number >= this.#restoredCount) return this.#times.get(number) ?? NO_TIMES;
    const { timeEnds, times } = this.#restored;
    const [from, end] = [number === 0 ? 0 : (timeEnds[number - 1] ?? 0), timeEnds[number] ?? 0];
    return from === end
      ? NO_TIMES
      : Array.from({ length: end - from }, (_, i) => ({ from: times[2 * (from + i)] ?? 0, to: times[2 * (from + i) + 1] ?? 0 }));
  }

  /** `thread`: the name of the passage's thread. */
  passage(number: number, thread: string): Passage | undefined {
    if (!this.hasPassage(number)) return undefined;
    if (!this.#restored || number >= this.#restoredCount) return this.#added[number - this.#restoredCount];
    const { ids, texts, speakers, speakerIndexes } = this.#restored;
    const speaker = speakerIndexes[number] ?? -1;
    const speakerField = speaker === -1 ? {} : { speaker: speakers.at(speaker) };
    return { id: ids.at(number), thread, text: texts.at(number), at: this.at(number), ...speakerField };
  }

  /** Adds a passage and returns its number. `previous`: the preceding passage in its thread, or -1. */
  add(passage: Passage, { thread, length, times, asks, language }: PassageFacts, previous: number): number {
    const number = this.end;
    this.lengths = growColumn(this.lengths, createIntegers, number);
    this.threadNumbers = growColumn(this.threadNumbers, createIntegers, number);
    this.previous = growColumn(this.previous, createIntegers, number);
    this.next = growColumn(this.next, createIntegers, number);
    this.languages = growColumn(this.languages, createBytes, number);
    this.#isQuestion = growColumn(this.#isQuestion, createBytes, number);
    this.#timestamps = growColumn(this.#timestamps, createFloats, number);
    this.lengths[number] = length;
    this.threadNumbers[number] = thread;
    this.previous[number] = previous;
    this.next[number] = -1;
    if (previous !== -1) this.next[previous] = number;
    this.languages[number] = language;
    this.#isQuestion[number] = Number(asks);
    this.#timestamps[number] = passage.at ?? NaN;
    if (times.length > 0) this.#times.set(number, times);
    this.#added.push(passage);
    this.#numbers.set(passage.id, number);
    this.#size++;
    return number;
  }

  remove(number: number, id: string): void {
    const [previous, next] = [this.previous[number] ?? -1, this.next[number] ?? -1];
    if (previous !== -1) this.next[previous] = next;
    if (next !== -1) this.previous[next] = previous;
    this.lengths[number] = -1;
    this.#numbers.delete(id);
    this.#times.delete(number);
    if (number >= this.#restoredCount) this.#added[number - this.#restoredCount] = undefined;
    this.#size--;
  }

  /** Captures the current passages for writing in slices; columns that may change meanwhile are copied. */
  capture(): PassageSnapshot {
    const numbers = createIntegers(this.end).fill(-1);
    const old = createIntegers(this.#size);
    let count = 0;
    for (let number = 0; number < numbers.length; number++) {
      if (!this.hasPassage(number)) continue;
      numbers[number] = count;
      old[count++] = number;
    }
    const [lengths, previous, next] = [this.lengths.slice(), this.previous.slice(), this.next.slice()];
    const [since, times] = [this.#added.slice(), new Map(this.#times)];
    const renumbered = (number = -1): number => numbers[number] ?? -1;
    return {
      numbers,
      write: async (into, threads, slicer) => {
        const facts = {
          length: createIntegers(count),
          previous: createIntegers(count),
          next: createIntegers(count),
          threadOf: createIntegers(count),
        };
        const [languages, asks, at] = [createBytes(count), createBytes(count), createFloats(count)];
        const timeEnds = new Uint32Array(count);
        const ranges: number[] = [];
        for (const [index, number] of old.entries()) {
          facts.length[index] = lengths[number] ?? 0;
          facts.previous[index] = renumbered(previous[number]);
          facts.next[index] = renumbered(next[number]);
          facts.threadOf[index] = threads[this.threadNumbers[number] ?? 0] ?? 0;
          languages[index] = this.languages[number] ?? 0;
          asks[index] = this.#isQuestion[number] ?? 0;
          at[index] = this.#timestamps[number] ?? NaN;
          for (const { from, to } of number < this.#restoredCount ? this.getTimes(number) : (times.get(number) ?? NO_TIMES))
            ranges.push(from, to);
          timeEnds[index] = ranges.length / 2;
          await slicer.after(PASSAGE_COST);
        }
        for (const [name, column] of Object.entries(facts)) into.set(name, column);
        into.set('language', languages);
        into.set('asks', asks);
        into.set('at', at);
        into.set('timeEnds', timeEnds);
        into.set('times', Float64Array.from(ranges));
        await this.#writeStrings(into, old, since, slicer);
      },
    };
  }

  async #writeStrings(into: Columns, numbers: Int32Array, since: readonly (Passage | undefined)[], slicer: TimeSlicer): Promise<void> {
    const [ids, texts, speakers] = [new StringWriter(), new StringWriter(), new StringWriter()];
    const known = new Map<string, number>();
    const speakerNumber = (speaker: string): number => {
      let number = known.get(speaker);
      if (number === undefined) known.set(speaker, (number = speakers.add(speaker)));
      return number;
    };
    const speakerIndexes = new Int32Array(numbers.length).fill(-1);
    const restored = this.#restored;
    for (const [index, number] of numbers.entries()) {
      if (restored && number < this.#restoredCount) {
        ids.copy(restored.ids, number);
        texts.copy(restored.texts, number);
        const speaker = restored.speakerIndexes[number] ?? -1;
        if (speaker !== -1) speakerIndexes[index] = speakerNumber(restored.speakers.at(speaker));
        await slicer.after(restored.texts.raw(number).bytes.length);
      } else {
        const { id = '', text = '', speaker } = since[number - this.#restoredCount] ?? {};
        ids.add(id);
        texts.add(text);
        if (speaker !== undefined) speakerIndexes[index] = speakerNumber(speaker);
        await slicer.after(text.length);
      }
    }
    into.setStrings('id', ids.finish());
    into.setStrings('text', texts.finish());
    into.setStrings('speaker', speakers.finish());
    into.set('speakerOf', speakerIndexes);
  }
}

interface PassageSnapshot {
  /** Number in the snapshot by passage number; -1 if it is not included. */
  numbers: Int32Array;
  /** `threads`: number in the snapshot by thread number. */
  write(into: Columns, threads: Int32Array, slicer: TimeSlicer): Promise<void>;
}
