import type { Memory } from './long-term-file.ts';
import { type FoundPassage, MemorySearch } from './search/memory-search.ts';

/** A search over what is remembered, which keeps up with the list of it. */
export class RememberedSearch {
  readonly #search = new MemorySearch();
  /** The texts that are in it, by id. */
  readonly #known = new Map<string, string>();

  /** The best of `memories` for a query. */
  search(memories: readonly Memory[], query: string, options: { limit: number; now: number }): FoundPassage[] {
    const current = new Set(memories.map(({ id }) => id));
    for (const id of this.#known.keys()) {
      if (current.has(id)) continue;
      this.#search.remove(id);
      this.#known.delete(id);
    }
    for (const memory of memories) {
      if (this.#known.get(memory.id) === memory.text) continue;
      const { id, text, createdAt } = memory;
      // Each stands by itself: what was noted next is about something else.
      this.#search.add({ id, thread: id, text, at: createdAt });
      this.#known.set(id, text);
    }
    return this.#search.search(query, options);
  }
}
