import { Mutex } from '#shared/async/mutex.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { findTimeRanges } from '../search/text/time-words.ts';
import type { SnapshotStore } from './index/index-store.ts';
import { SnapshotWriter } from './index/snapshot-writer.ts';
import type { MemoryCategory } from './long-term.ts';
import type { Memory } from './long-term-file.ts';
import { createLongTermSnapshot, restoreLongTermSnapshot, type RestoredCategories } from './long-term-snapshot.ts';
import { computeAnalysisCost } from './search/analysis-cost.ts';
import { type FoundPassage, MemorySearch } from './search/memory-search.ts';
import { toMemoryThread } from './search/spoken.ts';

export type FoundMemory = Omit<FoundPassage, 'passage'> & { memory: Memory };

/** A list of memories. */
export interface MemoryList {
  /** Identifies the current memories: a list of the same version is not read again. */
  getVersion(): Promise<string>;
  memories(): Promise<readonly Memory[]>;
}

/** Minimum number of memories in a snapshot: fewer are analysed again at once. */
const MIN_SNAPSHOT_SIZE = 500;
/** Cost of comparing a memory with the index, in scanned characters. */
const COMPARE_COST = 50;
/** Number of queries whose results are kept: a chat repeats its last turns with each message. */
const MAX_CACHED_QUERIES = 64;
/** Milliseconds within which results do not age: recency counts in days. */
const MAX_RESULT_AGE_MS = 5 * 60_000;

interface CachedResult {
  now: number;
  found: readonly FoundMemory[];
}

/** Search over the long-term memories only, which follows changes of their list. A long one is restored from a snapshot. */
export class LongTermSearch {
  readonly #store: SnapshotStore | undefined;
  readonly #snapshotWriter: SnapshotWriter;
  readonly #mutex = new Mutex();
  readonly #closed = new AbortController();
  readonly #results = new Map<string, CachedResult>();
  #search = new MemorySearch();
  /** Version of the list that is indexed; undefined if none is. */
  #version: string | undefined;
  /** By id. Those of the snapshot are separate until the list is read. */
  #categories: ReadonlyMap<string, MemoryCategory> = new Map();
  #restored: RestoredCategories | undefined;
  #isRestoreAttempted = false;
  #hasSnapshot = false;

  /** `warn`: called with problems that do not fail the operation. */
  constructor({ store, warn = () => {} }: { store?: SnapshotStore | undefined; warn?: ((message: string) => void) | undefined } = {}) {
    this.#store = store;
    this.#snapshotWriter = new SnapshotWriter(store, {
      make: (slicer) => {
        this.#hasSnapshot = true;
        return createLongTermSnapshot(this.#search, { version: this.#version, getCategory: this.#getCategory }, slicer);
      },
      size: () => this.#search.size,
      warn,
    });
  }

  /** Indexes a list, and yields to other tasks meanwhile. Does nothing if its version is already indexed. */
  async update(list: MemoryList): Promise<void> {
    const version = await list.getVersion();
    if (version === this.#version) return;
    // A caller that has gone does not abort it: the next search benefits.
    await this.#mutex.run(async () => {
      await this.#restoreOnce();
      if (version === this.#version) return;
      const removed = await this.#reindex(await list.memories());
      this.#version = version;
      if (removed > 0 && this.#hasSnapshot) this.#snapshotWriter.replace();
      else if (this.#isWorthSaving) this.#snapshotWriter.look();
    });
  }

  get(id: string): Memory | undefined {
    const passage = this.#search.get(id);
    const category = passage && this.#getCategory(id);
    return passage && category && { id, text: passage.text, category, createdAt: passage.at ?? 0 };
  }

  /** The best matches for a query, best first. */
  search(query: string, { limit, now }: { limit: number; now: number }): readonly FoundMemory[] {
    if (this.#search.size === 0) return [];
    const key = `${limit} ${query}`;
    const cached = this.#results.get(key);
    if (cached && Math.abs(now - cached.now) < MAX_RESULT_AGE_MS) return cached.found;
    const found = this.#search.search(query, { limit, now }).flatMap(({ passage: { id, text, at }, ...reasons }) => {
      const category = this.#getCategory(id);
      return category ? [{ ...reasons, memory: { id, text, category, createdAt: at ?? 0 } }] : [];
    });
    // "Yesterday" is another day tomorrow.
    if (findTimeRanges(query, now).length === 0) this.#cache(key, { now, found });
    return found;
  }

  /** Stops indexing. Resolves once the last snapshot is written, if enough has changed. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The memory was closed.'));
    await this.#mutex.run(async () => {
      if (this.#isWorthSaving) await this.#snapshotWriter.close();
    });
  }

  get #isWorthSaving(): boolean {
    return this.#hasSnapshot || this.#search.size >= MIN_SNAPSHOT_SIZE;
  }

  #cache(key: string, result: CachedResult): void {
    this.#results.delete(key);
    this.#results.set(key, result);
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= MAX_CACHED_QUERIES) break;
      this.#results.delete(oldest);
    }
  }

  readonly #getCategory = (id: string): MemoryCategory | undefined => this.#categories.get(id) ?? this.#restored?.get(id);

  /** Best effort: without a snapshot the list is analysed again. */
  async #restoreOnce(): Promise<void> {
    if (this.#isRestoreAttempted) return;
    this.#isRestoreAttempted = true;
    const slicer = new TimeSlicer(this.#closed.signal);
    const bytes = await this.#store?.snapshot().catch(() => undefined);
    const restored = bytes && (await restoreLongTermSnapshot(bytes));
    this.#hasSnapshot = bytes !== undefined;
    if (restored) ({ search: this.#search, version: this.#version, categories: this.#restored } = restored);
    await this.#search.prepare(slicer);
    await this.#restored?.prepare(slicer);
  }

  /** Returns the number of removed memories. */
  async #reindex(memories: readonly Memory[]): Promise<number> {
    const slicer = new TimeSlicer(this.#closed.signal);
    this.#version = undefined;
    this.#results.clear();
    const current = new Map(memories.map((memory) => [memory.id, memory]));
    const known = this.#restored?.ids() ?? this.#categories.keys();
    let removed = 0;
    for (const id of known) {
      if (!current.has(id) && this.#search.remove(id)) {
        removed++;
        this.#snapshotWriter.changed();
      }
      await slicer.after(COMPARE_COST);
    }
    const categories = new Map<string, MemoryCategory>();
    for (const { id, text, category, createdAt } of current.values()) {
      categories.set(id, category);
      const indexed = this.#search.get(id);
      if (indexed?.text === text && indexed.at === createdAt) await slicer.after(COMPARE_COST);
      else {
        this.#search.add({ id, thread: toMemoryThread({ id, text, createdAt }), text, at: createdAt });
        this.#snapshotWriter.changed();
        await slicer.after(computeAnalysisCost(text));
      }
    }
    [this.#categories, this.#restored] = [categories, undefined];
    this.#results.clear();
    return removed;
  }
}
