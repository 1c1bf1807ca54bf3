import type { SyncRecord } from './record.ts';
import { SYNC_STORES } from './stores.ts';
import { ANCESTORS, originOf, wins } from './version.ts';

/** A version that lost against a concurrent one, kept for the person to look at. */
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
export interface Merged {
  /** Null: the journal stays as it is. */
  stored: SyncRecord | null;
  /** A copy of the losing version, as a separate record. */
  copy: SyncRecord | null;
}

/**
 * Last writer wins, by `wins`. If the versions are concurrent and their store keeps copies, the loser becomes a record of `conflicts` with
 * the loser's own clock, so that every replica creates the same record. Versions of one writer are never concurrent.
 */
export function mergeInto(current: SyncRecord | undefined, incoming: SyncRecord): Merged {
  if (!current) return { stored: incoming, copy: null };
  if (current.clock === incoming.clock) return { stored: null, copy: null };
  const newer = wins(incoming, current);
  const [winner, loser] = newer ? [incoming, current] : [current, incoming];
  const apart = SYNC_STORES[incoming.store].conflicts && !includes(incoming, current) && !includes(current, incoming);
  return { stored: newer ? incoming : null, copy: apart ? copyOf(loser, winner) : null };
}

/** The known ancestors of a version, latest first. */
export const included = ({ base, ancestors = [] }: Pick<SyncRecord, 'base' | 'ancestors'>): string[] => [
  ...(base ? [base] : []),
  ...ancestors,
];

/**
 * Rebases a version on the existing one with which it was merged. `there`: its clock (empty if it cannot be read) and its ancestors;
 * undefined if there is none.
 */
export function onTop(record: SyncRecord, there: { clock: string; included: readonly string[] } | undefined): SyncRecord {
  if (!SYNC_STORES[record.store].conflicts) return record;
  const { ancestors: _, ...own } = record;
  if (!there?.clock) return { ...own, base: null };
  const seen = new Set([originOf(record.clock), originOf(there.clock)]);
  const latest = [...there.included, ...included(record)].toSorted().toReversed();
  const ancestors = latest.filter((clock) => !seen.has(originOf(clock)) && seen.add(originOf(clock))).slice(0, ANCESTORS);
  return { ...own, base: there.clock, ...(ancestors.length > 0 && { ancestors }) };
}

/** Whether `one` was derived from a version or its successors, as far as its ancestors are known. */
const includes = (one: SyncRecord, { clock }: SyncRecord): boolean =>
  [one.clock, ...included(one)].some((known) => originOf(known) === originOf(clock) && known >= clock);

/** Whether both end the active branch at the same message; the times that they note are nothing to choose between. */
function isSameHead(one: SyncRecord, other: SyncRecord): boolean {
  if (one.store !== 'heads') return false;
  const id = headId(one);
  return id !== undefined && id === headId(other);
}

function headId({ payload }: SyncRecord): unknown {
  try {
    return (JSON.parse(payload ?? '') as { headId?: unknown }).headId;
  } catch {
    return undefined;
  }
}

function copyOf(loser: SyncRecord, winner: SyncRecord): SyncRecord | null {
  const { store, key, clock, payload, blobs } = loser;
  if (payload === null || payload === winner.payload || isSameHead(loser, winner)) return null;
  const id = `${store}/${key}/${clock}`;
  const copy: ConflictCopy = { id, store, key, clock, payload };
  return { store: 'conflicts', key: id, clock, seal: 'none', payload: JSON.stringify(copy), ...(blobs ? { blobs } : {}) };
}
