import { canonical } from '../canonical.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Memories } from '../memory/later.ts';
import type { Recalled, RunRecall } from '../runs/deps.ts';
import { plainText } from '../sessions.ts';
import type { Settings } from '../settings.ts';
import { buildContextMessage } from './context-message.ts';
import { ActiveMemoryRecaller } from './recaller.ts';
import { RememberedBackend } from './remembered-backend.ts';

export interface BeforeReplyDeps {
  memories: Pick<Memories, 'longTerm'>;
  clock: Clock;
  settings(): Settings;
  log: Pick<Log, 'write'>;
}

/** Recall as runs use it: over what the agent remembers for good, by what is set under `memory.recall`. */
export class BeforeReply implements RunRecall {
  readonly #deps: BeforeReplyDeps;
  /** By workspace: what was recalled before is not asked of another memory. */
  readonly #recallers = new Map<string, { settings: string; backend: RememberedBackend; recaller: ActiveMemoryRecaller }>();

  constructor(deps: BeforeReplyDeps) {
    this.#deps = deps;
  }

  async before({ agent, session, user, above }: Parameters<RunRecall['before']>[0], signal: AbortSignal): Promise<Recalled | undefined> {
    const turns = above.map(({ role, content }) => ({ role, content }));
    const result = await (await this.#of(agent.id)).recall(plainText(user.content), turns, session.key, signal);
    if (result.isTimeout || result.isUnavailable)
      this.#deps.log.write('warn', 'recall', result.reason ?? 'Recall failed', { session: session.key, status: result.status });
    const message = buildContextMessage(result);
    if (!message) return undefined;
    const memories = result.memories.map(({ category, relevance, ...memory }) => ({
      ...memory,
      ...(category === undefined ? {} : { category }),
      ...(relevance === undefined ? {} : { relevance }),
    }));
    return { memories, content: message.content, elapsedMs: result.elapsedMs };
  }

  /** Made anew where the settings have changed. */
  async #of(agentId: string): Promise<ActiveMemoryRecaller> {
    const { memories, clock } = this.#deps;
    const longTerm = await memories.longTerm();
    const workspace = longTerm.workspace(agentId);
    const { recall } = this.#deps.settings().memory;
    const settings = canonical(recall);
    const known = this.#recallers.get(workspace);
    if (known?.settings === settings) return known.recaller;
    const backend = known?.backend ?? new RememberedBackend({ list: () => longTerm.list(agentId), clock });
    const recaller = new ActiveMemoryRecaller(backend, recall, { clock });
    this.#recallers.set(workspace, { settings, backend, recaller });
    return recaller;
  }
}
