import type { SearchPage, SegmentRow } from '../schema.ts';
import { putInto } from '../requests.ts';
import type { Transactions } from '../transaction.ts';

/** Kinds of pages in a segment; the number is part of their key. */
export const PART = { docs: 0, ids: 1, dead: 2, sessions: 3, terms: 4, postings: 5, follows: 6 } as const;
export type Part = (typeof PART)[keyof typeof PART];

/** Maximum size of cached pages, in bytes. */
const CACHE = 24 * 1024 * 1024;

/** The stored index is inconsistent and must be rebuilt. */
export class IndexBroken extends Error {
  override name = 'IndexBroken';
}

/** Key range of one part of a segment, or of all its parts. */
export const pagesOf = (segment: number, part?: Part): IDBKeyRange =>
  part === undefined ? IDBKeyRange.bound([segment], [segment, []]) : IDBKeyRange.bound([segment, part], [segment, part, []]);

/** A pending read of pages. */
interface Wanted {
  range: IDBKeyRange;
  count: number;
  resolve(pages: SearchPage['data'][]): void;
  reject(error: unknown): void;
}

/** The stored pages of the index's segments. Only pages of dead documents ever change. */
export class SearchPages {
  readonly #transactions: Transactions;
  readonly #cache = new Map<string, SearchPage['data']>();
  #cached = 0;
  #wanted: Wanted[] = [];

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** Pages `from` to `to`, both inclusive, concatenated; for the dictionary and the postings. Throws `IndexBroken` if one is missing. */
  async bytes(segment: number, part: Part, from: number, to = from): Promise<Uint8Array> {
    return join(await this.kept(segment, part, from, to));
  }

  /** The same as a list, from the cache if possible. */
  async kept(segment: number, part: Part, from: number, to = from): Promise<SearchPage['data'][]> {
    const known = Array.from({ length: to - from + 1 }, (_, i) => this.#kept(`${segment}/${part}/${from + i}`));
    if (known.every((page) => page !== undefined)) return known;
    const read = await this.range(segment, part, from, to);
    // A long read for a common word would evict everything else from the cache.
    if (read.length <= 16) read.forEach((data, i) => this.#keep(`${segment}/${part}/${from + i}`, data));
    return read;
  }

  /** The same from the database. Requests of one turn share a transaction: otherwise a search would wait for dozens. */
  range(segment: number, part: Part, from: number, to: number): Promise<SearchPage['data'][]> {
    const { promise, resolve, reject } = Promise.withResolvers<SearchPage['data'][]>();
    const range = IDBKeyRange.bound([segment, part, from], [segment, part, to]);
    if (this.#wanted.push({ range, count: to - from + 1, resolve, reject }) === 1) queueMicrotask(() => void this.#fetch());
    return promise;
  }

  async #fetch(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    try {
      const found = await this.#transactions.read(['searchPages'], (tx) => {
        const store = tx.objectStore('searchPages');
        return Promise.all(wanted.map(({ range }) => store.getAll(range)));
      });
      wanted.forEach(({ count, resolve, reject }, at) => {
        const pages = found[at] ?? [];
        if (pages.length === count) resolve(pages.map(({ data }) => data));
        else reject(new IndexBroken('A page of the index is missing'));
      });
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }

  /** All existing pages of a part. */
  all(segment: number, part: Part): Promise<SearchPage[]> {
    return this.#transactions.read(['searchPages'], (tx) => tx.objectStore('searchPages').getAll(pagesOf(segment, part)));
  }

  /** Stores pages of a segment that nothing refers to yet. */
  write(pages: readonly SearchPage[]): Promise<void> {
    return this.#transactions.local(['searchPages'], async (tx) => {
      for (const page of pages) putInto(tx, 'searchPages', page);
    });
  }

  /** Deletes pages without a segment: left by a merge, or by a crash during one. */
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

  /** In pieces, since acknowledged writes wait for each one. */
  async #remove(segment: number): Promise<void> {
    for (let left = true; left;) {
      left = await this.#transactions.local(['searchPages'], async (tx) => {
        const store = tx.objectStore('searchPages');
        const keys = await store.getAllKeys(pagesOf(segment), 64);
        const [first, last] = [keys[0], keys.at(-1)];
        if (first && last) await store.delete(IDBKeyRange.bound(first, last));
        return keys.length === 64;
      });
    }
  }

  /** The existing segments, oldest first. */
  segments(): Promise<SegmentRow[]> {
    return this.#transactions.read(['searchSegments'], (tx) => tx.objectStore('searchSegments').getAll());
  }

  forget(): void {
    this.#cache.clear();
    this.#cached = 0;
  }

  #kept(key: string): SearchPage['data'] | undefined {
    const page = this.#cache.get(key);
    if (!page) return undefined;
    // Keeps the map in order of last use.
    this.#cache.delete(key);
    this.#cache.set(key, page);
    return page;
  }

  #keep(key: string, page: SearchPage['data']): void {
    const before = this.#cache.get(key);
    this.#cached += sizeOf(page) - (before ? sizeOf(before) : 0);
    this.#cache.set(key, page);
    for (const [oldest, data] of this.#cache) {
      if (this.#cached <= CACHE) break;
      this.#cache.delete(oldest);
      this.#cached -= sizeOf(data);
    }
  }
}

const sizeOf = (data: SearchPage['data']): number => (data instanceof Uint8Array ? data.length : 100 * data.length);

function join(pages: readonly SearchPage['data'][]): Uint8Array {
  const parts = pages.map((page) => {
    if (!(page instanceof Uint8Array)) throw new IndexBroken('A page of the index is empty');
    return page;
  });
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
