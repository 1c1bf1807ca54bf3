import type { QueryWord } from '../../core/retrieval/search-query.ts';
import type { SegmentRow } from '../schema.ts';
import { eachEntry, type TermEntry } from './dictionary.ts';
import { followed } from './follows.ts';
import { DOCS_PAGE, type DocColumns, hasBit, newColumns, POSTINGS_PAGE, setBit, unpackDocs, unpackId } from './layout.ts';
import { IndexBroken, PART, type SearchPages } from './pages.ts';
import { commonest, type FoundTerm, type SessionNames, type Source } from './source.ts';

/** Number of document pages read at a time. */
const PAGES_AT_ONCE = 32;
/** Maximum number of dictionary pages searched for one word. */
const MOST_PAGES = 64;
/** Maximum distance of postings that are read together. */
const GAP = 4;

/** A segment of the index on disk; immutable, except that its documents can be marked as dead. */
export class Segment implements Source {
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
  static async load(row: SegmentRow, pages: SearchPages, sessions: SessionNames): Promise<Segment> {
    const names = (await pages.all(row.id, PART.sessions)).flatMap(({ data }) => (data instanceof Uint8Array ? [] : data));
    const numbers = Uint32Array.from(names, (key) => sessions.number(key));
    const columns = newColumns(row.docs);
    const last = Math.ceil(row.docs / DOCS_PAGE) - 1;
    for (let from = 0; from <= last; from += PAGES_AT_ONCE) {
      const read = await pages.range(row.id, PART.docs, from, Math.min(last, from + PAGES_AT_ONCE - 1));
      read.forEach((data, at) => data instanceof Uint8Array && unpackDocs(columns, (from + at) * DOCS_PAGE, data));
    }
    columns.session.forEach((local, doc) => (columns.session[doc] = numbers[local] ?? 0));
    const segment = new Segment(row, pages, columns);
    for (const { page, data } of await pages.all(row.id, PART.dead)) {
      if (!(data instanceof Uint8Array)) continue;
      segment.#dead.set(data, (page * DOCS_PAGE) / 8);
      for (let bit = 0; bit < DOCS_PAGE; bit++) if (hasBit(data, bit)) segment.deadCount++;
    }
    return segment;
  }

  isDead(doc: number): boolean {
    return hasBit(this.#dead, doc);
  }

  /** Marks a document as dead, in memory until `unsaved` is stored. */
  kill(doc: number): void {
    if (this.isDead(doc)) return;
    setBit(this.#dead, doc);
    this.deadCount++;
    this.#unsaved.add(Math.floor(doc / DOCS_PAGE));
  }

  /** Pages of dead documents that are not stored yet. */
  unsaved(): { segment: number; part: number; page: number; data: Uint8Array<ArrayBuffer> }[] {
    return [...this.#unsaved].map((page) => {
      const from = (page * DOCS_PAGE) / 8;
      return { segment: this.id, part: PART.dead, page, data: new Uint8Array(this.#dead.slice(from, from + DOCS_PAGE / 8)) };
    });
  }

  saved(): void {
    this.#unsaved = new Set();
  }

  async idOf(doc: number): Promise<string> {
    const page = Math.floor(doc / DOCS_PAGE);
    const [found] = await this.#pages.kept(this.id, PART.ids, page);
    return found ? unpackId(found, doc % DOCS_PAGE) : '';
  }

  /** The ids of one page of documents. */
  async idsOf(page: number): Promise<string[]> {
    const [found] = await this.#pages.range(this.id, PART.ids, page, page);
    const count = Math.min(DOCS_PAGE, this.size - page * DOCS_PAGE);
    return Array.from({ length: count }, (_, at) => (found ? unpackId(found, at) : ''));
  }

  async lookup(words: readonly QueryWord[]): Promise<FoundTerm[][]> {
    return Promise.all(
      words.map(async (word) => {
        const entries = commonest(await this.#fitting(word));
        const { next = [] } = word;
        if (next.length === 0) return this.#postingsOf(entries);
        const [terms, follows] = await Promise.all([
          this.#postingsOf(entries),
          Promise.all(entries.map((entry) => this.#followsOf(entry))),
        ]);
        return terms.map((term, at) => followed(term, follows[at] ?? new Uint8Array(0), next));
      }),
    );
  }

  async #fitting({ root, fits }: QueryWord): Promise<TermEntry[]> {
    const first = Math.max(0, pageOf(this.terms, root));
    let last = first;
    while (last + 1 < this.terms.length && last - first < MOST_PAGES && (this.terms[last + 1] ?? '').startsWith(root)) last++;
    const pages = await Promise.all(Array.from({ length: last - first + 1 }, (_, i) => this.#pages.bytes(this.id, PART.terms, first + i)));
    const found: TermEntry[] = [];
    for (const page of pages) {
      eachEntry(page, (entry) => {
        if (entry.term.startsWith(root)) {
          if (fits(entry.term)) found.push(entry);
        } else if (entry.term > root) return false;
        return true;
      });
    }
    return found;
  }

  /** Neighbours in the dictionary are neighbours here: close ones are read together. */
  async #postingsOf(entries: readonly TermEntry[]): Promise<FoundTerm[]> {
    const runs: { from: number; to: number; entries: TermEntry[] }[] = [];
    for (const entry of entries) {
      const from = Math.floor(entry.start / POSTINGS_PAGE);
      const to = Math.floor((entry.start + entry.length - 1) / POSTINGS_PAGE);
      const run = runs.at(-1);
      if (run && from - run.to <= GAP) {
        run.to = to;
        run.entries.push(entry);
      } else runs.push({ from, to, entries: [entry] });
    }
    const found = await Promise.all(
      runs.map(async ({ from, to, entries: near }) => {
        const bytes = await this.#pages.bytes(this.id, PART.postings, from, to);
        return near.map(({ count, start, length }) => {
          const at = start - from * POSTINGS_PAGE;
          if (at + length > bytes.length) throw new IndexBroken('Postings are truncated');
          return { count, postings: bytes.subarray(at, at + length) };
        });
      }),
    );
    return found.flat();
  }

  async #followsOf({ before, count }: TermEntry): Promise<Uint8Array> {
    const from = Math.floor(before / POSTINGS_PAGE);
    const bytes = await this.#pages.bytes(this.id, PART.follows, from, Math.floor((before + count - 1) / POSTINGS_PAGE));
    return bytes.subarray(before - from * POSTINGS_PAGE, before - from * POSTINGS_PAGE + count);
  }
}

/** The last page whose first term is not after `term`; -1 if all are. */
function pageOf(firsts: readonly string[], term: string): number {
  let [low, high] = [0, firsts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((firsts[middle] ?? '') <= term) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
