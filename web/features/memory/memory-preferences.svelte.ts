import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { mergeRemoved } from './merge-removed.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { memory } from './memory-list.svelte.ts';

export type Preference = MethodResult<'memory.preferences'>['preferences'][number];

/** Named preferences in an agent's memory. */
export class MemoryPreferences {
  readonly agentId: string;
  /** Null before the first answer. */
  list = $state.raw<Preference[] | null>(null);
  problem = $state<Problem | null>(null);

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  async load(): Promise<void> {
    try {
      const { preferences } = await gateway.call('memory.preferences', { agentId: this.agentId });
      const sorted = preferences.sort((a, b) => a.key.localeCompare(b.key, 'en'));
      const names = new Set(sorted.map(({ key }) => key.toLowerCase()));
      this.list = mergeRemoved(
        this.list ?? [],
        sorted,
        ({ id, key }) => memory.isPlaceKept(this.agentId, id) && !names.has(key.toLowerCase()),
      );
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.memory_doing_read_preferences());
    }
  }

  /** Sets a preference, replacing one of the same name. Rejects if the gateway refuses. */
  async set(key: string, value: string): Promise<void> {
    await gateway.call('memory.setPreference', { agentId: this.agentId, key, value });
    announcer.announce(m.memory_words_saved());
    await this.load();
  }
}
