import { randomUUID } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { MAX_JOURNAL_BATCH } from '#shared/ports/journal-batch.ts';
import { mergeRecord } from '#shared/sync/conflict.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { wins } from '#shared/sync/version.ts';
import { DamagedJournalError } from './failures.ts';
import { toRecord, toRow } from './record-rows.ts';
import type { RecordRow, RowSeal } from './row-seal.ts';

/** The journal's metadata. */
interface JournalMeta {
  id: string;
  /** Newest sequence number given. Numbers are never reused. */
  head: number;
  /** Newest schema of all writers. */
  schema: number;
  /** Newest sequence number of a removed tombstone. */
  pruned: number;
  /** Highest fence among pushed records that was not given by a lease of this journal, so that an earlier journal gave it. */
  fences: number;
}

/** A page of records. `damaged`: invalid rows. */
export interface RecordPage {
  records: SequencedRecord[];
  /** Sequence numbers of invalid rows. */
  damaged: SQLOutputValue[];
  /** Last valid row that was read. */
  last: RecordRow | undefined;
  /** Whether the page ended because it was full. */
  full: boolean;
}

const MAX_NOTICES = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The journal's tables through one connection. Changes must be made between `begin` and `commit`. */
export class JournalTables {
  readonly db: DatabaseSync;
  readonly seal: RowSeal;
  /** Metadata as of the last `begin` or `reload`, with changes since. */
  meta: JournalMeta;
  #stored: JournalMeta;
  #version: unknown;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, seal: RowSeal) {
    this.db = db;
    this.seal = seal;
    this.#version = this.#dataVersion();
    this.meta = this.#stored = this.#readMeta();
  }

  /** Returns a cached prepared statement. Integers are read as bigint. */
  sql(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.db.prepare(text);
      statement.setReadBigInts(true);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** Whether another connection has written since. */
  get isBehind(): boolean {
    return this.#dataVersion() !== this.#version;
  }

  reload(): void {
    const version = this.#dataVersion();
    if (version !== this.#version) this.#stored = this.#readMeta();
    this.#version = version;
    this.meta = { ...this.#stored };
  }

  begin(): void {
    this.sql('BEGIN IMMEDIATE').run();
    this.reload();
  }

  commit(): void {
    for (const name of ['id', 'head', 'schema', 'pruned', 'fences'] as const) {
      if (this.meta[name] !== this.#stored[name]) this.sql('UPDATE meta SET value = ? WHERE name = ?').run(String(this.meta[name]), name);
    }
    this.sql('COMMIT').run();
    this.#stored = { ...this.meta };
  }

  rollback(): void {
    if (this.db.isTransaction) this.db.exec('ROLLBACK');
    this.meta = { ...this.#stored };
  }

  /**
   * Merges a record with the stored version (shared/sync/conflict.ts). Returns the number of copies of losing versions that were created.
   */
  accept(record: SyncRecord, pusher: string | null, at: number): number {
    const row = this.#current(record.store, record.key.toWellFormed(), at);
    const current = row && toRecord(row);
    if (row && !current) {
      // A newer build's version can't be merged; only the winner can be determined.
      if (wins(record, { clock: row.clock, fence: row.fence ?? undefined })) this.put(toRow(record, { seq: ++this.meta.head, pusher, at }));
      return 0;
    }
    const { stored, copy } = mergeRecord(current, record);
    if (stored) this.put(toRow(stored, { seq: ++this.meta.head, pusher, at }));
    if (!copy) return 0;
    this.accept(copy, null, at);
    return 1;
  }

  /** Writes a signed row, replacing the one with the same store and key. */
  put(row: RecordRow): void {
    const { seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload } = row;
    this.sql(
      'INSERT OR REPLACE INTO records (seq, store, key, clock, fence, base, deleted, seal, pusher, at, mac, blobs, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(seq, store, key, clock, fence, base, deleted, seal, pusher, at, this.seal.mac(row), blobs, payload);
  }

  /** Reads records after a sequence number, skipping those pushed by `except`: at most `limit`, and no more than fit in a batch. */
  page(after: number, limit: number, except: string | null): RecordPage {
    const sql = 'SELECT * FROM records WHERE seq > ?1 AND (?2 IS NULL OR pusher IS NOT ?2) ORDER BY seq';
    return this.#collect(this.sql(sql).iterate(after, except), limit);
  }

  /** Reads the next records by store and key. */
  pageByKey({ store, key }: Pick<RecordRow, 'store' | 'key'>): RecordPage {
    return this.#collect(
      this.sql('SELECT * FROM records WHERE (store, key) > (?, ?) ORDER BY store, key').iterate(store, key),
      MAX_JOURNAL_BATCH.records,
    );
  }

  #collect(rows: Iterable<Record<string, SQLOutputValue>>, limit: number): RecordPage {
    const page: RecordPage = { records: [], damaged: [], last: undefined, full: false };
    let chars = 0;
    for (const raw of rows) {
      if (page.records.length >= limit) return { ...page, full: true };
      const row = this.seal.read(raw);
      if (!row) {
        page.damaged.push(raw.seq ?? null);
        continue;
      }
      const record = toRecord(row);
      if (record) {
        chars += record.payload?.length ?? 0;
        if (page.records.length > 0 && chars > MAX_JOURNAL_BATCH.chars) return { ...page, full: true };
        page.records.push(record);
      }
      page.last = row;
    }
    return page;
  }

  /** Removes an invalid row and changes the journal's id, so that replicas with the correct data push it again. */
  drop(table: 'records' | 'blobs', which: SQLOutputValue, now: number): void {
    this.sql(table === 'records' ? 'DELETE FROM records WHERE seq = ?' : 'DELETE FROM blobs WHERE hash = ?').run(which);
    this.meta.id = randomUUID();
    const label = table === 'records' ? 'A record' : 'An attachment';
    this.note(`${label} in the journal was damaged or changed by another program. It was removed, and hosts restore it.`, now);
  }

  /** Stores a notice for the user; the same one at most once a day. */
  note(message: string, now: number): void {
    this.sql('DELETE FROM notices WHERE message = ? AND at > ?').run(message, now - DAY_MS);
    this.sql('INSERT INTO notices (at, message) VALUES (?, ?)').run(now, message);
    this.sql('DELETE FROM notices WHERE number <= (SELECT max(number) FROM notices) - ?').run(MAX_NOTICES);
  }

  /** Returns the latest notice. */
  notice(): string | undefined {
    const message = this.sql('SELECT message FROM notices ORDER BY number DESC LIMIT 1').get()?.message;
    return typeof message === 'string' ? message : undefined;
  }

  #current(store: string, key: string, now: number): RecordRow | undefined {
    const raw = this.sql('SELECT * FROM records WHERE store = ? AND key = ?').get(store, key);
    if (!raw) return undefined;
    const row = this.seal.read(raw);
    if (!row) this.drop('records', raw.seq ?? null, now);
    return row ?? undefined;
  }

  /** Changes when another connection has written. */
  #dataVersion(): unknown {
    return this.sql('PRAGMA data_version').get()?.data_version;
  }

  #readMeta(): JournalMeta {
    const rows = this.sql('SELECT name, value FROM meta').all();
    const values = new Map(rows.map(({ name, value }) => [name, value]));
    const text = (name: keyof JournalMeta, form: RegExp): string => {
      const value = values.get(name);
      if (typeof value !== 'string' || !form.test(value)) throw new DamagedJournalError('its metadata can’t be read');
      return value;
    };
    const count = (name: keyof JournalMeta): number => Number(text(name, /^\d{1,15}$/));
    return { id: text('id', /./), head: count('head'), schema: count('schema'), pruned: count('pruned'), fences: count('fences') };
  }
}
