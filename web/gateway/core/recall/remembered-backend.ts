import { RememberedSearch } from '../memory/remembered.ts';
import type { Clock } from '../clock.ts';
import type { Memory } from '../memory/long-term-file.ts';
import type { RecallSearch } from './recaller.ts';
import type { FoundMemory, RecalledMemory } from './result.ts';

interface All {
  list: readonly Memory[];
  byId: ReadonlyMap<string, Memory>;
}

/** What an agent remembers for good, for recall. */
export class RememberedBackend implements RecallSearch {
  readonly backend = 'remembered';
  readonly #list: () => Promise<readonly Memory[]>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #search = new RememberedSearch();
  /** What there is, read once for each recall, which has one signal for all that it asks. */
  readonly #read = new WeakMap<AbortSignal, Promise<All>>();

  constructor({ list, clock }: { list: () => Promise<readonly Memory[]>; clock: Pick<Clock, 'now'> }) {
    this.#list = list;
    this.#clock = clock;
  }

  async search(query: string, limit: number, signal: AbortSignal): Promise<FoundMemory[]> {
    const { list, byId } = await this.#all(signal);
    if (list.length === 0) return [];
    return this.#search.search(list, query, { limit, now: this.#clock.now() }).flatMap(({ passage: { id }, coverage, why }) => {
      const memory = byId.get(id);
      if (!memory) return [];
      const { text, category, createdAt } = memory;
      return [{ id, text, category, coverage, why, at: createdAt, source: 'remembered' }];
    });
  }

  /** What was forgotten, or was changed, is told no more. */
  async holds(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean> {
    const { byId } = await this.#all(signal);
    // Another text is another memory.
    return memories.every(({ id }) => byId.has(id));
  }

  #all(signal: AbortSignal): Promise<All> {
    const reading = this.#read.get(signal) ?? this.#list().then((list) => ({ list, byId: new Map(list.map((each) => [each.id, each])) }));
    this.#read.set(signal, reading);
    return reading;
  }
}
