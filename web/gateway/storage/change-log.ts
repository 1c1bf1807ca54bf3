import { SYNC_STORES, type SyncStore } from '#shared/sync/record.ts';
import type { HybridClock } from '#shared/sync/hybrid-clock.ts';
import { putInStore } from './store-requests.ts';
import type { ChangeRow, ReadTransaction, WriteTransaction } from './vault-schema.ts';

/** A change of one transaction, for the journal: the row of the change log, and the record (undefined if it was deleted). */
export interface Change {
  row: ChangeRow;
  value: unknown;
}

/**
 * Logs changes of one transaction, within it. The log holds the last change of each record, so its size is bounded by the number of records
 * ever stored. All rows of a transaction get the same clock value, since they belong together.
 */
export class ChangeRecorder {
  /** Logged changes, in order. */
  readonly changes: Change[] = [];
  readonly #tx: WriteTransaction;
  readonly #clock: HybridClock;
  readonly #pushed: string;
  readonly #prefetched = new Map<string, Promise<ChangeRow | undefined>>();
  #clockValue: string | undefined;

  /** `pushed`: the newest clock value among local changes that the journal has. */
  constructor(tx: WriteTransaction, clock: HybridClock, pushed: string) {
    this.#tx = tx;
    this.#clock = clock;
    this.#pushed = pushed;
  }

  /** `value`: undefined if the record was deleted. */
  async record(store: SyncStore, key: string, value: unknown, fence?: number): Promise<void> {
    this.#clockValue ??= this.#clock.tick();
    const row: ChangeRow = { store, key, clock: this.#clockValue, own: 1 };
    if (fence !== undefined) row.fence = fence;
    if (value === undefined) row.deleted = 1;
    this.changes.push({ row, value });
    const log = this.#tx.objectStore('changes');
    if (SYNC_STORES[store].conflicts) row.base = this.#getBase(await (this.#prefetched.get(`${store}/${key}`) ?? log.get([store, key])));
    putInStore(this.#tx, 'changes', row);
  }

  /** Prefetches the log row of a record that may change, in parallel with other reads. */
  prefetch(store: SyncStore, key: string): void {
    const row = this.#tx.objectStore('changes').get([store, key]);
    row.catch(() => {});
    this.#prefetched.set(`${store}/${key}`, row);
  }

  /** The journal's version on which a change of the record with this row is based. */
  #getBase(before: ChangeRow | undefined): string | null {
    if (!before) return null;
    return isPushed(before, this.#pushed) ? before.clock : (before.base ?? null);
  }
}

/** Whether the journal has this version. */
export const isPushed = (row: ChangeRow, pushed: string): boolean => row.own === undefined || row.clock <= pushed;

/** The newest clock value of a local change; empty if there is none. */
export async function readLocalClock(tx: ReadTransaction | WriteTransaction): Promise<string> {
  const cursor = await tx.objectStore('changes').index('own').openKeyCursor(null, 'prev');
  return cursor?.key[1] ?? '';
}

/**
 * A stored clock value: the newest of other hosts, or the newest of this replica's changes that the journal has; empty if there is none.
 */
export async function readStoredClock(tx: WriteTransaction, name: 'seen' | 'pushed'): Promise<string> {
  const row = await tx.objectStore('local').get(name);
  return row?.name === name ? row.value : '';
}

/** Id of this replica, created on first use. */
export async function getReplicaId(tx: WriteTransaction): Promise<string> {
  const local = tx.objectStore('local');
  const row = await local.get('replica');
  if (row?.name === 'replica') return row.value;
  const value = crypto.randomUUID();
  await local.put({ name: 'replica', value });
  return value;
}
