import type { ForeignChange } from '../core/vault.ts';
import type { WriteTransaction } from './schema.ts';

/** How many files a workspace has, and their bytes together. */
export interface FileTotal {
  files: number;
  bytes: number;
}

/**
 * Number and size of each workspace's files, so that a write need not read all of them. Counted once and then updated by local writes;
 * recounted after any other change. A write's own changes count once they are committed.
 */
export class FileTotals {
  readonly #known = new Map<string, FileTotal>();
  /** As writes under way have left it. */
  readonly #under = new WeakMap<WriteTransaction, Map<string, FileTotal>>();

  /** To be changed by whoever changes files within `tx`. */
  async within(tx: WriteTransaction, workspace: string, count: () => Promise<FileTotal>): Promise<FileTotal> {
    const mine = this.#under.get(tx) ?? this.#begin(tx);
    const found = mine.get(workspace) ?? { ...(this.#known.get(workspace) ?? (await count())) };
    mine.set(workspace, found);
    return found;
  }

  /** Other hosts have changed something, and that is stored. */
  foreign(changes: readonly ForeignChange[]): void {
    for (const { store, key } of changes) if (store === 'files') this.#known.delete(key.split('/', 1)[0] ?? '');
  }

  /** The data may be another now. */
  forget(): void {
    this.#known.clear();
  }

  #begin(tx: WriteTransaction): Map<string, FileTotal> {
    const mine = new Map<string, FileTotal>();
    this.#under.set(tx, mine);
    // Strict writes commit one after another: no other one can have counted meanwhile.
    const committed = (): void => mine.forEach((total, workspace) => this.#known.set(workspace, total));
    tx.done.then(committed, () => {});
    return mine;
  }
}
