import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { computeSha256 } from './blobs.ts';
import { raiseMinFence } from './leases.ts';
import { toRecord } from './record-rows.ts';
import type { JournalTables } from './journal-tables.ts';

/** Number of unreadable rows in sequence after which the step size doubles. */
const MAX_UNREADABLE_ROWS = 10_000;

/**
 * Copies all readable and valid data of a damaged journal to another one, within its transaction: records (merged), leases, attachments.
 * Returns the number of records.
 */
export function salvageRecords(from: DatabaseSync, tables: JournalTables): number {
  // SQLite rejects a file that is shorter than its header says, unless in repair mode (sqlite.org/pragma.html, "writable_schema").
  enableRepair(from);
  // Leases first: they contain the fences that were given.
  for (const { name, holder, fence, until } of iterateReadable(from, 'SELECT *, rowid AS row FROM leases WHERE rowid > ? ORDER BY rowid')) {
    if (typeof name !== 'string' || typeof fence !== 'bigint' || typeof until !== 'bigint') continue;
    const sql = `INSERT INTO leases (name, holder, fence, until) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name)
      DO UPDATE SET holder = ?2, fence = ?3, until = ?4 WHERE fence < ?3`;
    tables.sql(sql).run(name, typeof holder === 'string' ? holder : null, fence, until);
  }
  let records = 0;
  for (const raw of iterateReadable(from, 'SELECT *, seq AS row FROM records WHERE seq > ? ORDER BY seq')) {
    const row = tables.seal.read(raw);
    if (!row) continue;
    records++;
    const record = toRecord(row);
    if (record) {
      raiseMinFence(tables, record);
      tables.accept(record, row.pusher, row.at);
    } else if (!tables.sql('SELECT 1 FROM records WHERE store = ? AND key = ?').get(row.store, row.key)) {
      tables.put({ ...row, seq: ++tables.meta.head });
    }
  }
  for (const { hash, at, bytes } of iterateReadable(from, 'SELECT *, rowid AS row FROM blobs WHERE rowid > ? ORDER BY rowid')) {
    if (!(bytes instanceof Uint8Array) || typeof hash !== 'string' || typeof at !== 'bigint') continue;
    if (computeSha256(bytes) !== hash) continue;
    tables.sql('INSERT OR IGNORE INTO blobs (hash, at, bytes) VALUES (?, ?, ?)').run(hash, at, bytes);
  }
  for (const { value } of iterateReadable(from, "SELECT value, 1 AS row FROM meta WHERE name = 'schema' AND ? < 1")) {
    const schema = Number(value);
    if (Number.isSafeInteger(schema)) tables.meta.schema = Math.max(tables.meta.schema, schema);
  }
  return records;
}

function enableRepair(db: DatabaseSync): void {
  // Node.js before 24.12 has no such switch, and does not block this.
  if ('enableDefensive' in db) db.enableDefensive(false);
  tryPrepare(db, 'PRAGMA writable_schema = ON')?.run();
}

/** Iterates over the rows of a query that takes the row id to continue after and returns it as `row`. Skips unreadable rows. */
function* iterateReadable(db: DatabaseSync, sql: string): Generator<Record<string, SQLOutputValue>> {
  const statement = tryPrepare(db, sql);
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
      if (++misses > MAX_UNREADABLE_ROWS) step *= 2n;
      after += step;
    }
  }
}

/** Prepares a statement; undefined if not even the list of tables can be read. */
function tryPrepare(db: DatabaseSync, sql: string): StatementSync | undefined {
  try {
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  } catch {
    return undefined;
  }
}
