import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { hashOf } from './blobs.ts';
import { noteFence } from './leases.ts';
import { toRecord } from './records.ts';
import type { Tables } from './tables.ts';

/** Number of unreadable rows in sequence after which the step size doubles. */
const PATIENCE = 10_000;

/**
 * Copies all readable and valid data of a damaged journal to another one, within its transaction: records (merged), leases, attachments.
 * Returns the number of records.
 */
export function salvage(from: DatabaseSync, into: Tables): number {
  // SQLite rejects a file that is shorter than its header says, unless in repair mode (sqlite.org/pragma.html, "writable_schema").
  allowRepair(from);
  // Leases first: they contain the fences that were given.
  for (const { name, holder, fence, until } of readable(from, 'SELECT *, rowid AS row FROM leases WHERE rowid > ? ORDER BY rowid')) {
    if (typeof name !== 'string' || typeof fence !== 'bigint' || typeof until !== 'bigint') continue;
    const sql = `INSERT INTO leases (name, holder, fence, until) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name)
      DO UPDATE SET holder = ?2, fence = ?3, until = ?4 WHERE fence < ?3`;
    into.sql(sql).run(name, typeof holder === 'string' ? holder : null, fence, until);
  }
  let records = 0;
  for (const raw of readable(from, 'SELECT *, seq AS row FROM records WHERE seq > ? ORDER BY seq')) {
    const row = into.seal.read(raw);
    if (!row) continue;
    records++;
    const record = toRecord(row);
    if (record) {
      noteFence(into, record);
      into.accept(record, row.pusher, row.at);
    } else if (!into.sql('SELECT 1 FROM records WHERE store = ? AND key = ?').get(row.store, row.key)) {
      into.put({ ...row, seq: ++into.meta.head });
    }
  }
  for (const { hash, at, bytes } of readable(from, 'SELECT *, rowid AS row FROM blobs WHERE rowid > ? ORDER BY rowid')) {
    if (!(bytes instanceof Uint8Array) || typeof hash !== 'string' || typeof at !== 'bigint') continue;
    if (hashOf(bytes) !== hash) continue;
    into.sql('INSERT OR IGNORE INTO blobs (hash, at, bytes) VALUES (?, ?, ?)').run(hash, at, bytes);
  }
  for (const { value } of readable(from, "SELECT value, 1 AS row FROM meta WHERE name = 'schema' AND ? < 1")) {
    const schema = Number(value);
    if (Number.isSafeInteger(schema)) into.meta.schema = Math.max(into.meta.schema, schema);
  }
  return records;
}

function allowRepair(db: DatabaseSync): void {
  // Node.js before 24.12 has no such switch, and does not block this.
  if ('enableDefensive' in db) db.enableDefensive(false);
  prepared(db, 'PRAGMA writable_schema = ON')?.run();
}

/** Iterates over the rows of a query that takes the row id to continue after and returns it as `row`. Skips unreadable rows. */
function* readable(db: DatabaseSync, sql: string): Generator<Record<string, SQLOutputValue>> {
  const statement = prepared(db, sql);
  let after = 0n;
  let step = 1n;
  let misses = 0;
  while (statement && after < 2n ** 62n) {
    try {
      for (const raw of statement.iterate(after)) {
        if (typeof raw.row === 'bigint') after = raw.row;
        misses = 0;
        step = 1n;
        yield raw;
      }
      return;
    } catch {
      // For any read error, continue: later rows may be intact.
      if (++misses > PATIENCE) step *= 2n;
      after += step;
    }
  }
}

/** Prepares a statement; undefined if not even the list of tables can be read. */
function prepared(db: DatabaseSync, sql: string): StatementSync | undefined {
  try {
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  } catch {
    return undefined;
  }
}
