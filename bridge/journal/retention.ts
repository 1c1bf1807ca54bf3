import type { Tables } from './tables.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a deletion is remembered, by when it was accepted: a replica that was away for longer is `stale`. */
const TOMBSTONE_MS = 90 * DAY_MS;
/** How long an attachment may lie here before a record refers to it, or after the last one did. */
const BLOB_MS = DAY_MS;
/** How long it is remembered who had a tick of a job: the record of its run, which came with it, says so from then on. */
const TICK_LEASE_MS = DAY_MS;

/** Forgets, in a transaction, old deletions, attachments that nothing refers to, and leases of ticks long past. */
export function prune(tables: Tables, now: number): void {
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
