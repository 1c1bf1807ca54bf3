import { canonical } from '../canonical.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Memories } from '../memory/later.ts';
import type { LongTermMemories } from '../memory/long-term-memories.ts';
import type { Memory } from '../memory/long-term-file.ts';
import type { Recalled, RunRecall } from '../runs/deps.ts';
import type { ContentLabels } from '../trust/labels.ts';
import { mergeSources } from '../trust/sources.ts';
import { plainText } from '../sessions.ts';
import type { Settings } from '../settings.ts';
import { buildContextMessage, toContextLine } from './context-message.ts';
import { ActiveMemoryRecaller } from './recaller.ts';
import { RememberedBackend } from './remembered-backend.ts';

export interface BeforeReplyDeps {
  memories: Pick<Memories, 'longTerm'>;
  labels: ContentLabels;
  clock: Clock;
  settings(): Settings;
  log: Pick<Log, 'write'>;
}

/** Recall for runs: searches the agent's long-term memories, with the settings of `memory.recall`. */
export class BeforeReply implements RunRecall {
  readonly #deps: BeforeReplyDeps;
  /** By workspace, so that a cached answer is never used for another memory. */
  readonly #recallers = new Map<string, { settings: string; backend: RememberedBackend; recaller: ActiveMemoryRecaller }>();

  constructor(deps: BeforeReplyDeps) {
    this.#deps = deps;
  }

  async before(
    { agent, session, user, above, isTainted }: Parameters<RunRecall['before']>[0],
    signal: AbortSignal,
  ): Promise<Recalled | undefined> {
    const turns = above.map(({ role, content }) => ({ role, content }));
    const result = await (await this.#of(agent.id, isTainted)).recall(plainText(user.content), turns, session.key, signal);
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
    const workspace = (await this.#deps.memories.longTerm()).workspace(agentId);
    const labelled = await this.#deps.labels.list('memory', `${workspace}/`);
    return mergeSources(...recalled.map(({ id }) => labelled.get(`${workspace}/${id}`)));
  }

  /** Recreated if the settings have changed. */
  async #of(agentId: string, isTainted: boolean): Promise<ActiveMemoryRecaller> {
    const { memories, clock } = this.#deps;
    const longTerm = await memories.longTerm();
    const workspace = longTerm.workspace(agentId);
    const { recall } = this.#deps.settings().memory;
    const settings = canonical(recall);
    const name = `${workspace}${isTainted ? '/all' : ''}`;
    const known = this.#recallers.get(name);
    if (known?.settings === settings) return known.recaller;
    const backend =
      known?.backend ??
      new RememberedBackend({ list: isTainted ? () => longTerm.list(agentId) : this.#reviewed(longTerm, agentId), clock });
    const recaller = new ActiveMemoryRecaller(backend, recall, { clock });
    this.#recallers.set(name, { settings, backend, recaller });
    return recaller;
  }

  /** The memories without a label; returns the same array until the memories or labels change. */
  #reviewed(longTerm: LongTermMemories, agentId: string): () => Promise<readonly Memory[]> {
    let last: { all: readonly Memory[]; labelled: string; list: readonly Memory[] } | undefined;
    return async () => {
      const workspace = longTerm.workspace(agentId);
      const [all, labels] = await Promise.all([longTerm.list(agentId), this.#deps.labels.list('memory', `${workspace}/`)]);
      const labelled = [...labels.keys()].join();
      if (last?.all !== all || last.labelled !== labelled)
        last = { all, labelled, list: labels.size === 0 ? all : all.filter(({ id }) => !labels.has(`${workspace}/${id}`)) };
      return last.list;
    };
  }
}
