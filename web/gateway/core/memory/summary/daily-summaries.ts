import { RpcError } from '#shared/rpc/errors.ts';
import type { Agents } from '../../agents.ts';
import { agentModels, type AskingDeps } from '../../compaction/asking.ts';
import { datesUpTo, localTime } from '../../local-time.ts';
import type { LogWriter } from '../../log/log.ts';
import type { Memories } from '../later.ts';
import { dateOf, dayFile, startOf } from '../layout.ts';
import type { MemoryManager } from '../memory-manager.ts';
import type { AskedModel } from './summarise.ts';
import { hasSummary } from './day-summary.ts';
import { tryInOrder } from '../../small-work/small-models.ts';

export interface DailySummariesDeps extends AskingDeps {
  agents: Agents;
  memories: Pick<Memories, 'load'>;
  timeZone(): string;
  log: LogWriter;
}

/** Whose calls they are in the usage. */
const MEMORY = 'memory';
const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;
/** Days that are summarised at one time, the newest first: who was away for a month does not pay for it in one night. */
const MOST_DAYS = 7;
/** After so many days that could not be summarised the rest waits for the next night. */
const MOST_FAILURES = 2;

/** Gives each day that is over its summary, where it has none (decision 0054). */
export class DailySummaries {
  readonly #deps: DailySummariesDeps;
  /** Agents of which it was said that they have no model. */
  readonly #without = new Set<string>();

  constructor(deps: DailySummariesDeps) {
    this.#deps = deps;
  }

  /** Those of an agent's memory. Without a model nothing is done, which the log says once. Rejects with a sentence where days could not be summarised; they stay as they are. */
  async of(agentId: string): Promise<void> {
    const { memories, log } = this.#deps;
    const memory = await (await memories.load()).of(agentId);
    const days = await this.#lacking(memory, agentId);
    if (days.length === 0) return;
    const [first, ...others] = await this.#models(agentId);
    if (!first) {
      if (!this.#without.has(agentId))
        log.write('info', 'memory', 'Skipped daily summaries: the agent has no model for them', { agent: agentId });
      this.#without.add(agentId);
      return;
    }
    this.#without.delete(agentId);
    const failures: string[] = [];
    for (const date of days) {
      try {
        await tryInOrder([first, ...others], NEVER, (model) => memory.summariseDay(date, { model }));
      } catch (error) {
        failures.push(`${date}: ${error instanceof Error ? error.message : String(error)}`);
        if (failures.length === MOST_FAILURES) break;
      }
    }
    if (failures.length > 0) throw new RpcError('INTERNAL_ERROR', `Couldn’t summarise ${failures.join('; ')}`);
  }

  /** The days that are over, lie wholly within what is kept of conversations, and have none that was written after them. */
  async #lacking(memory: MemoryManager, agentId: string): Promise<string[]> {
    const { clock, timeZone, memories } = this.#deps;
    const dayOf = localTime(timeZone());
    const today = startOf(dayOf(clock.now()).date) ?? 0;
    // The oldest of the files is half gone where days begin at another time than those of UTC.
    const kept = new Set(datesUpTo(dateOf(today - DAY_MS), memory.config.dialog.retentionDays - 2));
    const workspace = (await memories.load()).workspace(agentId);
    const lacking: string[] = [];
    for (const { date, messages } of await memory.getDays()) {
      if (messages === 0 || !kept.has(date)) continue;
      const notes = (await memory.getDay(date)) ?? '';
      const written = hasSummary(notes) ? await workspace.stat(dayFile(date)) : undefined;
      if (written && dayOf(written.modifiedAt).date > date) continue;
      if (lacking.push(date) === MOST_DAYS) break;
    }
    return lacking;
  }

  async #models(agentId: string): Promise<AskedModel[]> {
    try {
      return await agentModels(this.#deps.agents.get(agentId), MEMORY, 'summary', this.#deps);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND') return [];
      throw error;
    }
  }
}
