import type { SessionRecord } from '../core/vault.ts';
import type { Transactions } from './transaction.ts';

/** All sessions' rows, read once and kept up by what is committed: each reading of 10,000 of them would take some 100 ms. */
export class SessionList {
  readonly #transactions: Transactions;
  #reading: Promise<Map<string, SessionRecord>> | undefined;
  /** Result of `#reading`. */
  #rows: Map<string, SessionRecord> | undefined;
  #sorted: SessionRecord[] | undefined;

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** By key. The map changes later on; a row in it does not. */
  async all(): Promise<ReadonlyMap<string, SessionRecord>> {
    return this.#rows ?? this.#read();
  }

  /** Last changed first. */
  async list(): Promise<SessionRecord[]> {
    const rows = await this.all();
    if (rows !== this.#rows) return sorted(rows);
    return [...(this.#sorted ??= sorted(rows))];
  }

  /** The data may be another than what was read. */
  forget(): void {
    this.#reading = undefined;
    this.#rows = undefined;
    this.#sorted = undefined;
  }

  /** Rows as they are from here on; undefined: it is gone. */
  changed(changes: ReadonlyMap<string, SessionRecord | undefined>): void {
    if (changes.size === 0) return;
    const apply = (rows: Map<string, SessionRecord>): void => {
      this.#sorted = undefined;
      for (const [key, row] of changes) {
        if (row) rows.set(key, row);
        else rows.delete(key);
      }
    };
    if (this.#rows) apply(this.#rows);
    // The list that is being read may be older.
    else void this.#reading?.then(apply, () => {});
  }

  #read(): Promise<Map<string, SessionRecord>> {
    if (this.#reading) return this.#reading;
    const reading = this.#transactions.read(
      ['sessions'],
      async (tx) => new Map((await tx.objectStore('sessions').getAll()).map((row) => [row.key, row])),
    );
    this.#reading = reading;
    reading.then(
      (rows) => this.#reading === reading && (this.#rows = rows),
      () => this.#reading === reading && this.forget(),
    );
    return reading;
  }
}

const sorted = (rows: ReadonlyMap<string, SessionRecord>): SessionRecord[] =>
  [...rows.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
