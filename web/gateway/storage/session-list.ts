import type { SessionRecord } from './chat-records.ts';
import type { Transactions } from './transactions.ts';

/** All sessions' rows, read once and then updated by committed changes: reading 10,000 of them takes some 100 ms. */
export class SessionList {
  readonly #transactions: Transactions;
  #pendingRead: Promise<Map<string, SessionRecord>> | undefined;
  /** Result of `#pendingRead`. */
  #rows: Map<string, SessionRecord> | undefined;
  #sorted: SessionRecord[] | undefined;

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** All rows by key. The map changes later; its rows do not. */
  async all(): Promise<ReadonlyMap<string, SessionRecord>> {
    return this.#rows ?? this.#read();
  }

  /** All rows, last changed first. */
  async list(): Promise<SessionRecord[]> {
    const rows = await this.all();
    if (rows !== this.#rows) return sortSessions(rows);
    return [...(this.#sorted ??= sortSessions(rows))];
  }

  /** Called when the data may have been replaced. */
  clear(): void {
    this.#pendingRead = undefined;
    this.#rows = undefined;
    this.#sorted = undefined;
  }

  /** Applies changed rows; undefined for deleted ones. */
  applyChanges(changes: ReadonlyMap<string, SessionRecord | undefined>): void {
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
    else void this.#pendingRead?.then(apply, () => {});
  }

  #read(): Promise<Map<string, SessionRecord>> {
    if (this.#pendingRead) return this.#pendingRead;
    const pendingRead = this.#transactions.read(
      ['sessions'],
      async (tx) => new Map((await tx.objectStore('sessions').getAll()).map((row) => [row.key, row])),
    );
    this.#pendingRead = pendingRead;
    pendingRead.then(
      (rows) => this.#pendingRead === pendingRead && (this.#rows = rows),
      () => this.#pendingRead === pendingRead && this.clear(),
    );
    return pendingRead;
  }
}

const sortSessions = (rows: ReadonlyMap<string, SessionRecord>): SessionRecord[] =>
  [...rows.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
