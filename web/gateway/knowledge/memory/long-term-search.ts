import { Mutex } from '#shared/async/mutex.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Memory } from './long-term-file.ts';
import { computeAnalysisCost } from './search/analysis-cost.ts';
import { type FoundPassage, MemorySearch } from './search/memory-search.ts';

/** Indexing is never aborted: the next search benefits even if the current caller has gone. */
const NEVER_ABORTED = new AbortController().signal;

/** Search over the long-term memories only, which follows changes of their list. */
export class LongTermSearch {
  readonly #search = new MemorySearch();
  readonly #mutex = new Mutex();
  /** The list that is currently indexed. */
  #list: readonly Memory[] = [];
  #byId: ReadonlyMap<string, Memory> = new Map();

  /** Indexes a list, which must not change afterwards, and yields to other tasks meanwhile. Does nothing if the list is already indexed. */
  async update(memories: readonly Memory[]): Promise<void> {
    if (memories === this.#list) return;
    await this.#mutex.run(() => this.#reindex(memories));
  }

  get(id: string): Memory | undefined {
    return this.#byId.get(id);
  }

  /** The best matches for a query, best first. */
  search(query: string, options: { limit: number; now: number }): (FoundPassage & { memory: Memory })[] {
    if (this.#byId.size === 0) return [];
    return this.#search.search(query, options).flatMap((found) => {
      const memory = this.#byId.get(found.passage.id);
      return memory ? [{ ...found, memory }] : [];
    });
  }

  async #reindex(memories: readonly Memory[]): Promise<void> {
    if (memories === this.#list) return;
    const current = new Map(memories.map((memory) => [memory.id, memory]));
    const slicer = new TimeSlicer(NEVER_ABORTED);
    for (const id of this.#byId.keys()) if (!current.has(id)) this.#search.remove(id);
    for (const { id, text, createdAt } of current.values()) {
      // An id is derived from its text, so a known id needs no update.
      if (this.#search.has(id)) continue;
      // Each memory is a thread of its own: adjacent memories are about unrelated things.
      this.#search.add({ id, thread: id, text, at: createdAt });
      await slicer.after(computeAnalysisCost(text));
    }
    [this.#list, this.#byId] = [memories, current];
  }
}
