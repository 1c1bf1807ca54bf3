import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Columns } from './columns/columns.ts';
import { type StringColumn, StringWriter } from './columns/string-column.ts';
import type { Postings } from './term-index.ts';

/** Number of common leading characters from which terms may belong to one word family: `photograph`, `photographi`. */
const PREFIX_CHARS = 5;

/** Columns restored from a snapshot; they are never modified. */
interface RestoredTerms {
  /** Sorted. */
  terms: StringColumn;
  /** End of each term's postings. */
  ends: Uint32Array<ArrayBuffer>;
  docs: Uint32Array<ArrayBuffer>;
  times: Uint8Array<ArrayBuffer>;
}

/** Postings by term, in typed arrays: a plain object per posting would take ten times the memory. */
export class TermLists {
  readonly #restored: RestoredTerms | undefined;
  readonly #lists = new Map<string, TermList>();
  /** Longer terms by their beginning. */
  readonly #termsByPrefix = new Map<string, string[]>();

  constructor(columns?: Columns) {
    if (!columns) return;
    this.#restored = {
      terms: columns.strings('term'),
      ends: columns.u32('postingEnds'),
      docs: columns.u32('postings'),
      times: columns.u8('postingTimes'),
    };
  }

  /** See `TermIndex.findWordFamily`; sorted. */
  findFamily(term: string): string[] {
    const prefix = term.slice(0, PREFIX_CHARS);
    const all = new Set(this.#termsByPrefix.get(prefix));
    const terms = this.#restored?.terms;
    if (terms && prefix.length === PREFIX_CHARS) {
      for (let number = lowerBound(terms, prefix); number < terms.length; number++) {
        const each = terms.at(number);
        if (!each.startsWith(prefix)) break;
        all.add(each);
      }
    }
    return [...all]
      .filter((each) => each !== term && (each.startsWith(term) || term.startsWith(each) || each.slice(0, -2) === term.slice(0, -2)))
      .sort();
  }

  /** Postings of a term, those of the snapshot first; empty if no document has it. */
  get(term: string): Postings[] {
    const restored = this.#restored;
    const number = restored?.terms.find(term) ?? -1;
    const since = this.#lists.get(term);
    return [...(restored && number !== -1 ? [getPostings(restored, number)] : []), ...(since ? [since] : [])];
  }

  /** Builds in slices what the first lookup needs. */
  async prepare(slicer: TimeSlicer): Promise<void> {
    await this.#restored?.terms.prepare(slicer);
  }

  /** `doc` must not be lower than in earlier calls. */
  add(term: string, doc: number, times: number): void {
    let list = this.#lists.get(term);
    if (!list) {
      this.#lists.set(term, (list = new TermList()));
      if (term.length >= PREFIX_CHARS) {
        const prefix = term.slice(0, PREFIX_CHARS);
        const alike = this.#termsByPrefix.get(prefix);
        if (alike) alike.push(term);
        else this.#termsByPrefix.set(prefix, [term]);
      }
    }
    list.add(doc, times);
  }

  /** Writes the postings with new document numbers. Documents mapped to -1, and those added meanwhile, are omitted. */
  async write(into: Columns, numbers: Int32Array, slicer: TimeSlicer): Promise<void> {
    const restored = this.#restored;
    const own = [...this.#lists.keys()].sort();
    const terms = new StringWriter();
    const ends: number[] = [];
    const room = (restored?.docs.length ?? 0) + [...this.#lists.values()].reduce((sum, { count }) => sum + count, 0);
    const [docs, times] = [new Uint32Array(room), new Uint8Array(room)];
    let end = 0;
    const copy = (list: Postings): void => {
      for (let i = 0; i < list.count; i++) {
        const number = numbers[list.docs[i] ?? 0] ?? -1;
        if (number === -1) continue;
        docs[end] = number;
        times[end++] = list.times[i] ?? 0;
      }
    };
    let [next, before] = [0, 0];
    const restoredCount = restored?.terms.length ?? 0;
    while (next < own.length || before < restoredCount) {
      const mine = own[next];
      const theirs = restored && before < restoredCount ? restored.terms.at(before) : undefined;
      const term = mine === undefined || (theirs !== undefined && theirs < mine) ? (theirs ?? '') : mine;
      const from = end;
      if (restored && theirs === term) copy(getPostings(restored, before++));
      if (mine === term) {
        const list = this.#lists.get(term);
        if (list) copy(list);
        next++;
      }
      await slicer.after(TERM_COST + end - from);
      if (end === from) continue;
      terms.add(term);
      ends.push(end);
    }
    into.setStrings('term', terms.finish());
    into.set('postingEnds', Uint32Array.from(ends));
    into.set('postings', docs.subarray(0, end));
    into.set('postingTimes', times.subarray(0, end));
  }
}

/** Fixed cost of writing a term, in characters. */
const TERM_COST = 10;

function getPostings({ ends, docs, times }: RestoredTerms, number: number): Postings {
  const [from, end] = [number === 0 ? 0 : (ends[number - 1] ?? 0), ends[number] ?? 0];
  return { docs: docs.subarray(from, end), times: times.subarray(from, end), count: end - from };
}

/** Index of the first string that is not less than a text. */
function lowerBound(sorted: StringColumn, text: string): number {
  let [from, end] = [0, sorted.length];
  while (from < end) {
    const middle = (from + end) >>> 1;
    if (sorted.isBefore(middle, text)) from = middle + 1;
    else end = middle;
  }
  return from;
}

class TermList implements Postings {
  docs = new Uint32Array(2);
  times = new Uint8Array(2);
  count = 0;

  /** `doc` must be higher than in earlier calls. */
  add(doc: number, times: number): void {
    if (this.count === this.docs.length) {
      const [docs, counts] = [new Uint32Array(2 * this.count + 2), new Uint8Array(2 * this.count + 2)];
      docs.set(this.docs);
      counts.set(this.times);
      [this.docs, this.times] = [docs, counts];
    }
    this.docs[this.count] = doc;
    this.times[this.count++] = Math.min(255, times);
  }
}
