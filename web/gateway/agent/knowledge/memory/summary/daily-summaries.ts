import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Agents } from '../../../agents.ts';
import { getAgentModels, type CompletionDeps } from '../../../compaction/model-completion.ts';
import { listDates, createLocalTime } from '#shared/local-time.ts';
import type { LogWriter } from '../../../../system/log/log.ts';
import type { AgentMemories } from '../agent-memories.ts';
import { formatDate, toNotesPath, getDayStart } from '../../../../knowledge/memory/layout.ts';
import type { MemoryManager } from '../../../../knowledge/memory/memory-manager.ts';
import type { SummaryModel } from '../../../../knowledge/memory/summary/summarise.ts';
import { hasSummary } from '../../../../knowledge/memory/summary/day-summary.ts';
import type { Provenance } from '../../provenance/provenance.ts';
import { recordDay } from '../../provenance/record-day.ts';
import { tryInOrder } from '../../../small-work/small-models.ts';
import type { Lazy } from '../../../../system/modules.ts';

export interface DailySummariesDeps extends CompletionDeps {
  agents: Agents;
  memories: Lazy<AgentMemories>;
  provenance: Lazy<Provenance>;
  timeZone(): string;
  log: LogWriter;
}

/** Name under which these calls appear in the usage. */
const MEMORY_PRINCIPAL = 'memory';
const DAY_MS = 86_400_000;
const NEVER_ABORTED = new AbortController().signal;
/** Maximum number of days summarised per run, newest first, so that a long absence does not cause a night of many calls. */
const MAX_DAYS = 7;
/** Number of failed days after which the rest waits for the next night. */
const MAX_FAILURES = 2;

/** Writes the missing summaries of past days (docs/decisions/0054). */
export class DailySummaries {
  readonly #deps: DailySummariesDeps;
  /** Agents for which a missing model was already logged. */
  readonly #agentsWithoutModel = new Set<string>();

  constructor(deps: DailySummariesDeps) {
    this.#deps = deps;
  }

  /**
   * Summarises the past days of an agent. Without a model it does nothing, and logs that once. Rejects with a sentence if days could not be
   * summarised; their notes stay unchanged.
   */
  async summarisePastDays(agentId: string): Promise<void> {
    const { memories, log } = this.#deps;
    const memory = await (await memories.load()).getManager(agentId);
    const days = await this.#findMissingDays(memory, agentId);
    if (days.length === 0) return;
    const [first, ...others] = await this.#listModels(agentId);
    if (!first) {
      if (!this.#agentsWithoutModel.has(agentId))
        log.write('info', 'memory', 'Skipped daily summaries: the agent has no model for them', { agent: agentId });
      this.#agentsWithoutModel.add(agentId);
      return;
    }
    this.#agentsWithoutModel.delete(agentId);
    const failures: string[] = [];
    for (const date of days) {
      try {
        const path = await tryInOrder([first, ...others], NEVER_ABORTED, (model) => memory.summariseDay(date, { model }));
        if (path !== undefined) await recordDay(this.#deps, agentId, date);
      } catch (error) {
        failures.push(`${date}: ${error instanceof Error ? error.message : String(error)}`);
        if (failures.length === MAX_FAILURES) break;
      }
    }
    if (failures.length > 0) throw new RpcError('INTERNAL_ERROR', `Couldn’t summarise ${failures.join('; ')}`);
  }

  /** Past days that lie entirely within the stored conversations and have no summary written after their end. */
  async #findMissingDays(memory: MemoryManager, agentId: string): Promise<string[]> {
    const { clock, timeZone, memories } = this.#deps;
    const toLocalTime = createLocalTime(timeZone());
    const today = getDayStart(toLocalTime(clock.now()).date) ?? 0;
    // In a time zone other than UTC, half of the oldest file may already be deleted.
    const retainedDates = new Set(listDates(formatDate(today - DAY_MS), memory.config.dialog.retentionDays - 2));
    const workspace = (await memories.load()).getWorkspace(agentId);
    const lacking: string[] = [];
    for (const { date, messages } of await memory.getDays()) {
      if (messages === 0 || !retainedDates.has(date)) continue;
      const notes = (await memory.getDay(date)) ?? '';
      const written = hasSummary(notes) ? await workspace.stat(toNotesPath(date)) : undefined;
      if (written && toLocalTime(written.modifiedAt).date > date) continue;
      if (lacking.push(date) === MAX_DAYS) break;
    }
    return lacking;
  }

  async #listModels(agentId: string): Promise<SummaryModel[]> {
    try {
      return await getAgentModels(this.#deps.agents.get(agentId), MEMORY_PRINCIPAL, 'summary', this.#deps);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND') return [];
      throw error;
    }
  }
}
