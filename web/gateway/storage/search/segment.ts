import type { QueryWord } from '../../knowledge/search/search-query.ts';
import type { SegmentRow } from '../vault-schema.ts';
import { forEachTerm, type DictionaryTerm } from './dictionary-page.ts';
import { filterFollowed } from './bigrams.ts';
import {
  DOCS_PER_PAGE,
  type DocColumns,
  hasBit,
  createColumns,
  POSTINGS_PAGE_BYTES,
  setBit,
  unpackDocs,
  unpackId,
} from './segment-layout.ts';
import { IndexCorruptError, SEGMENT_PART, type SearchPages } from './search-pages.ts';
import { selectMostCommon, type MatchedTerm, type SessionNumbers, type SearchSource } from './search-source.ts';

/** Number of document pages read at a time. */
const PAGES_AT_ONCE = 32;
/** Maximum number of dictionary pages searched for one word. */
const MAX_PAGES = 64;
/** Maximum distance of postings that are read together. */
const MAX_GAP = 4;

/** A segment of the index on disk; immutable, except that its documents can be marked as dead. */
export class Segment implements SearchSource {
  readonly id: number;
  readonly size: number;
  readonly length: number;
  readonly terms: readonly string[];
  readonly columns: DocColumns;
  readonly #pages: SearchPages;
  readonly #dead: Uint8Array;
  deadCount = 0;
  /** Pages with documents that have died since the last store. */
  #unsaved = new Set<number>();

  private constructor(row: SegmentRow, pages: SearchPages, columns: DocColumns) {
    this.id = row.id;
    this.size = row.docs;
    this.length = row.length;
    this.terms = row.terms;
    this.#pages = pages;
    this.columns = columns;
    this.#dead = new Uint8Array(Math.ceil(row.docs / 8));
  }

  /** Reads the fields of each document that a search needs. */
  static async load(row: SegmentRow, pages: SearchPages, sessions: SessionNumbers): Promise<Segment> {
    const names = (await pages.readAll(row.id, SEGMENT_PART.sessions)).flatMap(({ data }) => (data instanceof Uint8Array ? [] : data));
    const numbers = Uint32Array.from(names, (key) => sessions.getNumber(key));
    const columns = createColumns(row.docs);
    const last = Math.ceil(row.docs / DOCS_PER_PAGE) - 1;
    for (let from = 0; from <= last; from += PAGES_AT_ONCE) {
      const read = await pages.readRange(row.id, SEGMENT_PART.docs, from, Math.min(last, from + PAGES_AT_ONCE - 1));
      read.forEach((data, index) => data instanceof Uint8Array && unpackDocs(columns, (from + index) * DOCS_PER_PAGE, data));
    }
    columns.session.forEach((local, doc) => (columns.session[doc] = numbers[local] ?? 0));
    const segment = new Segment(row, pages, columns);
    for (const { page, data } of await pages.readAll(row.id, SEGMENT_PART.dead)) {
      if (!(data instanceof Uint8Array)) continue;
      segment.#dead.set(data, (page * DOCS_PER_PAGE) / 8);
      for (let bit = 0; bit < DOCS_PER_PAGE; bit++) if (hasBit(data, bit)) segment.deadCount++;
    }
    return segment;
  }

