import type { Log } from '../../../system/log/log.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import { createVaultWorkspace } from '../../workspace/vault-workspace.ts';
import { MemoryConfig } from '../../../knowledge/memory/memory-config.ts';
import type { LongTermMemories, LongTermMemoriesDeps } from './long-term-memories.ts';
import type { IndexStore, SnapshotStore } from '../../../knowledge/memory/index/index-store.ts';
import { MemoryManager } from '../../../knowledge/memory/memory-manager.ts';
import { createReviewedWorkspace } from './reviewed-workspace.ts';
import { createSessionDialogs } from './session-dialogs.ts';
import { type Embedder, createMemoryVectorStore, type VectorStore } from '../../../knowledge/memory/vectors/passage-vectors.ts';
import { withDialogs } from '../../../knowledge/memory/with-dialogs.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';

/** Derived data: rebuilt from the files if it is lost. */
export interface MemoryStore extends IndexStore, VectorStore {
  getSnapshotStore(name: string): SnapshotStore;
  /** Deletes the index, and the vectors of these texts by their hashes. */
  forget(hashes: readonly string[]): Promise<void>;
}

export interface AgentMemoriesDeps extends LongTermMemoriesDeps {
  vault: Pick<Vault, 'files' | 'memories' | 'messages' | 'sessions' | 'collection'>;
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
const CONFIG = { dialog: { enabled: false } };

/** The memories of agents and projects, one per workspace: its notes, and the conversations that belong to it. */
export class AgentMemories {
  readonly #deps: AgentMemoriesDeps;
  readonly #config = new MemoryConfig(CONFIG);
  readonly #managers = new Map<string, Promise<MemoryManager>>();
  readonly #workspaces = new Map<string, Workspace>();

  constructor(deps: AgentMemoriesDeps) {
    this.#deps = deps;
  }

  /** Opens an agent's memory. Rejects with `NOT_FOUND` if the agent does not exist. */
  async getManager(agentId: string): Promise<MemoryManager> {
    return this.openWorkspace(this.#deps.longTerm.getWorkspaceName(agentId));
  }

  /** Name of the workspace that holds an agent's memory. Throws `NOT_FOUND` if the agent does not exist. */
  getWorkspaceName(agentId: string): string {
    return this.#deps.longTerm.getWorkspaceName(agentId);
  }

  /** Opens the memory of a workspace: that of an agent or a project. */
  async openWorkspace(name: string): Promise<MemoryManager> {
    await this.#deps.longTerm.whenMigrated();
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
  getWorkspace(agentId: string): Workspace {
    return this.#getWorkspace(this.#deps.longTerm.getWorkspaceName(agentId));
  }

  /** The same workspace without files that are waiting for review. Throws `NOT_FOUND` if the agent does not exist. */
  getReviewedWorkspace(agentId: string): Workspace {
    return this.#getReviewedWorkspace(this.#deps.longTerm.getWorkspaceName(agentId));
  }

  /** Deletes what is derived from a workspace's files: its index, and the vectors of these texts. The next use makes the rest again. */
  async forget(name: string, hashes: readonly string[]): Promise<void> {
    const manager = await this.#managers.get(name);
    this.#managers.delete(name);
    await manager?.close();
    await (await this.#deps.store?.(name))?.forget(hashes);
  }

  async close(): Promise<void> {
    const open = await Promise.allSettled(this.#managers.values());
    this.#managers.clear();
    await Promise.all(open.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
  }

  async #open(name: string): Promise<MemoryManager> {
    const { clock, labels, log, embedder, store, timeZone, vault } = this.#deps;
    const index = await store?.(name);
    const vectors = embedder && { embedder, store: index ?? createMemoryVectorStore() };
    const warn = (message: string): void => log.write('warn', 'memory', message, { workspace: name });
    const reviewed = this.#getReviewedWorkspace(name);
    return new MemoryManager({
      workspace: this.#getWorkspace(name),
      reviewed,
      config: this.#config,
      clock,
      timeZone,
      index,
      vectors,
      async onRemoved(id) {
        await vault.messages.removeMemoryLines(id);
        await labels.remove('memory', `${name}/${id}`);
      },
      warn,
    }).open();
  }

  /** Returns the same object each time for a name: locks are keyed by it. */
  #getWorkspace(name: string): Workspace {
    const known = this.#workspaces.get(name) ?? this.#createWorkspace(name);
    this.#workspaces.set(name, known);
    return known;
  }

  #getReviewedWorkspace(name: string): Workspace {
    const key = `${name}/reviewed`;
    const known =
      this.#workspaces.get(key) ??
      withDialogs(
        createReviewedWorkspace(createVaultWorkspace(this.#deps, name), name, this.#deps.labels),
        createSessionDialogs(this.#deps, name, { reviewedOnly: true }),
      );
    this.#workspaces.set(key, known);
    return known;
  }

  #createWorkspace(name: string): Workspace {
    return withDialogs(createVaultWorkspace(this.#deps, name), createSessionDialogs(this.#deps, name));
  }
}
