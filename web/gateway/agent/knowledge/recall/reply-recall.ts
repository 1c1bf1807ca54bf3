import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Log } from '../../../system/log/log.ts';
import type { LongTermMemories } from '../memory/long-term-memories.ts';
import type { Memory } from '../../../knowledge/memory/long-term-file.ts';
import type { RecallResult, RunRecall } from '../../runs/run-types.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import { mergeSources } from '../../trust/content-sources.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import { buildContextMessage, toContextLine } from '../../../knowledge/recall/context-message.ts';
import { ActiveMemoryRecaller } from '../../../knowledge/recall/recaller.ts';
import { LongTermBackend } from '../../../knowledge/recall/long-term-backend.ts';
import type { Lazy } from '../../../system/modules.ts';

export interface ReplyRecallDeps {
  longTermMemories: Lazy<LongTermMemories>;
  labels: ContentLabels;
  clock: Clock;
  settings(): Settings;
  log: Pick<Log, 'write'>;
}

/** Recall for runs: searches the agent's long-term memories, with the settings of `memory.recall`. */
export class ReplyRecall implements RunRecall {
  readonly #deps: ReplyRecallDeps;
  /** By workspace, so that a cached answer is never used for another memory. */
  readonly #recallers = new Map<string, { settings: string; backend: LongTermBackend; recaller: ActiveMemoryRecaller }>();

  constructor(deps: ReplyRecallDeps) {
    this.#deps = deps;
  }

  async recall(
    { agent, session, user, above: earlierMessages, isTainted }: Parameters<RunRecall['recall']>[0],
    signal: AbortSignal,
  ): Promise<RecallResult | undefined> {
    const turns = earlierMessages.map(({ role, content }) => ({ role, content }));
    const result = await (await this.#getRecaller(agent.id, isTainted)).recall(toPlainText(user.content), turns, session.key, signal);
    if (result.isTimeout || result.isUnavailable)
      this.#deps.log.write('warn', 'recall', result.reason ?? 'Recall failed', { session: session.key, status: result.status });
    const message = buildContextMessage(result);
    if (!message) return undefined;
    const memories = result.memories.map(({ category, relevance, ...memory }) => ({
      ...memory,
      ...(category === undefined ? {} : { category }),
      ...(relevance === undefined ? {} : { relevance }),
    }));
    return {
      memories,
      content: message.content,
      lines: Object.fromEntries(memories.map(({ id, text }) => [id, toContextLine(`- ${text}`)])),
      outside: isTainted ? await this.#getSources(agent.id, result.memories) : [],
      elapsedMs: result.elapsedMs,
    };
  }

  async #getSources(agentId: string, recalled: readonly { id: string }[]): Promise<string[]> {
    const workspace = (await this.#deps.longTermMemories.load()).getWorkspaceName(agentId);
    const labelled = await this.#deps.labels.list('memory', `${workspace}/`);
    return mergeSources(...recalled.map(({ id }) => labelled.get(`${workspace}/${id}`)));
  }

  /** Recreated if the settings have changed. */
  async #getRecaller(agentId: string, isTainted: boolean): Promise<ActiveMemoryRecaller> {
    const { longTermMemories, clock } = this.#deps;
    const longTerm = await longTermMemories.load();
    const workspace = longTerm.getWorkspaceName(agentId);
    const { recall } = this.#deps.settings().memory;
    const settings = toCanonicalJson(recall);
    const name = `${workspace}${isTainted ? '/all' : ''}`;
    const known = this.#recallers.get(name);
    if (known?.settings === settings) return known.recaller;
    const backend =
      known?.backend ??
      new LongTermBackend({ list: isTainted ? () => longTerm.list(agentId) : this.#createReviewedList(longTerm, agentId), clock });
    const recaller = new ActiveMemoryRecaller(backend, recall, { clock });
    this.#recallers.set(name, { settings, backend, recaller });
    return recaller;
  }

  /** The memories without a label; returns the same array until the memories or labels change. */
  #createReviewedList(longTerm: LongTermMemories, agentId: string): () => Promise<readonly Memory[]> {
    let last: { all: readonly Memory[]; labelled: string; list: readonly Memory[] } | undefined;
    return async () => {
      const workspace = longTerm.getWorkspaceName(agentId);
      const [all, labels] = await Promise.all([longTerm.list(agentId), this.#deps.labels.list('memory', `${workspace}/`)]);
      const labelled = [...labels.keys()].join();
      if (last?.all !== all || last.labelled !== labelled)
        last = { all, labelled, list: labels.size === 0 ? all : all.filter(({ id }) => !labels.has(`${workspace}/${id}`)) };
      return last.list;
    };
  }
}