  isDead(doc: number): boolean {
    return hasBit(this.#dead, doc);
  }

  /** Marks a document as dead, in memory until `getUnsavedPages` is stored. */
  markDead(doc: number): void {
    if (this.isDead(doc)) return;
    setBit(this.#dead, doc);
    this.deadCount++;
    this.#unsaved.add(Math.floor(doc / DOCS_PER_PAGE));
  }

  /** Pages of dead documents that are not stored yet. */
  getUnsavedPages(): { segment: number; part: number; page: number; data: Uint8Array<ArrayBuffer> }[] {
    return [...this.#unsaved].map((page) => {
      const from = (page * DOCS_PER_PAGE) / 8;
      return { segment: this.id, part: SEGMENT_PART.dead, page, data: new Uint8Array(this.#dead.slice(from, from + DOCS_PER_PAGE / 8)) };
    });
  }

  markSaved(): void {
    this.#unsaved = new Set();
  }

  async getId(doc: number): Promise<string> {
    const page = Math.floor(doc / DOCS_PER_PAGE);
    const [found] = await this.#pages.readCached(this.id, SEGMENT_PART.ids, page);
    return found ? unpackId(found, doc % DOCS_PER_PAGE) : '';
  }

  /** The ids of one page of documents. */
  async getIds(page: number): Promise<string[]> {
    const [found] = await this.#pages.readRange(this.id, SEGMENT_PART.ids, page, page);
    const count = Math.min(DOCS_PER_PAGE, this.size - page * DOCS_PER_PAGE);
    return Array.from({ length: count }, (_, index) => (found ? unpackId(found, index) : ''));
  }

  async lookup(words: readonly QueryWord[]): Promise<MatchedTerm[][]> {
    return Promise.all(
      words.map(async (word) => {
        const entries = selectMostCommon(await this.#findTerms(word));
        const { next = [] } = word;
        if (next.length === 0) return this.#readPostings(entries);
        const [terms, follows] = await Promise.all([
          this.#readPostings(entries),
          Promise.all(entries.map((entry) => this.#readFollows(entry))),
        ]);
        return terms.map((term, index) => filterFollowed(term, follows[index] ?? new Uint8Array(0), next));
      }),
    );
  }

  async #findTerms({ root, fits }: QueryWord): Promise<DictionaryTerm[]> {
    const first = Math.max(0, findPage(this.terms, root));
    let last = first;
    while (last + 1 < this.terms.length && last - first < MAX_PAGES && (this.terms[last + 1] ?? '').startsWith(root)) last++;
    const pages = await Promise.all(
      Array.from({ length: last - first + 1 }, (_, i) => this.#pages.readBytes(this.id, SEGMENT_PART.terms, first + i)),
    );
    const found: DictionaryTerm[] = [];
    for (const page of pages) {
      forEachTerm(page, (entry) => {
        if (entry.term.startsWith(root)) {
          if (fits(entry.term)) found.push(entry);
        } else if (entry.term > root) return false;
        return true;
      });
    }
    return found;
  }

  /** Neighbours in the dictionary are neighbours here: close ones are read together. */
  async #readPostings(entries: readonly DictionaryTerm[]): Promise<MatchedTerm[]> {
    const runs: { from: number; to: number; entries: DictionaryTerm[] }[] = [];
    for (const entry of entries) {
      const from = Math.floor(entry.start / POSTINGS_PAGE_BYTES);
      const to = Math.floor((entry.start + entry.length - 1) / POSTINGS_PAGE_BYTES);
      const run = runs.at(-1);
      if (run && from - run.to <= MAX_GAP) {
        run.to = to;
        run.entries.push(entry);
      } else runs.push({ from, to, entries: [entry] });
    }
    const found = await Promise.all(
      runs.map(async ({ from, to, entries: near }) => {
        const bytes = await this.#pages.readBytes(this.id, SEGMENT_PART.postings, from, to);
        return near.map(({ count, start, length }) => {
          const offset = start - from * POSTINGS_PAGE_BYTES;
          if (offset + length > bytes.length) throw new IndexCorruptError('Postings are truncated');
          return { count, postings: bytes.subarray(offset, offset + length) };
        });
      }),
    );
    return found.flat();
  }

  async #readFollows({ before, count }: DictionaryTerm): Promise<Uint8Array> {
    const from = Math.floor(before / POSTINGS_PAGE_BYTES);
    const bytes = await this.#pages.readBytes(this.id, SEGMENT_PART.follows, from, Math.floor((before + count - 1) / POSTINGS_PAGE_BYTES));
    return bytes.subarray(before - from * POSTINGS_PAGE_BYTES, before - from * POSTINGS_PAGE_BYTES + count);
  }
}

/** The last page whose first term is not after `term`; -1 if all are. */
function findPage(firstTerms: readonly string[], term: string): number {
  let [low, high] = [0, firstTerms.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((firstTerms[middle] ?? '') <= term) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
