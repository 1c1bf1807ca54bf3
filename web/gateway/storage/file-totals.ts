import type { RemoteChange } from './vault-interface.ts';
import type { WriteTransaction } from './vault-schema.ts';

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
  readonly #totals = new Map<string, FileTotal>();
  /** Totals within pending writes. */
  readonly #byTransaction = new WeakMap<WriteTransaction, Map<string, FileTotal>>();

  /** The total within `tx`, to be updated by the caller when it changes files. */
  async get(tx: WriteTransaction, workspace: string, count: () => Promise<FileTotal>): Promise<FileTotal> {
    const totals = this.#byTransaction.get(tx) ?? this.#startTracking(tx);
    const found = totals.get(workspace) ?? { ...(this.#totals.get(workspace) ?? (await count())) };
    totals.set(workspace, found);
    return found;
  }

  /** Called when changes of other hosts have been stored. */
  onRemoteChanges(changes: readonly RemoteChange[]): void {
    for (const { store, key } of changes) if (store === 'files') this.#totals.delete(key.split('/', 1)[0] ?? '');
  }

  /** Called when the data may have been replaced. */
  clear(): void {
    this.#totals.clear();
  }

  #startTracking(tx: WriteTransaction): Map<string, FileTotal> {
    const totals = new Map<string, FileTotal>();
    this.#byTransaction.set(tx, totals);
    // Strict writes commit one after another: no other one can have counted in the meantime.
    const committed = (): void => totals.forEach((total, workspace) => this.#totals.set(workspace, total));
    tx.done.then(committed, () => {});
    return totals;
  }
}
