import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import type { RecalledBefore } from '#lib/memory/types.ts';

const PAGE = 30;

/** Replies with the memories recalled for them, newest first, loaded page by page. */
export class MemoryRecalled {
  readonly agentId: string;
  /** Null before the first answer. */
  list = $state.raw<RecalledBefore[] | null>(null);
  problem = $state<Problem | null>(null);
  #next = $state<number | null>(null);
  #reading = false;

  readonly more = $derived(this.#next !== null);

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  async load(): Promise<void> {
    await this.#read(null);
  }

  async loadMore(): Promise<void> {
    if (this.#next !== null) await this.#read(this.#next);
  }

  async #read(before: number | null): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const params = { agentId: this.agentId, limit: PAGE, ...(before === null ? {} : { before }) };
      const { recalled, next } = await gateway.call('memory.recalled', params);
      const shown = before === null ? [] : (this.list ?? []);
      const known = new Set(shown.map(({ messageId }) => messageId));
      this.list = [...shown, ...recalled.filter(({ messageId }) => !known.has(messageId))];
      this.#next = next;
      this.problem = null;
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.memory_doing_read_recalled());
    } finally {
      this.#reading = false;
    }
  }
}
