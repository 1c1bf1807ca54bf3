import { LongTermSearch } from '../memory/long-term-search.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Memory } from '../memory/long-term-file.ts';
import type { RecallSearch } from './recaller.ts';
import type { RecallHit, RecalledMemory } from './recall-result.ts';

/** Recall backend over an agent's long-term memories. */
export class LongTermBackend implements RecallSearch {
  readonly backend = 'remembered';
  readonly #list: () => Promise<readonly Memory[]>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #search = new LongTermSearch();
  /** Loads the memories once per recall, which is identified by its signal. */
  readonly #updates = new WeakMap<AbortSignal, Promise<void>>();

  constructor({ list, clock }: { list: () => Promise<readonly Memory[]>; clock: Pick<Clock, 'now'> }) {
    this.#list = list;
    this.#clock = clock;
  }

  async search(query: string, limit: number, signal: AbortSignal): Promise<RecallHit[]> {
    await this.#update(signal);
    return this.#search.search(query, { limit, now: this.#clock.now() }).map(({ memory, coverage, why }) => {
      const { id, text, category, createdAt } = memory;
      return { id, text, category, coverage, why, at: createdAt, source: 'remembered' };
    });
  }

  /** False if one of them was deleted or changed. */
  async holds(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean> {
    await this.#update(signal);
    // A changed text has another id.
    return memories.every(({ id }) => this.#search.get(id) !== undefined);
  }

  #update(signal: AbortSignal): Promise<void> {
    const following = this.#updates.get(signal) ?? this.#list().then((list) => this.#search.update(list));
    this.#updates.set(signal, following);
    return following;
  }
}
