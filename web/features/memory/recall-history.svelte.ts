import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import type { RecallHistoryEntry } from './types.ts';

const PAGE_SIZE = 30;

/** Replies with the memories recalled for them, newest first, loaded page by page. */
export class RecallHistory {
  readonly agentId: string;
  /** Null before the first answer. */
  list = $state.raw<RecallHistoryEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  #nextBefore = $state<number | null>(null);
  #isLoading = false;

  readonly hasMore = $derived(this.#nextBefore !== null);

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  async load(): Promise<void> {
    await this.#loadPage(null);
  }

  async loadMore(): Promise<void> {
    if (this.#nextBefore !== null) await this.#loadPage(this.#nextBefore);
  }

  async #loadPage(before: number | null): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const params = { agentId: this.agentId, limit: PAGE_SIZE, ...(before === null ? {} : { before }) };
      const { recalled, next } = await gateway.call('memory.recalled', params);
      const current = before === null ? [] : (this.list ?? []);
      const knownIds = new Set(current.map(({ messageId }) => messageId));
      this.list = [...current, ...recalled.filter(({ messageId }) => !knownIds.has(messageId))];
      this.#nextBefore = next;
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.memory_doing_read_recalled());
    } finally {
      this.#isLoading = false;
    }
  }
}
