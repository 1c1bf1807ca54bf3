import type { DatabaseSync } from 'node:sqlite';
import type { RowSeal } from './row-seal.ts';
import { type RecordPage, JournalTables } from './journal-tables.ts';

/** All records as of its creation, regardless of later writes, read through a separate connection. */
export class JournalSnapshot {
  readonly #tables: JournalTables;
  #after: { store: string; key: string } | undefined = { store: '', key: '' };

  constructor(db: DatabaseSync, seal: RowSeal) {
    try {
      db.exec('PRAGMA query_only = ON; BEGIN');
      // The first read fixes the state that is seen.
      this.#tables = new JournalTables(db, seal);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Returns the next page by store and key; no records at the end. */
  next(): Pick<RecordPage, 'records' | 'damaged'> {
    if (!this.#after) return { records: [], damaged: [] };
    const page = this.#tables.pageByKey(this.#after);
    this.#after = page.full ? page.last : undefined;
    return page;
  }

  close(): void {
    if (this.#tables.db.isOpen) this.#tables.db.close();
  }
}
