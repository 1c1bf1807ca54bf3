import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { mergeRemoved } from './merge-removed.ts';
import type { MemoryMatch } from './types.ts';
import { memory } from './memory-list.svelte.ts';

/** Delay of a search after the last input, in milliseconds. */
const DEBOUNCE_MS = 180;
const FIRST_LIMIT = 20;
/** Maximum number of results that `memory.search` returns. */
const MAX_LIMIT = 100;

/** Search in an agent's memory; query and results stay while the person visits another page. */
class MemorySearch {
  query = $state('');
  /** Null before the first answer. */
  matches = $state.raw<MemoryMatch[] | null>(null);
  elapsedMs = $state(0);
  /** Whether the results belong to the current query. */
  isUpToDate = $state(false);
  problem = $state<Problem | null>(null);
  #limit = $state(FIRST_LIMIT);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;

  readonly isActive = $derived(this.query.trim() !== '');
  readonly hasMore = $derived(this.#limit < MAX_LIMIT && (this.matches?.length ?? 0) >= this.#limit);

  /** Called when the query changed or another agent was chosen. */
  onInput(): void {
    this.#cancel();
    this.isUpToDate = false;
    this.problem = null;
    this.#limit = FIRST_LIMIT;
    if (this.isActive) this.#timer = setTimeout(() => void this.run(), DEBOUNCE_MS);
    else this.matches = null;
  }

  clear(): void {
    this.query = '';
    this.onInput();
  }

  async showMore(): Promise<void> {
    this.#limit = MAX_LIMIT;
    await this.run();
  }

  async run(): Promise<void> {
    this.#cancel();
    if (!this.isActive) return;
    const request = (this.#request = new AbortController());
    try {
      const params = { agentId: memory.agentId, query: this.query.trim(), limit: this.#limit };
      const { results, elapsedMs } = await gateway.call('memory.search', params, { signal: request.signal });
      if (request.signal.aborted) return;
      // For an unchanged query, memories deleted in the meantime keep their places, so that they can be restored.
      const before = this.isUpToDate ? (this.matches ?? []) : [];
      this.matches = mergeRemoved(before, results, ({ id }) => memory.isPlaceKept(params.agentId, id));
      this.elapsedMs = elapsedMs;
      this.problem = null;
      this.isUpToDate = true;
    } catch (error) {
      if (!request.signal.aborted) this.problem = toProblem(error, m.memory_doing_search());
    } finally {
      if (this.#request === request) this.#request = undefined;
    }
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#request = undefined;
  }
}

export const memorySearch = new MemorySearch();
