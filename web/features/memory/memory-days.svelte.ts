import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import type { MemoryDay } from './types.ts';

export type DayNotes = MethodResult<'memory.day'>;

/** The days for which an agent's memory has notes or messages. */
export class MemoryDays {
  readonly agentId: string;
  /** The newest first; null before the first answer. */
  list = $state.raw<MemoryDay[] | null>(null);
  problem = $state<Problem | null>(null);

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  async load(): Promise<void> {
    try {
      this.list = (await gateway.call('memory.days', { agentId: this.agentId })).days;
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.memory_doing_read_days());
    }
  }

  /** Notes of a day. Rejects if the gateway refuses. */
  loadDay(date: string): Promise<DayNotes> {
    return gateway.call('memory.day', { agentId: this.agentId, date });
  }

  /** Summarises the messages of a day into its notes; null if there were none. Rejects if the gateway refuses or the signal aborts. */
  async summarise(date: string, signal: AbortSignal): Promise<string | null> {
    return (await gateway.call('memory.summariseDay', { agentId: this.agentId, date }, { signal })).notes;
  }
}
