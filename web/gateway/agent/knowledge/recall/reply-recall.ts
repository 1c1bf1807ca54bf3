import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Log } from '../../../system/log/log.ts';
import { type Agent, getWorkspaceName } from '../../agents.ts';
import { getRecalledWorkspaces } from '../../projects/chat-workspaces.ts';
import type { MemoryStore } from '../memory/agent-memories.ts';
import type { LongTermMemories } from '../memory/long-term-memories.ts';
import { computeTextVersion } from '../../../knowledge/memory/content-id.ts';
import { LONG_TERM_FILE } from '../../../knowledge/memory/layout.ts';
import type { MemoryList } from '../../../knowledge/memory/long-term-search.ts';
import type { RecallResult, RunRecall } from '../../runs/run-types.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import { mergeSources } from '../../trust/content-sources.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import { buildContextMessage, toContextLine } from '../../../knowledge/recall/context-message.ts';
import { ActiveMemoryRecaller } from '../../../knowledge/recall/recaller.ts';
import { LongTermBackend } from '../../../knowledge/recall/long-term-backend.ts';
import type { Lazy } from '../../../system/modules.ts';

/** Milliseconds after the start, or after a change of memories, at which they are indexed if no recall has done so before. */
const UPDATE_DELAY_MS = 1000;

export interface ReplyRecallDeps {
  vault: Pick<Vault, 'files' | 'onRemoteChanges'>;
  main(): Agent;
  longTermMemories: Lazy<LongTermMemories>;
  /** Opens the index store of a workspace. If undefined, indexes are kept in memory only. */
  memoryStore: ((workspace: string) => Promise<MemoryStore>) | undefined;
  labels: ContentLabels;
  clock: Clock;
  settings(): Settings;
  log: Pick<Log, 'write'>;
}

type RunToRecall = Parameters<RunRecall['recall']>[0];

/** The part of a run that recall depends on. */
interface RecalledRun extends Pick<RunToRecall, 'agent' | 'project' | 'isTainted'> {
  session: Pick<RunToRecall['session'], 'key'>;
  user: Pick<RunToRecall['user'], 'content'>;
  above: readonly Pick<RunToRecall['user'], 'role' | 'content'>[];
}

interface WorkspacesRecall {
  workspaces: readonly string[];
  settings: string;
  backend: LongTermBackend;
  recaller: ActiveMemoryRecaller;
}

/** Recall for runs: searches the agent's long-term memories, with the settings of `memory.recall`. */
export class ReplyRecall implements RunRecall {
  readonly #deps: ReplyRecallDeps;
  /** By workspaces, so that a cached answer is never used for another memory. */
  readonly #recalls = new Map<string, Promise<WorkspacesRecall>>();
  readonly #stops: (() => void)[];
  readonly #delayedUpdates = new Map<string, () => void>();

  constructor(deps: ReplyRecallDeps) {
    this.#deps = deps;
    this.#stops = watchLongTermFiles(deps.vault, (workspace) => this.#updateSoon(workspace, false));
    this.#updateSoon(getWorkspaceName(deps.main()), true);
  }

