import type { SearchPage, SegmentRow } from '../schema.ts';
import { putInto } from '../requests.ts';
import type { Transactions } from '../transaction.ts';

/** What the pages of a segment hold; the number is part of their key. */
export const PART = { docs: 0, ids: 1, dead: 2, sessions: 3, terms: 4, postings: 5 } as const;
export type Part = (typeof PART)[keyof typeof PART];

/** Bytes of pages that are kept in memory. */
const CACHE = 16 * 1024 * 1024;

/** What is stored of the index does not fit together: it must be made anew. */
export class IndexBroken extends Error {
  override name = 'IndexBroken';
}

/** Every page of one part of a segment, or of all its parts. */
export const pagesOf = (segment: number, part?: Part): IDBKeyRange =>
  part === undefined ? IDBKeyRange.bound([segment], [segment, []]) : IDBKeyRange.bound([segment, part], [segment, part, []]);

/** The pages of the index's segments, in the database. A page never changes but for those of the dead. */
export class SearchPages {
  readonly #transactions: Transactions;
  readonly #cache = new Map<string, Uint8Array>();
  #cached = 0;

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** Pages `from` to `to`, both included, joined; of the dictionary and the postings. Throws `IndexBroken` where one is missing. */
  async bytes(segment: number, part: Part, from: number, to = from): Promise<Uint8Array> {
    const known = Array.from({ length: to - from + 1 }, (_, i) => this.#kept(`${segment}/${part}/${from + i}`));
    if (known.every((page) => page !== undefined)) return join(known);
    const pages = await this.range(segment, part, from, to);
    const read = pages.map(({ data }) => {
      if (!(data instanceof Uint8Array)) throw new IndexBroken('A page has no bytes');
      return data;
    });
    // What is read in one go for a common word would drive out all else.
    if (read.length <= 16) read.forEach((data, i) => this.#keep(`${segment}/${part}/${from + i}`, data));
    return join(read);
  }

  /** Throws `IndexBroken` where one is missing. */
  async range(segment: number, part: Part, from: number, to: number): Promise<SearchPage[]> {
    const range = IDBKeyRange.bound([segment, part, from], [segment, part, to]);
    const pages = await this.#transactions.read(['searchPages'], (tx) => tx.objectStore('searchPages').getAll(range));
    if (pages.length !== to - from + 1) throw new IndexBroken('A page of the index is missing');
    return pages;
  }

  /** All pages of a part, as far as there are any. */
  all(segment: number, part: Part): Promise<SearchPage[]> {
    return this.#transactions.read(['searchPages'], (tx) => tx.objectStore('searchPages').getAll(pagesOf(segment, part)));
  }

  /** Stores pages of a segment that nothing refers to yet. */
  write(pages: readonly SearchPage[]): Promise<void> {
    return this.#transactions.local(['searchPages'], async (tx) => {
      for (const page of pages) putInto(tx, 'searchPages', page);
    });
  }

  /** Deletes what no segment refers to: the rest of a merge, or of one that a crash cut short. */
  async sweep(segments: ReadonlySet<number>): Promise<void> {
    const found = await this.#transactions.read(['searchPages'], async (tx) => {
      const numbers: number[] = [];
      let cursor = await tx.objectStore('searchPages').openKeyCursor();
      while (cursor) {
        const [segment] = cursor.key;
        numbers.push(segment);
        cursor = await cursor.continue([segment, []] as never);
      }
      return numbers;
    });
    for (const segment of found) if (!segments.has(segment)) await this.#remove(segment);
  }

  /** In pieces, for a write that is acknowledged waits for them. */
  async #remove(segment: number): Promise<void> {
    for (let left = true; left; ) {
      left = await this.#transactions.local(['searchPages'], async (tx) => {
        const store = tx.objectStore('searchPages');
        const keys = await store.getAllKeys(pagesOf(segment), 64);
        const [first, last] = [keys[0], keys.at(-1)];
        if (first && last) await store.delete(IDBKeyRange.bound(first, last));
        return keys.length === 64;
      });
    }
  }

  /** The segments that there are, oldest first. */
  segments(): Promise<SegmentRow[]> {
    return this.#transactions.read(['searchSegments'], (tx) => tx.objectStore('searchSegments').getAll());
  }

  forget(): void {
    this.#cache.clear();
    this.#cached = 0;
  }

  #kept(key: string): Uint8Array | undefined {
    const page = this.#cache.get(key);
    if (!page) return undefined;
    // The map's order is that of the last use.
    this.#cache.delete(key);
    this.#cache.set(key, page);
    return page;
  }

  #keep(key: string, page: Uint8Array): void {
    this.#cached += page.length - (this.#cache.get(key)?.length ?? 0);
    this.#cache.set(key, page);
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cached <= CACHE) break;
      this.#cache.delete(oldest);
      this.#cached -= length;
    }
  }
}

function join(pages: readonly Uint8Array[]): Uint8Array {
  const [first] = pages;
  if (first && pages.length === 1) return first;
  const whole = new Uint8Array(pages.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const page of pages) {
    whole.set(page, at);
    at += page.length;
  }
  return whole;
}
