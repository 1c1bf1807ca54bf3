import type { Agents } from '../../agents.ts';
import { getWorkspaceName } from '../../agents.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { createVaultWorkspace } from '../../workspace/vault-workspace.ts';
import { LONG_TERM_FILE } from '../../../knowledge/memory/layout.ts';
import { LongTermFile, type Memory } from '../../../knowledge/memory/long-term-file.ts';
import { isCategory } from '../../../knowledge/memory/long-term.ts';

export interface LongTermMemoriesDeps {
  vault: Pick<Vault, 'files' | 'memories'>;
  clock: Pick<Clock, 'now'>;
  agents: Agents;
}

/** The long-term memory files of all workspaces, without search. */
export class LongTermMemories {
  readonly #deps: LongTermMemoriesDeps;
  readonly #files = new Map<string, LongTermFile>();
  #migrated: Promise<void> | undefined;

  constructor(deps: LongTermMemoriesDeps) {
    this.#deps = deps;
  }

  /** Memories in file order. Returns the same array until the file changes. Throws `NOT_FOUND` if the agent does not exist. */
  async list(agentId: string): Promise<readonly Memory[]> {
    return this.listIn(this.getWorkspaceName(agentId));
  }

  /** Memories of a workspace in file order, as `list`. */
  async listIn(workspace: string): Promise<readonly Memory[]> {
    const file = this.#getFile(workspace);
    await this.whenMigrated();
    return file.memories();
  }

  /** Identifies the memories of a workspace: it changes with each change of the file. */
  async getVersion(workspace: string): Promise<string> {
    const file = this.#getFile(workspace);
    await this.whenMigrated();
    return file.getVersion();
  }

  /** Name of the workspace that holds an agent's memory. Throws `NOT_FOUND` if the agent does not exist. */
  getWorkspaceName(agentId: string): string {
    return getWorkspaceName(this.#deps.agents.get(agentId));
  }

  /** Resolves once the shared memories of earlier versions have been migrated to the main agent's file. */
  whenMigrated(): Promise<void> {
    this.#migrated ??= this.#migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  async #migrate(): Promise<void> {
    const { memories } = this.#deps.vault;
    const earlier = await memories.list();
    if (earlier.length === 0) return;
    const lines = earlier.flatMap(({ text, category, createdAt }) =>
      text.trim() === '' ? [] : { text, category: isCategory(category) ? category : ('other' as const), createdAt },
    );
    await this.#getFile(this.getWorkspaceName('main')).add(lines);
    // Adding is idempotent, so a crash here loses nothing.
    for (const { id } of earlier) await memories.remove(id);
  }

  #getFile(workspace: string): LongTermFile {
    const known = this.#files.get(workspace) ?? new LongTermFile(createVaultWorkspace(this.#deps, workspace), LONG_TERM_FILE);
    this.#files.set(workspace, known);
    return known;
  }
}
