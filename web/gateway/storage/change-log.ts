import { SYNC_STORES, type SyncStore } from '#shared/sync/record.ts';
import type { HybridClock } from '#shared/sync/hybrid-clock.ts';
import { putInto } from './requests.ts';
import type { ChangeRow, ReadTransaction, WriteTransaction } from './schema.ts';

/** A change of one transaction, as the journal will want it: the row of the change log, and the record (undefined: it is gone). */
export interface Change {
  row: ChangeRow;
  value: unknown;
}

/**
 * Notes changes of one transaction, within it. The log holds the last change of each record, so its size is bounded by the
 * number of records ever kept. All of a transaction's rows get one reading of the clock: they belong together.
 */
export class ChangeNotes {
  /** Noted changes, in order. */
  readonly changes: Change[] = [];
  readonly #tx: WriteTransaction;
  readonly #clock: HybridClock;
  readonly #pushed: string;
  readonly #expected = new Map<string, Promise<ChangeRow | undefined>>();
  #reading: string | undefined;

  /** `pushed`: the newest reading among changes made here that the journal has. */
  constructor(tx: WriteTransaction, clock: HybridClock, pushed: string) {
    this.#tx = tx;
    this.#clock = clock;
    this.#pushed = pushed;
  }

  /** `value`: undefined where the record is gone. */
  async note(store: SyncStore, key: string, value: unknown, fence?: number): Promise<void> {
    this.#reading ??= this.#clock.tick();
    const row: ChangeRow = { store, key, clock: this.#reading, own: 1 };
    if (fence !== undefined) row.fence = fence;
    if (value === undefined) row.deleted = 1;
    this.changes.push({ row, value });
    const log = this.#tx.objectStore('changes');
    if (SYNC_STORES[store].conflicts) row.base = this.#baseOf(await (this.#expected.get(`${store}/${key}`) ?? log.get([store, key])));
    putInto(this.#tx, 'changes', row);
  }

  /** A record that may be noted soon: what the log has of it is read together with what else is read first. */
  expect(store: SyncStore, key: string): void {
    const row = this.#tx.objectStore('changes').get([store, key]);
    row.catch(() => {});
    this.#expected.set(`${store}/${key}`, row);
  }

  /** The journal's version that a change of a record with this row is made from. */
  #baseOf(before: ChangeRow | undefined): string | null {
    if (!before) return null;
    return isPushed(before, this.#pushed) ? before.clock : (before.base ?? null);
  }
}

/** Whether the journal has this version. */
export const isPushed = (row: ChangeRow, pushed: string): boolean => row.own === undefined || row.clock <= pushed;

/** The newest reading of a change made here; empty where there is none. */
export async function ownReading(tx: ReadTransaction | WriteTransaction): Promise<string> {
  const cursor = await tx.objectStore('changes').index('own').openKeyCursor(null, 'prev');
  return cursor?.key[1] ?? '';
}

/** A reading that was noted: the newest of others, or the newest of this copy's own changes that the journal has; empty where there is none. */
export async function notedReading(tx: WriteTransaction, name: 'seen' | 'pushed'): Promise<string> {
  const row = await tx.objectStore('local').get(name);
  return row?.name === name ? row.value : '';
}

/** The id of this copy of the data, made when it is first asked for. */
export async function replicaOf(tx: WriteTransaction): Promise<string> {
  const local = tx.objectStore('local');
  const row = await local.get('replica');
  if (row?.name === 'replica') return row.value;
  const value = crypto.randomUUID();
  await local.put({ name: 'replica', value });
  return value;
}
