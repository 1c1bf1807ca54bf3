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

/** Name under which these calls appear in the usage. */
const MEMORY = 'memory';
const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;
/** Maximum number of days summarised per run, newest first, so that a long absence does not cause a night of many calls. */
const MOST_DAYS = 7;
/** Number of failed days after which the rest waits for the next night. */
const MOST_FAILURES = 2;

/** Writes the missing summaries of past days (docs/decisions/0054). */
export class DailySummaries {
  readonly #deps: DailySummariesDeps;
  /** Agents for which a missing model was already logged. */
  readonly #without = new Set<string>();

  constructor(deps: DailySummariesDeps) {
    this.#deps = deps;
  }

  /**
   * Summarises the past days of an agent. Without a model it does nothing, and logs that once. Rejects with a sentence if days could not be
   * summarised; their notes stay unchanged.
   */
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

  /** Past days that lie entirely within the stored conversations and have no summary written after their end. */
  async #lacking(memory: MemoryManager, agentId: string): Promise<string[]> {
    const { clock, timeZone, memories } = this.#deps;
    const dayOf = localTime(timeZone());
    const today = startOf(dayOf(clock.now()).date) ?? 0;
    // In a time zone other than UTC, half of the oldest file may already be deleted.
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
