import type { LeaseRequest } from '#shared/sync/lease-request.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { JournalTables } from './journal-tables.ts';

/**
 * Whether a lease is for a tick of a job. No record carries its fence, so it need not exceed an earlier journal's. Its taker expects
 * fence 1 if nobody had that tick (web/gateway/automation/cron/job-coordinator.ts).
 */
const isTickLease = (name: string): boolean => name.startsWith('cron:');

/**
 * Takes a lease, within a transaction. Returns the fence, higher than any other holder's; the same fence when renewing. Null if another
 * holder's lease has not expired or that holder is present.
 */
export function takeLease(tables: JournalTables, { name, holder, presumed, ttlMs, present }: LeaseRequest, now: number): number | null {
  const isPresent = (origin: string): boolean => present === null || present.includes(origin);
  const earlier = isTickLease(name) ? 0 : tables.meta.fences;
  const lease = tables.sql('SELECT holder, fence, until FROM leases WHERE name = ?').get(name);
  let fence: number;
  if (!lease) {
    if (presumed !== undefined && presumed !== holder && isPresent(presumed)) return null;
    // The presumed holder has fence 1 without taking a lease.
    fence = Math.max(presumed === undefined ? 0 : 1, earlier) + 1;
  } else if (lease.holder === holder) {
    fence = Number(lease.fence);
  } else {
    if (typeof lease.holder === 'string' && (Number(lease.until) > now || isPresent(lease.holder))) return null;
    fence = Math.max(Number(lease.fence), earlier) + 1;
  }
  tables.sql('INSERT OR REPLACE INTO leases (name, holder, fence, until) VALUES (?, ?, ?, ?)').run(name, holder, fence, now + ttlMs);
  return fence;
}

/** Releases a lease but remembers its fence. Does nothing if another holder has it. */
export function releaseLease(tables: JournalTables, name: string, holder: string, fence: number): void {
  tables.sql('UPDATE leases SET holder = NULL, until = 0 WHERE name = ? AND holder = ? AND fence = ?').run(name, holder, fence);
}

/**
 * Raises the minimum fence of future leases, except for ticks. A record with a higher fence than any given here was written under an
 * earlier journal's lost leases. (Fence 1 needs no lease.) Only runs get their fences from leases; in other stores they are stages of a
 * record.
 */
export function raiseMinFence(tables: JournalTables, { store, fence = 0 }: Pick<SyncRecord, 'store' | 'fence'>): void {
  if (store !== 'runs') return;
  if (fence <= Math.max(1, tables.meta.fences)) return;
  const maxFence = Number(tables.sql('SELECT max(fence) AS given FROM leases').get()?.given ?? 0);
  if (fence > maxFence) tables.meta.fences = fence;
}
