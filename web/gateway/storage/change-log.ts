import type { HybridClock } from './hybrid-clock.ts';
import type { ChangeRow, LoggedStore, ReadTransaction, WriteTransaction } from './schema.ts';

/**
 * Notes changes of one transaction, within it. The log holds the last change of each record, so its size is bounded by the
 * number of records ever kept. All of a transaction's rows get one reading of the clock: they belong together.
 */
export class ChangeNotes {
  readonly #tx: WriteTransaction;
  readonly #clock: HybridClock;
  readonly #origin: string;
  #reading: string | undefined;

  constructor(tx: WriteTransaction, clock: HybridClock, origin: string) {
    this.#tx = tx;
    this.#clock = clock;
    this.#origin = origin;
  }

  async changed(store: LoggedStore, key: string): Promise<void> {
    await this.#tx.objectStore('changes').put(this.#row(store, key));
  }

  async removed(store: LoggedStore, key: string): Promise<void> {
    await this.#tx.objectStore('changes').put({ ...this.#row(store, key), deleted: true });
  }

  #row(store: LoggedStore, key: string): ChangeRow {
    this.#reading ??= this.#clock.tick();
    return { store, key, clock: this.#reading, origin: this.#origin };
  }
}

/** The latest reading in the log, which a clock that starts must not fall behind. */
export async function latestReading(tx: ReadTransaction): Promise<string | undefined> {
  const cursor = await tx.objectStore('changes').index('clock').openKeyCursor(null, 'prev');
  return cursor?.key;
}

/** Who writes here, in the change log: an id that this copy of the data got when it was made. */
export async function originOf(tx: WriteTransaction): Promise<string> {
  const local = tx.objectStore('local');
  const row = await local.get('origin');
  if (row?.name === 'origin') return row.value;
  const value = crypto.randomUUID();
  await local.put({ name: 'origin', value });
  return value;
}
