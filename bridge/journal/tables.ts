import { randomUUID } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { SequencedRecord } from '#shared/ports/journal.ts';
import { BATCH } from '#shared/ports/journal-batch.ts';
import { mergeInto } from '#shared/sync/conflict.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { wins } from '#shared/sync/version.ts';
import { Damaged } from './failures.ts';
import { toRecord, toRow } from './records.ts';
import type { Row, RowSeal } from './row-seal.ts';

/** What the journal knows of itself. */
export interface Meta {
  id: string;
  /** The newest sequence number that was given out. None is given out twice. */
  head: number;
  /** The newest schema among those who wrote. */
  schema: number;
  /** The newest sequence number of a tombstone that is no longer kept. */
  pruned: number;
  /** The highest fence among pushed records that no lease of this journal can have given: leases of an earlier journal did. */
  fences: number;
}

/** A page of records; `damaged` are rows that are not what was written. */
export interface Page {
  records: SequencedRecord[];
  /** Sequence numbers of rows that are not what was written. */
  damaged: SQLOutputValue[];
  /** The last row that was looked at and is what was written. */
  last: Row | undefined;
  /** It ended because it was full. */
  full: boolean;
}

const NOTICES = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The journal's tables through one connection. What changes them is called between `begin` and `commit`. */
export class Tables {
  readonly db: DatabaseSync;
  readonly seal: RowSeal;
  /** As of the last `begin` or `reload`, with what was changed since. */
  meta: Meta;
  #stored: Meta;
  #version: unknown;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, seal: RowSeal) {
    this.db = db;
    this.seal = seal;
    this.#version = this.#dataVersion();
    this.meta = this.#stored = this.#readMeta();
  }

  /** A statement that is prepared once; integers come as bigint. */
  sql(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.db.prepare(text);
      statement.setReadBigInts(true);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** Another connection has written since. */
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

  /** Merges a record into what is there (shared/sync/conflict.ts); the copies that it made of losers. */
  accept(record: SyncRecord, pusher: string | null, at: number): number {
    const row = this.#current(record.store, record.key.toWellFormed(), at);
    const current = row && toRecord(row);
    if (row && !current) {
      // A newer build wrote it in a way that cannot be compared, but for who wins.
      if (wins(record, { clock: row.clock, fence: row.fence ?? undefined })) this.put(toRow(record, { seq: ++this.meta.head, pusher, at }));
      return 0;
    }
    const { stored, copy } = mergeInto(current, record);
    if (stored) this.put(toRow(stored, { seq: ++this.meta.head, pusher, at }));
    if (!copy) return 0;
    this.accept(copy, null, at);
    return 1;
  }

  /** Writes a row, signed, in the place of the one that has its store and key. */
  put(row: Row): void {
    const { seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload } = row;
    this.sql(
      'INSERT OR REPLACE INTO records (seq, store, key, clock, fence, base, deleted, seal, pusher, at, mac, blobs, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(seq, store, key, clock, fence, base, deleted, seal, pusher, at, this.seal.mac(row), blobs, payload);
  }

  /** Records after a sequence number, but for those that `except` pushed; at most `limit` and what one batch carries. */
  page(after: number, limit: number, except: string | null): Page {
    const sql = 'SELECT * FROM records WHERE seq > ?1 AND (?2 IS NULL OR pusher IS NOT ?2) ORDER BY seq';
    return this.#collect(this.sql(sql).iterate(after, except), limit);
  }

  /** Records by store and key, after those. */
  pageByKey({ store, key }: Pick<Row, 'store' | 'key'>): Page {
    return this.#collect(
      this.sql('SELECT * FROM records WHERE (store, key) > (?, ?) ORDER BY store, key').iterate(store, key),
      BATCH.records,
    );
  }

  #collect(rows: Iterable<Record<string, SQLOutputValue>>, limit: number): Page {
    const page: Page = { records: [], damaged: [], last: undefined, full: false };
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
        if (page.records.length > 0 && chars > BATCH.chars) return { ...page, full: true };
        page.records.push(record);
      }
      page.last = row;
    }
    return page;
  }

  /** Removes what is not as it was written, and becomes another journal by it, so that whoever has it right pushes it again. */
  drop(table: 'records' | 'blobs', which: SQLOutputValue, now: number): void {
    this.sql(table === 'records' ? 'DELETE FROM records WHERE seq = ?' : 'DELETE FROM blobs WHERE hash = ?').run(which);
    this.meta.id = randomUUID();
    const what = table === 'records' ? 'A record' : 'An attachment';
    this.note(`${what} in the journal was damaged or changed by another program. It was removed, and hosts restore it.`, now);
  }

  /** Keeps a sentence for the person; the same one once a day. */
  note(message: string, now: number): void {
    this.sql('DELETE FROM notices WHERE message = ? AND at > ?').run(message, now - DAY_MS);
    this.sql('INSERT INTO notices (at, message) VALUES (?, ?)').run(now, message);
    this.sql('DELETE FROM notices WHERE number <= (SELECT max(number) FROM notices) - ?').run(NOTICES);
  }

  /** What was noted last. */
  notice(): string | undefined {
    const message = this.sql('SELECT message FROM notices ORDER BY number DESC LIMIT 1').get()?.message;
    return typeof message === 'string' ? message : undefined;
  }

  #current(store: string, key: string, now: number): Row | undefined {
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

  #readMeta(): Meta {
    const rows = this.sql('SELECT name, value FROM meta').all();
    const said = new Map(rows.map(({ name, value }) => [name, value]));
    const text = (name: keyof Meta, form: RegExp): string => {
      const value = said.get(name);
      if (typeof value !== 'string' || !form.test(value)) throw new Damaged('its metadata can’t be read');
      return value;
    };
    const count = (name: keyof Meta): number => Number(text(name, /^\d{1,15}$/));
    return { id: text('id', /./), head: count('head'), schema: count('schema'), pruned: count('pruned'), fences: count('fences') };
  }
}
