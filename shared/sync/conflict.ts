import type { SyncRecord } from './record.ts';
import { SYNC_STORES } from './stores.ts';
import { MAX_ANCESTORS, getClockOrigin, wins } from './version.ts';

/** A version that lost against a concurrent one, kept for the user to review. */
export interface ConflictCopy {
  /** `<store>/<key>/<clock>` of the version that lost: the same on every replica. */
  id: string;
  store: string;
  key: string;
  /** The losing version: its reading, and its record as JSON. */
  clock: string;
  payload: string;
}

/** Result for the journal's version (`current`) when `incoming` arrives. */
interface MergeResult {
  /** Null: the journal stays as it is. */
  stored: SyncRecord | null;
  /** A copy of the losing version, as a separate record. */
  copy: SyncRecord | null;
}

/**
 * Last writer wins, by `wins`. If the versions are concurrent and their store keeps copies, the loser becomes a record of `conflicts` with
 * the loser's own clock, so that every replica creates the same record. Versions of one writer are never concurrent.
 */
export function mergeRecord(current: SyncRecord | undefined, incoming: SyncRecord): MergeResult {
  if (!current) return { stored: incoming, copy: null };
  if (current.clock === incoming.clock) return { stored: null, copy: null };
  const isNewer = wins(incoming, current);
  const [winner, loser] = isNewer ? [incoming, current] : [current, incoming];
  const isConcurrent = SYNC_STORES[incoming.store].conflicts && !isDerivedFrom(incoming, current) && !isDerivedFrom(current, incoming);
  return { stored: isNewer ? incoming : null, copy: isConcurrent ? createConflictCopy(loser, winner) : null };
}

/** The known ancestors of a version, latest first. */
export const getAncestors = ({ base, ancestors = [] }: Pick<SyncRecord, 'base' | 'ancestors'>): string[] => [
  ...(base ? [base] : []),
  ...ancestors,
];

/**
 * Rebases a version on the existing one with which it was merged. `existing`: its clock (empty if it cannot be read) and its ancestors;
 * undefined if there is none.
 */
export function rebaseRecord(record: SyncRecord, existing: { clock: string; included: readonly string[] } | undefined): SyncRecord {
  if (!SYNC_STORES[record.store].conflicts) return record;
  const { ancestors: _, ...own } = record;
  if (!existing?.clock) return { ...own, base: null };
  const seenOrigins = new Set([getClockOrigin(record.clock), getClockOrigin(existing.clock)]);
  const latest = [...existing.included, ...getAncestors(record)].toSorted().toReversed();
  const ancestors = latest
    .filter((clock) => !seenOrigins.has(getClockOrigin(clock)) && seenOrigins.add(getClockOrigin(clock)))
    .slice(0, MAX_ANCESTORS);
  return { ...own, base: existing.clock, ...(ancestors.length > 0 && { ancestors }) };
}

/** Whether `record` was derived from a version or its successors, as far as its ancestors are known. */
const isDerivedFrom = (record: SyncRecord, { clock }: SyncRecord): boolean =>
  [record.clock, ...getAncestors(record)].some((ancestor) => getClockOrigin(ancestor) === getClockOrigin(clock) && ancestor >= clock);

/** Whether both end the active branch at the same message. Their times are ignored. */
function isSameHead(first: SyncRecord, second: SyncRecord): boolean {
  if (first.store !== 'heads') return false;
  const id = readHeadId(first);
  return id !== undefined && id === readHeadId(second);
}

function readHeadId({ payload }: SyncRecord): unknown {
  try {
    return (JSON.parse(payload ?? '') as { headId?: unknown }).headId;
  } catch {
    return undefined;
  }
}

function createConflictCopy(loser: SyncRecord, winner: SyncRecord): SyncRecord | null {
  const { store, key, clock, payload, blobs } = loser;
  if (payload === null || payload === winner.payload || isSameHead(loser, winner)) return null;
  const id = `${store}/${key}/${clock}`;
  const copy: ConflictCopy = { id, store, key, clock, payload };
  return { store: 'conflicts', key: id, clock, seal: 'none', payload: JSON.stringify(copy), ...(blobs ? { blobs } : {}) };
}
