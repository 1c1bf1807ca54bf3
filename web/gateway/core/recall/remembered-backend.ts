import { RememberedSearch } from '../memory/remembered.ts';
import type { Clock } from '../clock.ts';
import type { Memory } from '../memory/long-term-file.ts';
import type { RecallSearch } from './recaller.ts';
import type { FoundMemory, RecalledMemory } from './result.ts';

/** Recall backend over an agent's long-term memories. */
export class RememberedBackend implements RecallSearch {
  readonly backend = 'remembered';
  readonly #list: () => Promise<readonly Memory[]>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #search = new RememberedSearch();
  /** Loads the memories once per recall, which is identified by its signal. */
  readonly #read = new WeakMap<AbortSignal, Promise<void>>();

  constructor({ list, clock }: { list: () => Promise<readonly Memory[]>; clock: Pick<Clock, 'now'> }) {
    this.#list = list;
    this.#clock = clock;
  }

  async search(query: string, limit: number, signal: AbortSignal): Promise<FoundMemory[]> {
    await this.#follow(signal);
    return this.#search.search(query, { limit, now: this.#clock.now() }).map(({ memory, coverage, why }) => {
      const { id, text, category, createdAt } = memory;
      return { id, text, category, coverage, why, at: createdAt, source: 'remembered' };
    });
  }

  /** False if one of them was deleted or changed. */
  async holds(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean> {
    await this.#follow(signal);
    // A changed text has another id.
    return memories.every(({ id }) => this.#search.get(id) !== undefined);
  }

  #follow(signal: AbortSignal): Promise<void> {
    const following = this.#read.get(signal) ?? this.#list().then((list) => this.#search.follow(list));
    this.#read.set(signal, following);
    return following;
  }
}
