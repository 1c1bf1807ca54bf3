import type { SearchPage, SegmentRow } from '../vault-schema.ts';
import { putInStore } from '../store-requests.ts';
import type { Transactions } from '../transactions.ts';

/** Kinds of pages in a segment; the number is part of their key. */
export const SEGMENT_PART = { docs: 0, ids: 1, dead: 2, sessions: 3, terms: 4, postings: 5, follows: 6 } as const;
export type SegmentPart = (typeof SEGMENT_PART)[keyof typeof SEGMENT_PART];

/** Maximum size of cached pages, in bytes. */
const MAX_CACHE_BYTES = 24 * 1024 * 1024;

/** The stored index is inconsistent and must be rebuilt. */
export class IndexCorruptError extends Error {
  override name = 'IndexCorruptError';
}

/** Key range of one part of a segment, or of all its parts. */
const getPageRange = (segment: number, part?: SegmentPart): IDBKeyRange =>
  part === undefined ? IDBKeyRange.bound([segment], [segment, []]) : IDBKeyRange.bound([segment, part], [segment, part, []]);

/** A pending read of pages. */
interface PendingRead {
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
  #pendingReads: PendingRead[] = [];

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** Pages `from` to `to`, both inclusive, concatenated; for the dictionary and the postings. Throws `IndexCorruptError` if one is missing. */
  async readBytes(segment: number, part: SegmentPart, from: number, to = from): Promise<Uint8Array> {
    return concatPages(await this.readCached(segment, part, from, to));
  }

  /** The same as a list, from the cache if possible. */
  async readCached(segment: number, part: SegmentPart, from: number, to = from): Promise<SearchPage['data'][]> {
    const cached = Array.from({ length: to - from + 1 }, (_, i) => this.#getCached(`${segment}/${part}/${from + i}`));
    if (cached.every((page) => page !== undefined)) return cached;
    const read = await this.readRange(segment, part, from, to);
    // A long read for a common word would evict everything else from the cache.
    if (read.length <= 16) read.forEach((data, i) => this.#cachePage(`${segment}/${part}/${from + i}`, data));
    return read;
  }

  /** The same from the database. Requests of one turn share a transaction: otherwise a search would wait for dozens. */
  readRange(segment: number, part: SegmentPart, from: number, to: number): Promise<SearchPage['data'][]> {
    const { promise, resolve, reject } = Promise.withResolvers<SearchPage['data'][]>();
    const range = IDBKeyRange.bound([segment, part, from], [segment, part, to]);
    if (this.#pendingReads.push({ range, count: to - from + 1, resolve, reject }) === 1) queueMicrotask(() => void this.#fetch());
    return promise;
  }

  async #fetch(): Promise<void> {
    const reads = this.#pendingReads;
    this.#pendingReads = [];
    try {
      const found = await this.#transactions.read(['searchPages'], (tx) => {
        const store = tx.objectStore('searchPages');
        return Promise.all(reads.map(({ range }) => store.getAll(range)));
      });
      reads.forEach(({ count, resolve, reject }, index) => {
        const pages = found[index] ?? [];
        if (pages.length === count) resolve(pages.map(({ data }) => data));
        else reject(new IndexCorruptError('A page of the index is missing'));
      });
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }

  /** All existing pages of a part. */
  readAll(segment: number, part: SegmentPart): Promise<SearchPage[]> {
    return this.#transactions.read(['searchPages'], (tx) => tx.objectStore('searchPages').getAll(getPageRange(segment, part)));
  }

  /** Stores pages of a segment that nothing refers to yet. */
  write(pages: readonly SearchPage[]): Promise<void> {
    return this.#transactions.writeLocal(['searchPages'], async (tx) => {
      for (const page of pages) putInStore(tx, 'searchPages', page);
    });
  }

  /** Deletes pages without a segment: left by a merge, or by a crash during one. */
  async removeUnused(segments: ReadonlySet<number>): Promise<void> {
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
    for (let hasMore = true; hasMore;) {
      hasMore = await this.#transactions.writeLocal(['searchPages'], async (tx) => {
        const store = tx.objectStore('searchPages');
        const keys = await store.getAllKeys(getPageRange(segment), 64);
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

  clearCache(): void {
    this.#cache.clear();
    this.#cached = 0;
  }

  #getCached(key: string): SearchPage['data'] | undefined {
    const page = this.#cache.get(key);
    if (!page) return undefined;
    // Keeps the map in order of last use.
    this.#cache.delete(key);
    this.#cache.set(key, page);
    return page;
  }

  #cachePage(key: string, page: SearchPage['data']): void {
    const before = this.#cache.get(key);
    this.#cached += computePageBytes(page) - (before ? computePageBytes(before) : 0);
    this.#cache.set(key, page);
    for (const [oldest, data] of this.#cache) {
      if (this.#cached <= MAX_CACHE_BYTES) break;
      this.#cache.delete(oldest);
      this.#cached -= computePageBytes(data);
    }
  }
}

const computePageBytes = (data: SearchPage['data']): number => (data instanceof Uint8Array ? data.length : 100 * data.length);

function concatPages(pages: readonly SearchPage['data'][]): Uint8Array {
  const parts = pages.map((page) => {
    if (!(page instanceof Uint8Array)) throw new IndexCorruptError('A page of the index is empty');
    return page;
  });
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
