import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Log } from '../../../system/log/log.ts';
import { getRecalledWorkspaces } from '../../projects/chat-workspaces.ts';
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

type MemoryLister = () => Promise<readonly Memory[]>;

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
    { agent, session, project, user, above: earlierMessages, isTainted }: Parameters<RunRecall['recall']>[0],
    signal: AbortSignal,
  ): Promise<RecallResult | undefined> {
    const turns = earlierMessages.map(({ role, content }) => ({ role, content }));
    const workspaces = getRecalledWorkspaces(agent, project);
    const result = await (await this.#getRecaller(workspaces, isTainted)).recall(toPlainText(user.content), turns, session.key, signal);
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
      outside: isTainted ? await this.#getSources(workspaces, result.memories) : [],
      elapsedMs: result.elapsedMs,
    };
  }

  async #getSources(workspaces: readonly string[], recalled: readonly { id: string }[]): Promise<string[]> {
    const labelled = await Promise.all(workspaces.map((workspace) => this.#deps.labels.list('memory', `${workspace}/`)));
    return mergeSources(...recalled.flatMap(({ id }) => workspaces.map((workspace, index) => labelled[index]?.get(`${workspace}/${id}`))));
  }

  /** Recreated if the settings have changed. */
  async #getRecaller(workspaces: readonly string[], isTainted: boolean): Promise<ActiveMemoryRecaller> {
    const { longTermMemories, clock } = this.#deps;
    const longTerm = await longTermMemories.load();
    const { recall } = this.#deps.settings().memory;
    const settings = toCanonicalJson(recall);
    const name = `${workspaces.join('+')}${isTainted ? '/all' : ''}`;
    const known = this.#recallers.get(name);
    if (known?.settings === settings) return known.recaller;
    const lists = workspaces.map((workspace) =>
      isTainted ? () => longTerm.listIn(workspace) : this.#createReviewedList(longTerm, workspace),
    );
    const backend = known?.backend ?? new LongTermBackend({ list: joinLists(lists), clock });
    const recaller = new ActiveMemoryRecaller(backend, recall, { clock });
    this.#recallers.set(name, { settings, backend, recaller });
    return recaller;
  }

  /** The memories without a label; returns the same array until the memories or labels change. */
  #createReviewedList(longTerm: LongTermMemories, workspace: string): MemoryLister {
    let last: { all: readonly Memory[]; labelled: string; list: readonly Memory[] } | undefined;
    return async () => {
      const [all, labels] = await Promise.all([longTerm.listIn(workspace), this.#deps.labels.list('memory', `${workspace}/`)]);
      const labelled = [...labels.keys()].join();
      if (last?.all !== all || last.labelled !== labelled)
        last = { all, labelled, list: labels.size === 0 ? all : all.filter(({ id }) => !labels.has(`${workspace}/${id}`)) };
      return last.list;
    };
  }
}

/** All memories of several lists, each once; returns the same array until one of them changes. */
function joinLists(lists: readonly MemoryLister[]): MemoryLister {
  const [first] = lists;
  if (first && lists.length === 1) return first;
  let last: { parts: readonly (readonly Memory[])[]; list: readonly Memory[] } | undefined;
  return async () => {
    const parts = await Promise.all(lists.map((list) => list()));
    if (!last || parts.some((part, index) => part !== last?.parts[index]))
      last = { parts, list: [...new Map(parts.flat().map((memory) => [memory.id, memory])).values()] };
    return last.list;
  };
}
