import type { SyncRecord } from './record.ts';
import { SYNC_STORES } from './stores.ts';
import { ANCESTORS, originOf, wins } from './version.ts';

/** A version that lost against one that was written apart from it, kept for the person to look at. */
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
  /** A copy of the version that lost, as a record of its own. */
  copy: SyncRecord | null;
}

/**
 * Last writer wins, by `wins`. Where neither version was made from the other, and their store keeps copies, the loser becomes a record of `conflicts` with
 * the loser's own reading, so that whoever makes it makes the same. One writer's versions always follow one another.
 */
export function mergeInto(current: SyncRecord | undefined, incoming: SyncRecord): Merged {
  if (!current) return { stored: incoming, copy: null };
  if (current.clock === incoming.clock) return { stored: null, copy: null };
  const newer = wins(incoming, current);
  const [winner, loser] = newer ? [incoming, current] : [current, incoming];
  const apart = SYNC_STORES[incoming.store].conflicts && !includes(incoming, current) && !includes(current, incoming);
  return { stored: newer ? incoming : null, copy: apart ? copyOf(loser, winner) : null };
}

/** The versions that one includes beside itself, the latest first, as far as it remembers. */
export const included = ({ base, ancestors = [] }: Pick<SyncRecord, 'base' | 'ancestors'>): string[] => [
  ...(base ? [base] : []),
  ...ancestors,
];

/**
 * A version as others are to take it: made from the one that is there, with which it was merged. `there`: its clock (empty where that cannot be read), and what it
 * includes; undefined where there is none.
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

/** Whether `one` was made from a version, or from what was made from that, as far as it remembers. */
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
