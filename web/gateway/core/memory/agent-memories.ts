import type { Log } from '../log/log.ts';
import type { Vault } from '../vault.ts';
import type { ContentLabels } from '../trust/labels.ts';
import { vaultWorkspace } from '../workspace/vault-workspace.ts';
import { MemoryConfig } from './config.ts';
import type { LongTermMemories, LongTermMemoriesDeps } from './long-term-memories.ts';
import type { IndexStore } from './index/index-store.ts';
import { MemoryManager } from './memory-manager.ts';
import { reviewedWorkspace } from './reviewed-workspace.ts';
import { sessionDialogs } from './session-dialogs.ts';
import { type Embedder, memoryVectors, type VectorStore } from './vectors/vectors.ts';
import { withDialogs } from './with-dialogs.ts';
import type { Workspace } from './workspace.ts';

/** Derived data: rebuilt from the files if it is lost. */
export type MemoryStore = IndexStore & VectorStore;

export interface AgentMemoriesDeps extends LongTermMemoriesDeps {
  vault: Pick<Vault, 'files' | 'memories' | 'messages'>;
  longTerm: LongTermMemories;
  /** Opens the index store of a workspace. If omitted, the index is kept in memory only. */
  store?: ((workspace: string) => Promise<MemoryStore>) | undefined;
  /** IANA time zone that decides which day an instant belongs to. */
  timeZone(): string;
  /** Returns the embedding model currently chosen, or undefined if there is none. */
  embedder?: (() => Embedder | undefined) | undefined;
  log: Pick<Log, 'write'>;
  labels: ContentLabels;
}

/** Conversations are already stored by the gateway, so the dialog files are not written a second time. */
const SETTINGS = { dialog: { enabled: false } };

/** The memories of agents, one per workspace: its notes, and the conversations of the agents that use it. */
export class AgentMemories {
  readonly #deps: AgentMemoriesDeps;
  readonly #config = new MemoryConfig(SETTINGS);
  readonly #managers = new Map<string, Promise<MemoryManager>>();
  readonly #workspaces = new Map<string, Workspace>();

  constructor(deps: AgentMemoriesDeps) {
    this.#deps = deps;
  }

  /** Opens an agent's memory. Rejects with `NOT_FOUND` if the agent does not exist. */
  async of(agentId: string): Promise<MemoryManager> {
    const name = this.#deps.longTerm.workspace(agentId);
    await this.#deps.longTerm.ready();
    let manager = this.#managers.get(name);
    if (!manager) {
      manager = this.#open(name);
      this.#managers.set(name, manager);
      // A failed open is not cached, so the next call tries again.
      manager.catch(() => this.#managers.delete(name));
    }
    return manager;
  }

  /**
   * Workspace that an agent's memory, wiki and dreaming read and write; its conversations appear as `dialog/`. Throws `NOT_FOUND` if the
   * agent does not exist.
   */
  workspace(agentId: string): Workspace {
    return this.#workspace(this.#deps.longTerm.workspace(agentId));
  }

  /** The same workspace without files that are waiting for review. Throws `NOT_FOUND` if the agent does not exist. */
  reviewed(agentId: string): Workspace {
    return this.#reviewed(this.#deps.longTerm.workspace(agentId));
  }

  async close(): Promise<void> {
    const open = await Promise.allSettled(this.#managers.values());
    this.#managers.clear();
    await Promise.all(open.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)));
  }

  async #open(name: string): Promise<MemoryManager> {
    const { clock, labels, log, embedder, store, timeZone, vault } = this.#deps;
    const index = await store?.(name);
    const vectors = embedder && { embedder, store: index ?? memoryVectors() };
    const warn = (message: string): void => log.write('warn', 'memory', message, { workspace: name });
    const reviewed = this.#reviewed(name);
    return new MemoryManager({
      workspace: this.#workspace(name),
      reviewed,
      config: this.#config,
      clock,
      timeZone,
      index,
      vectors,
      async onRemoved(id) {
        await vault.messages.forgetMemory(id);
        await labels.remove('memory', `${name}/${id}`);
      },
      warn,
    }).open();
  }

  /** Returns the same object each time for a name: locks are keyed by it. */
  #workspace(name: string): Workspace {
    const known = this.#workspaces.get(name) ?? this.#made(name);
    this.#workspaces.set(name, known);
    return known;
  }

  #reviewed(name: string): Workspace {
    const key = `${name}/reviewed`;
    const known =
      this.#workspaces.get(key) ??
      withDialogs(
        reviewedWorkspace(vaultWorkspace(this.#deps, name), name, this.#deps.labels),
        sessionDialogs(this.#deps, name, { reviewedOnly: true }),
      );
    this.#workspaces.set(key, known);
    return known;
  }

  #made(name: string): Workspace {
    return withDialogs(vaultWorkspace(this.#deps, name), sessionDialogs(this.#deps, name));
  }
}
