import type { ForeignChange } from '../core/vault.ts';
import type { WriteTransaction } from './schema.ts';

/** Number and total size of a workspace's files, in bytes. */
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
  /** Totals within pending writes. */
  readonly #under = new WeakMap<WriteTransaction, Map<string, FileTotal>>();

  /** The total within `tx`, to be updated by the caller when it changes files. */
  async within(tx: WriteTransaction, workspace: string, count: () => Promise<FileTotal>): Promise<FileTotal> {
    const mine = this.#under.get(tx) ?? this.#begin(tx);
    const found = mine.get(workspace) ?? { ...(this.#known.get(workspace) ?? (await count())) };
    mine.set(workspace, found);
    return found;
  }

  /** Called when changes of other hosts have been stored. */
  foreign(changes: readonly ForeignChange[]): void {
    for (const { store, key } of changes) if (store === 'files') this.#known.delete(key.split('/', 1)[0] ?? '');
  }

  /** Called when the data may have been replaced. */
  forget(): void {
    this.#known.clear();
  }

  #begin(tx: WriteTransaction): Map<string, FileTotal> {
    const mine = new Map<string, FileTotal>();
    this.#under.set(tx, mine);
    // Strict writes commit one after another: no other one can have counted in the meantime.
    const committed = (): void => mine.forEach((total, workspace) => this.#known.set(workspace, total));
    tx.done.then(committed, () => {});
    return mine;
  }
}
