import type { JournalTables } from './journal-tables.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a deletion is kept after it was accepted. A replica away for longer is `stale`. */
const TOMBSTONE_MS = 90 * DAY_MS;
/** How long an attachment is kept before a record refers to it, or after the last reference is gone. */
const BLOB_MS = DAY_MS;
/** How long the lease of a job's tick is kept. After that, the record of its run shows who had it. */
const TICK_LEASE_MS = DAY_MS;

/** Removes old deletions, unreferenced attachments and old leases of ticks, within a transaction. */
export function pruneExpired(tables: JournalTables, now: number): void {
  const old = now - TOMBSTONE_MS;
  const newest = tables.sql('SELECT max(seq) AS newest FROM records WHERE deleted = 1 AND at < ?').get(old)?.newest;
  if (newest != null) {
    tables.meta.pruned = Math.max(tables.meta.pruned, Number(newest));
    tables.sql('DELETE FROM records WHERE deleted = 1 AND at < ?').run(old);
  }
  tables
    .sql(
      `DELETE FROM blobs WHERE at < ? AND hash NOT IN (
        SELECT used.value FROM records, json_each(records.blobs) AS used WHERE records.blobs IS NOT NULL AND json_valid(records.blobs)
      )`,
    )
    .run(now - BLOB_MS);
  tables.sql(`DELETE FROM leases WHERE until < ? AND (name LIKE 'cron:%' OR name LIKE 'run:cron:%')`).run(now - TICK_LEASE_MS);
}
