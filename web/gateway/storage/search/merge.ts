import { ByteWriter } from './bytes.ts';
import { eachEntry, type TermEntry } from './dictionary.ts';
import { DOCS_PAGE, LENGTHS, POSTINGS_PAGE } from './layout.ts';
import { Pace } from './pace.ts';
import { PART, type Part, type SearchPages } from './pages.ts';
import { openPostings, PostingsWriter } from './postings.ts';
import type { Segment } from './segment.ts';
import type { SegmentWriter } from './segment-writer.ts';
import type { SessionNames } from './source.ts';

export interface Merged {
  /** For each merged segment, the new number of each of its documents; -1 if it was dead. */
  numbers: Int32Array[];
  /** Number of terms in all documents. */
  length: number;
}

/** Segments to merge: many of similar size, or one with mostly dead documents; undefined if there are none. */
export function ripe(segments: readonly Segment[], { memtable, fan }: { memtable: number; fan: number }): Segment[] | undefined {
  const levels = new Map<number, Segment[]>();
  for (const segment of segments) {
    if (segment.deadCount * 2 > segment.size) return [segment];
    const level = Math.max(0, Math.round(Math.log(segment.size / memtable) / Math.log(fan)));
    const group = [...(levels.get(level) ?? []), segment];
    if (group.length >= fan) return group;
    levels.set(level, group);
  }
  return undefined;
}

/**
 * Writes the living documents of `segments` as one segment, in small steps between which other tasks can run. Documents that die in the
 * meantime are still included.
 */
export async function merge(
  segments: readonly Segment[],
  writer: SegmentWriter,
  { pages, sessions }: { pages: SearchPages; sessions: SessionNames },
): Promise<Merged> {
  const numbers: Int32Array[] = [];
  const pace = new Pace();
  let next = 0;
  let length = 0;
  for (const segment of segments) {
    const own = new Int32Array(segment.size).fill(-1);
    numbers.push(own);
    const { session, time, code } = segment.columns;
    for (let page = 0; page * DOCS_PAGE < segment.size; page++) {
      const ids = await segment.idsOf(page);
      ids.forEach((id, at) => {
        const doc = page * DOCS_PAGE + at;
        if (segment.isDead(doc)) return;
        own[doc] = next++;
        length += LENGTHS[(code[doc] ?? 0) & 63] ?? 0;
        writer.doc({ id, session: sessions.keys[session[doc] ?? 0] ?? '', time: time[doc] ?? 0, code: code[doc] ?? 0 });
      });
      if (writer.full) await writer.flush();
      if (pace.due) await pace.pause();
    }
  }
  await mergeTerms(segments, numbers, writer, pages);
  return { numbers, length: Math.round(length) };
}

async function mergeTerms(
  segments: readonly Segment[],
  numbers: readonly Int32Array[],
  writer: SegmentWriter,
  pages: SearchPages,
): Promise<void> {
  const cursors = segments.map((segment) => new TermCursor(segment, pages));
  for (const cursor of cursors) await cursor.load();
  const postings = new PostingsWriter();
  const follows = new ByteWriter();
  const pace = new Pace();
  for (;;) {
    let term: string | undefined;
    for (const { entry } of cursors) if (entry && (term === undefined || entry.term < term)) term = entry.term;
    if (term === undefined) return;
    postings.clear();
    follows.clear();
    for (const [at, cursor] of cursors.entries()) {
      if (cursor.entry?.term !== term) continue;
      const own = numbers[at];
      const { docs, times, count } = openPostings(cursor.postings());
      const after = cursor.follows();
      for (let i = 0; i < count; i++) {
        const number = own?.[docs[i] ?? 0] ?? -1;
        if (number < 0) continue;
        postings.add(number, times[i] ?? 1);
        follows.byte(after[i] ?? 0);
      }
      if (!cursor.next()) await cursor.load();
    }
    if (postings.count > 0) writer.term(term, postings, follows.view());
    if (writer.full) await writer.flush();
    if (pace.due) await pace.pause();
  }
}

/** Iterates over the terms of a segment, one dictionary page at a time. */
class TermCursor {
  readonly #segment: Segment;
  readonly #pages: SearchPages;
  #page = -1;
  #entries: TermEntry[] = [];
  #at = 0;
  #postings = new Stream(PART.postings);
  #follows = new Stream(PART.follows);

  constructor(segment: Segment, pages: SearchPages) {
    this.#segment = segment;
    this.#pages = pages;
  }

  /** Undefined at the end. */
  get entry(): TermEntry | undefined {
    return this.#entries[this.#at];
  }

  postings(): Uint8Array {
    const { start = 0, length = 0 } = this.entry ?? {};
    return this.#postings.at(start, length);
  }

  /** A byte for each posting. */
  follows(): Uint8Array {
    const { before = 0, count = 0 } = this.entry ?? {};
    return this.#follows.at(before, count);
  }

  /** False if `load` must be called to get the next page. */
  next(): boolean {
    return ++this.#at < this.#entries.length;
  }

  async load(): Promise<void> {
    this.#entries = [];
    this.#at = 0;
    if (++this.#page >= this.#segment.terms.length) return;
    const [page] = await this.#pages.range(this.#segment.id, PART.terms, this.#page, this.#page);
    if (page instanceof Uint8Array) eachEntry(page, (entry) => void this.#entries.push(entry));
    const [first, last] = [this.#entries[0], this.#entries.at(-1)];
    if (!first || !last) return;
    await this.#postings.load(this.#segment.id, this.#pages, first.start, last.start + last.length);
    await this.#follows.load(this.#segment.id, this.#pages, first.before, last.before + last.count);
  }
}

/** A window of the data that a segment's dictionary refers to. */
class Stream {
  readonly #part: Part;
  #bytes = new Uint8Array(0);
  #from = 0;

  constructor(part: Part) {
    this.#part = part;
  }

  at(start: number, length: number): Uint8Array {
    return this.#bytes.subarray(start - this.#from, start - this.#from + length);
  }

  async load(segment: number, pages: SearchPages, start: number, end: number): Promise<void> {
    const [from, to] = [Math.floor(start / POSTINGS_PAGE), Math.floor((end - 1) / POSTINGS_PAGE)];
    const read = await pages.range(segment, this.#part, from, to);
    const bytes = new Uint8Array(read.reduce((sum, { length }) => sum + length, 0));
    read.forEach((data, at) => data instanceof Uint8Array && bytes.set(data, at * POSTINGS_PAGE));
    [this.#bytes, this.#from] = [bytes, from * POSTINGS_PAGE];
  }
}
