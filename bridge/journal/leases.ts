import type { LeaseWanted } from '#shared/sync/lease.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Tables } from './tables.ts';

/**
 * Who runs a tick of a job. No record carries its fence, which need not be above an earlier journal's therefore; and its taker goes by it: 1 where nobody had
 * that tick (web/gateway/core/cron/turn.ts).
 */
const isTick = (name: string): boolean => name.startsWith('cron:');

/**
 * Takes a lease, in a transaction: the fence, higher than every one that another holder had; the same where one's own is renewed. Null: somebody else's, by
 * its time or by being there.
 */
export function takeLease(tables: Tables, { name, holder, presumed, ttlMs, present }: LeaseWanted, now: number): number | null {
  const isThere = (origin: string): boolean => present === null || present.includes(origin);
  const earlier = isTick(name) ? 0 : tables.meta.fences;
  const lease = tables.sql('SELECT holder, fence, until FROM leases WHERE name = ?').get(name);
  let fence: number;
  if (!lease) {
    if (presumed !== undefined && presumed !== holder && isThere(presumed)) return null;
    // The presumed holder has had the fence 1 without asking.
    fence = Math.max(presumed === undefined ? 0 : 1, earlier) + 1;
  } else if (lease.holder === holder) {
    fence = Number(lease.fence);
  } else {
    if (typeof lease.holder === 'string' && (Number(lease.until) > now || isThere(lease.holder))) return null;
    fence = Math.max(Number(lease.fence), earlier) + 1;
  }
  tables.sql('INSERT OR REPLACE INTO leases (name, holder, fence, until) VALUES (?, ?, ?, ?)').run(name, holder, fence, now + ttlMs);
  return fence;
}

/** Gives it back; its fence is remembered. Nothing happens where somebody else has it. */
export function releaseLease(tables: Tables, name: string, holder: string, fence: number): void {
  tables.sql('UPDATE leases SET holder = NULL, until = 0 WHERE name = ? AND holder = ? AND fence = ?').run(name, holder, fence);
}

/**
 * Records that come with a higher fence than any that was given out here were written under an earlier journal's leases, which are lost: those to come begin
 * above them, but for ticks. (The fence 1 is had without a lease.) Runs alone have theirs from leases: other stores' are stages of a record.
 */
export function noteFence(tables: Tables, { store, fence = 0 }: Pick<SyncRecord, 'store' | 'fence'>): void {
  if (store !== 'runs') return;
  if (fence <= Math.max(1, tables.meta.fences)) return;
  const given = Number(tables.sql('SELECT max(fence) AS given FROM leases').get()?.given ?? 0);
  if (fence > given) tables.meta.fences = fence;
}