  /** Ends updates in the background, and saves the indexes. */
  async close(): Promise<void> {
    for (const stop of [...this.#stops.splice(0), ...this.#delayedUpdates.values()]) stop();
    this.#delayedUpdates.clear();
    const open = await Promise.allSettled(this.#recalls.values());
    await Promise.all(open.map((result) => (result.status === 'fulfilled' ? result.value.backend.close() : undefined)));
  }

  async recall(
    { agent, session, project, user, above: earlierMessages, isTainted }: RecalledRun,
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

  /** Drops the indexes, which are made again without what was forgotten. Resolves when none of them can be stored any more. */
  async forget(): Promise<void> {
    const open = await Promise.allSettled(this.#recalls.values());
    this.#recalls.clear();
    await Promise.all(open.map((result) => (result.status === 'fulfilled' ? result.value.backend.close() : undefined)));
  }

  async #getRecaller(workspaces: readonly string[], isTainted: boolean): Promise<ActiveMemoryRecaller> {
    const name = `${workspaces.join('+')}${isTainted ? '/all' : ''}`;
    const opening = this.#recalls.get(name) ?? this.#open(name, workspaces, isTainted);
    this.#recalls.set(name, opening);
    try {
      const recall = await opening;
      const { recall: config } = this.#deps.settings().memory;
      const settings = toCanonicalJson(config);
      if (recall.settings !== settings)
        Object.assign(recall, { settings, recaller: new ActiveMemoryRecaller(recall.backend, config, { clock: this.#deps.clock }) });
      return recall.recaller;
    } catch (error) {
      this.#recalls.delete(name);
      throw error;
    }
  }

  async #open(name: string, workspaces: readonly string[], isTainted: boolean): Promise<WorkspacesRecall> {
    const { clock, labels, log, longTermMemories, memoryStore } = this.#deps;
    const longTerm = await longTermMemories.load();
    const lists = workspaces.map((workspace) =>
      isTainted ? createFullList(longTerm, workspace) : createReviewedList(longTerm, labels, workspace),
    );
    const [first = ''] = workspaces;
    // The index of several workspaces would outlast the deletion of one.
    const store = workspaces.length === 1 ? await memoryStore?.(first) : undefined;
    const backend = new LongTermBackend({
      list: joinLists(lists),
      clock,
      store: store?.getSnapshotStore(`recall ${name}`),
      warn: (message) => log.write('warn', 'recall', message, { workspace: first }),
    });
    const { recall: config } = this.#deps.settings().memory;
    return { workspaces, settings: toCanonicalJson(config), backend, recaller: new ActiveMemoryRecaller(backend, config, { clock }) };
  }

  /**
   * Indexes the memories of a workspace in the background, for the recalls in use. `isNew`: also for chats without outside content, if none
   * has recalled yet.
   */
  #updateSoon(workspace: string, isNew: boolean): void {
    this.#delayedUpdates.get(workspace)?.();
    const update = async (): Promise<void> => {
      this.#delayedUpdates.delete(workspace);
      if (isNew && this.#deps.settings().memory.recall.enabled) await this.#getRecaller([workspace], false);
      for (const opening of this.#recalls.values()) {
        const { workspaces, backend } = await opening;
        if (workspaces.includes(workspace)) await backend.update();
      }
    };
    // A recall reports what fails.
    this.#delayedUpdates.set(
      workspace,
      this.#deps.clock.after(UPDATE_DELAY_MS, () => void update().catch(() => {})),
    );
  }
}

/** Calls `changed` with the workspace of each long-term file that changes. Returns functions that end this. */
function watchLongTermFiles({ files, onRemoteChanges }: ReplyRecallDeps['vault'], changed: (workspace: string) => void): (() => void)[] {
  return [
    files.watch(({ workspace, path }) => {
      if (path === LONG_TERM_FILE) changed(workspace);
    }),
    onRemoteChanges((changes) => {
      for (const { store, key } of changes)
        if (store === 'files' && key.endsWith(`/${LONG_TERM_FILE}`)) changed(key.slice(0, -LONG_TERM_FILE.length - 1));
    }),
  ];
}

const createFullList = (longTerm: LongTermMemories, workspace: string): MemoryList => ({
  getVersion: () => longTerm.getVersion(workspace),
  memories: () => longTerm.listIn(workspace),
});

/** The memories without a label. */
function createReviewedList(longTerm: LongTermMemories, labels: ContentLabels, workspace: string): MemoryList {
  const listLabelled = (): Promise<ReadonlyMap<string, unknown>> => labels.list('memory', `${workspace}/`);
  return {
    async getVersion() {
      const [version, labelled] = await Promise.all([longTerm.getVersion(workspace), listLabelled()]);
      return labelled.size === 0 ? version : `${version} without ${computeTextVersion([...labelled.keys()].join())}`;
    },
    async memories() {
      const [all, labelled] = await Promise.all([longTerm.listIn(workspace), listLabelled()]);
      return labelled.size === 0 ? all : all.filter(({ id }) => !labelled.has(`${workspace}/${id}`));
    },
  };
}

/** All memories of several lists, each once. */
function joinLists(lists: readonly MemoryList[]): MemoryList {
  const [first] = lists;
  if (first && lists.length === 1) return first;
  return {
    getVersion: async () => (await Promise.all(lists.map((list) => list.getVersion()))).join(' and '),
    async memories() {
      const parts = await Promise.all(lists.map((list) => list.memories()));
      return [...new Map(parts.flat().map((memory) => [memory.id, memory])).values()];
    },
  };
}
