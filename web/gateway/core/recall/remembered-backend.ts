import { RememberedSearch } from '../memory/remembered.ts';
import type { Clock } from '../clock.ts';
import type { Memory } from '../memory/long-term-file.ts';
import type { RecallSearch } from './recaller.ts';
import type { FoundMemory, RecalledMemory } from './result.ts';

/** What an agent remembers for good, for recall. */
export class RememberedBackend implements RecallSearch {
  readonly backend = 'remembered';
  readonly #list: () => Promise<readonly Memory[]>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #search = new RememberedSearch();
  /** What there is, read once for each recall, which has one signal for all that it asks. */
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

  /** What was forgotten, or was changed, is told no more. */
  async holds(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean> {
    await this.#follow(signal);
    // Another text is another memory.
    return memories.every(({ id }) => this.#search.get(id) !== undefined);
  }

  #follow(signal: AbortSignal): Promise<void> {
    const following = this.#read.get(signal) ?? this.#list().then((list) => this.#search.follow(list));
    this.#read.set(signal, following);
    return following;
  }
}
