import { type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { keptGone } from '#lib/memory/kept-gone.ts';
import type { MemoryFound } from '#lib/memory/types.ts';
import { memory } from './memory.svelte.ts';

/** Somebody who types is not asked about each letter. */
const PAUSE_MS = 180;
const FIRST = 20;
/** As many as are given at most. */
const MOST = 100;

/** Search in an agent's memory, kept while the person looks at a chat and returns. */
class MemorySearch {
  query = $state('');
  /** Null before the first answer. */
  found = $state.raw<MemoryFound[] | null>(null);
  elapsedMs = $state(0);
  /** Whether the results belong to the current query. */
  answered = $state(false);
  problem = $state<Problem | null>(null);
  #limit = $state(FIRST);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  readonly active = $derived(this.query.trim() !== '');
  readonly more = $derived(this.#limit < MOST && (this.found?.length ?? 0) >= this.#limit);

  /** Something was typed, or another agent was chosen. */
  typed(): void {
    this.#cancel();
    this.answered = false;
    this.problem = null;
    this.#limit = FIRST;
    if (this.active) this.#timer = setTimeout(() => void this.run(), PAUSE_MS);
    else this.found = null;
  }

  clear(): void {
    this.query = '';
    this.typed();
  }

  async showMore(): Promise<void> {
    this.#limit = MOST;
    await this.run();
  }

  async run(): Promise<void> {
    this.#cancel();
    if (!this.active) return;
    const asking = (this.#asking = new AbortController());
    try {
      const params = { agentId: memory.agentId, query: this.query.trim(), limit: this.#limit };
      const { results, elapsedMs } = await gateway.call('memory.search', params, { signal: asking.signal });
      if (asking.signal.aborted) return;
      // Only where the same is looked for: what was forgotten meanwhile can be put back where it stood.
      const before = this.answered ? (this.found ?? []) : [];
      this.found = keptGone(before, results, ({ id }) => memory.keepsPlace(params.agentId, id));
      this.elapsedMs = elapsedMs;
      this.problem = null;
      this.answered = true;
    } catch (error) {
      if (!asking.signal.aborted) this.problem = problemOf(error, m.memory_doing_search());
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#asking = undefined;
  }
}

export const memorySearch = new MemorySearch();
