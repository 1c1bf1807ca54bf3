import type { Agents } from '../agents.ts';
import { workspaceOf } from '../agents.ts';
import type { Clock } from '../clock.ts';
import type { Vault } from '../vault.ts';
import { vaultWorkspace } from '../workspace/vault-workspace.ts';
import { LONG_TERM_FILE } from './layout.ts';
import { LongTermFile, type Memory } from './long-term-file.ts';
import { isCategory } from './long-term.ts';

export interface LongTermMemoriesDeps {
  vault: Pick<Vault, 'files' | 'memories'>;
  clock: Pick<Clock, 'now'>;
  agents: Agents;
}

/** What agents remember for good: the long-term files in their workspaces, without a search over them. */
export class LongTermMemories {
  readonly #deps: LongTermMemoriesDeps;
  readonly #files = new Map<string, LongTermFile>();
  #broughtOver: Promise<void> | undefined;

  constructor(deps: LongTermMemoriesDeps) {
    this.#deps = deps;
  }

  /** In the order of the file; the very same list until that has changed. Throws `NOT_FOUND` where there is no such agent. */
  async list(agentId: string): Promise<readonly Memory[]> {
    const file = this.#file(this.workspace(agentId));
    await this.ready();
    return file.memories();
  }

  /** The name of the workspace that an agent's memory lies in. Throws `NOT_FOUND` where there is no such agent. */
  workspace(agentId: string): string {
    return workspaceOf(this.#deps.agents.get(agentId));
  }

  /** Resolves once what earlier versions remembered for all agents together is in the main agent's file. */
  ready(): Promise<void> {
    this.#broughtOver ??= this.#bringOver().catch((error: unknown) => {
      this.#broughtOver = undefined;
      throw error;
    });
    return this.#broughtOver;
  }

  async #bringOver(): Promise<void> {
    const { memories } = this.#deps.vault;
    const earlier = await memories.list();
    if (earlier.length === 0) return;
    const lines = earlier.flatMap(({ text, category, createdAt }) =>
      text.trim() === '' ? [] : { text, category: isCategory(category) ? category : ('other' as const), createdAt },
    );
    await this.#file(this.workspace('main')).add(lines);
    // What is added twice is there once: dying here loses nothing.
    for (const { id } of earlier) await memories.remove(id);
  }

  #file(workspace: string): LongTermFile {
    const known = this.#files.get(workspace) ?? new LongTermFile(vaultWorkspace(this.#deps, workspace), LONG_TERM_FILE);
    this.#files.set(workspace, known);
    return known;
  }
}
