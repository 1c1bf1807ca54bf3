import { ByteWriter } from './byte-buffer.ts';
import { forEachTerm, type DictionaryTerm } from './dictionary-page.ts';
import { DOCS_PER_PAGE, TYPICAL_LENGTHS, POSTINGS_PAGE_BYTES } from './segment-layout.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { SEGMENT_PART, type SegmentPart, type SearchPages } from './search-pages.ts';
import { decodePostings, PostingsWriter } from './postings.ts';
import type { Segment } from './segment.ts';
import type { SegmentWriter } from './segment-writer.ts';
import type { SessionNumbers } from './search-source.ts';

interface SegmentMergeResult {
  /** For each merged segment, the new number of each of its documents; -1 if it was dead. */
  numbers: Int32Array[];
  /** Number of terms in all documents. */
  length: number;
}

/** Segments to merge: many of similar size, or one with mostly dead documents; undefined if there are none. */
export function selectMergeable(
  segments: readonly Segment[],
  { memtable, mergeFactor }: { memtable: number; mergeFactor: number },
): Segment[] | undefined {
  const levels = new Map<number, Segment[]>();
  for (const segment of segments) {
    if (segment.deadCount * 2 > segment.size) return [segment];
    const level = Math.max(0, Math.round(Math.log(segment.size / memtable) / Math.log(mergeFactor)));
    const group = [...(levels.get(level) ?? []), segment];
    if (group.length >= mergeFactor) return group;
    levels.set(level, group);
  }
  return undefined;
}

/**
 * Writes the living documents of `segments` as one segment, in small steps between which other tasks can run. Documents that die in the
 * meantime are still included.
 */
export async function mergeSegments(
  segments: readonly Segment[],
  writer: SegmentWriter,
  { pages, sessions }: { pages: SearchPages; sessions: SessionNumbers },
): Promise<SegmentMergeResult> {
  const numbers: Int32Array[] = [];
  const slicer = new TimeSlicer();
  let next = 0;
  let length = 0;
  for (const segment of segments) {
    const newNumbers = new Int32Array(segment.size).fill(-1);
    numbers.push(newNumbers);
    const { session, time, code } = segment.columns;
    for (let page = 0; page * DOCS_PER_PAGE < segment.size; page++) {
      const ids = await segment.getIds(page);
      ids.forEach((id, index) => {
        const doc = page * DOCS_PER_PAGE + index;
        if (segment.isDead(doc)) return;
        newNumbers[doc] = next++;
        length += TYPICAL_LENGTHS[(code[doc] ?? 0) & 63] ?? 0;
        writer.addDoc({ id, session: sessions.keys[session[doc] ?? 0] ?? '', time: time[doc] ?? 0, code: code[doc] ?? 0 });
      });
      if (writer.isFull) await writer.flush();
      if (slicer.isDue) await slicer.pause();
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
  const slicer = new TimeSlicer();
  for (;;) {
    let term: string | undefined;
    for (const { entry } of cursors) if (entry && (term === undefined || entry.term < term)) term = entry.term;
    if (term === undefined) return;
    postings.clear();
    follows.clear();
    for (const [index, cursor] of cursors.entries()) {
      if (cursor.entry?.term !== term) continue;
      const newNumbers = numbers[index];
      const { docs, times, count } = decodePostings(cursor.postings());
      const after = cursor.follows();
      for (let i = 0; i < count; i++) {
        const number = newNumbers?.[docs[i] ?? 0] ?? -1;
        if (number < 0) continue;
        postings.add(number, times[i] ?? 1);
        follows.writeByte(after[i] ?? 0);
      }
      if (!cursor.next()) await cursor.load();
    }
    if (postings.count > 0) writer.addTerm(term, postings, follows.view());
    if (writer.isFull) await writer.flush();
    if (slicer.isDue) await slicer.pause();
  }
}

/** Iterates over the terms of a segment, one dictionary page at a time. */
class TermCursor {
  readonly #segment: Segment;
  readonly #pages: SearchPages;
  #page = -1;
  #entries: DictionaryTerm[] = [];
  #index = 0;
  #postings = new SegmentStream(SEGMENT_PART.postings);
  #follows = new SegmentStream(SEGMENT_PART.follows);

  constructor(segment: Segment, pages: SearchPages) {
    this.#segment = segment;
    this.#pages = pages;
  }

  /** Undefined at the end. */
  get entry(): DictionaryTerm | undefined {
    return this.#entries[this.#index];
  }

  postings(): Uint8Array {
    const { start = 0, length = 0 } = this.entry ?? {};
    return this.#postings.slice(start, length);
  }

  /** A byte for each posting. */
  follows(): Uint8Array {
    const { before = 0, count = 0 } = this.entry ?? {};
    return this.#follows.slice(before, count);
  }

  /** False if `load` must be called to get the next page. */
  next(): boolean {
    return ++this.#index < this.#entries.length;
  }

  async load(): Promise<void> {
    this.#entries = [];
    this.#index = 0;
    if (++this.#page >= this.#segment.terms.length) return;
    const [page] = await this.#pages.readRange(this.#segment.id, SEGMENT_PART.terms, this.#page, this.#page);
    if (page instanceof Uint8Array) forEachTerm(page, (entry) => void this.#entries.push(entry));
    const [first, last] = [this.#entries[0], this.#entries.at(-1)];
    if (!first || !last) return;
    await this.#postings.load(this.#segment.id, this.#pages, first.start, last.start + last.length);
    await this.#follows.load(this.#segment.id, this.#pages, first.before, last.before + last.count);
  }
}

/** A window of the data that a segment's dictionary refers to. */
class SegmentStream {
  readonly #part: SegmentPart;
  #bytes = new Uint8Array(0);
  #offset = 0;

  constructor(part: SegmentPart) {
    this.#part = part;
  }

  slice(start: number, length: number): Uint8Array {
    return this.#bytes.subarray(start - this.#offset, start - this.#offset + length);
  }

  async load(segment: number, pages: SearchPages, start: number, end: number): Promise<void> {
    const [from, to] = [Math.floor(start / POSTINGS_PAGE_BYTES), Math.floor((end - 1) / POSTINGS_PAGE_BYTES)];
    const read = await pages.readRange(segment, this.#part, from, to);
    const bytes = new Uint8Array(read.reduce((sum, { length }) => sum + length, 0));
    read.forEach((data, index) => data instanceof Uint8Array && bytes.set(data, index * POSTINGS_PAGE_BYTES));
    [this.#bytes, this.#offset] = [bytes, from * POSTINGS_PAGE_BYTES];
  }
}
