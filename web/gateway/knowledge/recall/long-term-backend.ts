import type { SnapshotStore } from '../memory/index/index-store.ts';
import { LongTermSearch, type MemoryList } from '../memory/long-term-search.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { RecallSearch } from './recaller.ts';
import type { RecallHit, RecalledMemory } from './recall-result.ts';

interface LongTermBackendOptions {
  list: MemoryList;
  clock: Pick<Clock, 'now'>;
  store?: SnapshotStore | undefined;
  warn?: ((message: string) => void) | undefined;
}

/** Recall backend over an agent's long-term memories. */
export class LongTermBackend implements RecallSearch {
  readonly backend = 'remembered';
  readonly #list: MemoryList;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #search: LongTermSearch;
  /** Loads the memories once per recall, which is identified by its signal. */
  readonly #updates = new WeakMap<AbortSignal, Promise<void>>();

  /** `store`: keeps the index of many memories for the next start. `warn`: called with problems that do not fail a recall. */
  constructor({ list, clock, ...options }: LongTermBackendOptions) {
    this.#list = list;
    this.#clock = clock;
    this.#search = new LongTermSearch(options);
  }

  /** Indexes the current memories, so that the next recall need not wait for it. */
  update(): Promise<void> {
    return this.#search.update(this.#list);
  }

  async search(query: string, limit: number, signal: AbortSignal): Promise<RecallHit[]> {
    await this.#update(signal);
    return this.#search.search(query, { limit, now: this.#clock.now() }).map(({ memory, coverage, fit, why }) => {
      const { id, text, category, createdAt } = memory;
      return { id, text, category, coverage, fit, why, at: createdAt, source: 'remembered' };
    });
  }

  /** False if one of them was deleted or changed. */
  async holds(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean> {
    await this.#update(signal);
    // A changed text has another id.
    return memories.every(({ id }) => this.#search.get(id) !== undefined);
  }

  /** Resolves once the last snapshot is written, if enough has changed. */
  close(): Promise<void> {
    return this.#search.close();
  }

  #update(signal: AbortSignal): Promise<void> {
    const following = this.#updates.get(signal) ?? this.update();
    this.#updates.set(signal, following);
    return following;
  }
}
