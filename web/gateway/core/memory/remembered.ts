import { Turns } from '#shared/turns.ts';
import { Breath } from '../documents/breath.ts';
import type { Memory } from './long-term-file.ts';
import { effortOf } from './search/effort.ts';
import { type FoundPassage, MemorySearch } from './search/memory-search.ts';

/** What is begun is of use to whoever asks next, whether or not somebody still waits for it. */
const NEVER = new AbortController().signal;

/** A search over what is remembered for good alone, which keeps up with the list of it. */
export class RememberedSearch {
  readonly #search = new MemorySearch();
  readonly #turns = new Turns();
  /** The list that it is of. */
  #list: readonly Memory[] = [];
  #byId: ReadonlyMap<string, Memory> = new Map();

  /** Takes over a list, which is not changed any more; others have their turn meanwhile. One that is taken over already costs nothing. */
  async follow(memories: readonly Memory[]): Promise<void> {
    if (memories === this.#list) return;
    await this.#turns.run(() => this.#take(memories));
  }

  get(id: string): Memory | undefined {
    return this.#byId.get(id);
  }

  /** The best for a query, best first. */
  search(query: string, options: { limit: number; now: number }): (FoundPassage & { memory: Memory })[] {
    if (this.#byId.size === 0) return [];
    return this.#search.search(query, options).flatMap((found) => {
      const memory = this.#byId.get(found.passage.id);
      return memory ? [{ ...found, memory }] : [];
    });
  }

  async #take(memories: readonly Memory[]): Promise<void> {
    if (memories === this.#list) return;
    const current = new Map(memories.map((memory) => [memory.id, memory]));
    const breath = new Breath(NEVER);
    for (const id of this.#byId.keys()) if (!current.has(id)) this.#search.remove(id);
    for (const { id, text, createdAt } of current.values()) {
      // Another text is another id.
      if (this.#search.has(id)) continue;
      // Each stands by itself: what was noted next is about something else.
      this.#search.add({ id, thread: id, text, at: createdAt });
      await breath.after(effortOf(text));
    }
    [this.#list, this.#byId] = [memories, current];
  }
}
