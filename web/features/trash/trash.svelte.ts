import type { TrashEntry } from '#shared/rpc/methods/trash-contracts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';

/** The trash of the vault. */
class Trash {
  /** Last deleted first; null before the first answer. */
  items = $state.raw<TrashEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  #loadCount = 0;

  /** Loads the items, now and at each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    return gateway.on('trash.changed', () => void this.load());
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { items } = await gateway.call('trash.list', {});
      if (loadId !== this.#loadCount) return;
      this.items = items;
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.trash_doing_read());
    }
  }

  /** Restores an item and returns the address of its page. */
  async restore({ id }: TrashEntry): Promise<string> {
    const { kind, agentId, path } = await gateway.call('trash.restore', { id });
    await this.load();
    if (kind === 'chat') return `/chat/${path.replace(/\.jsonl$/, '')}`;
    if (kind === 'project') return `/project?id=${path}`;
    if (kind === 'drawing') return `/annotate/${path}`;
    const query = new URLSearchParams({ ...(agentId === null ? {} : { agent: agentId }), ...(kind === 'page' ? { page: path } : {}) });
    return `${kind === 'page' ? '/wiki' : '/memory'}?${query.toString()}`;
  }

  async delete({ id }: TrashEntry): Promise<void> {
    await gateway.call('trash.delete', { id });
    await this.load();
  }

  async empty(): Promise<void> {
    await gateway.call('trash.empty', {});
    await this.load();
  }
}

export const trash = new Trash();
