import { included, type SyncRecord } from './record.ts';
import { SYNC_STORES } from './stores.ts';
import { originOf, wins } from './version.ts';

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

/** What becomes of the version that the journal has (`current`) when `incoming` arrives. */
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

/** Whether `one` was made from a version, or from what was made from that, as far as it remembers. */
const includes = (one: SyncRecord, { clock }: SyncRecord): boolean =>
  [one.clock, ...included(one)].some((known) => originOf(known) === originOf(clock) && known >= clock);

function copyOf(loser: SyncRecord, winner: SyncRecord): SyncRecord | null {
  const { store, key, clock, payload, blobs } = loser;
  if (payload === null || payload === winner.payload) return null;
  const id = `${store}/${key}/${clock}`;
  const copy: ConflictCopy = { id, store, key, clock, payload };
  return { store: 'conflicts', key: id, clock, seal: 'none', payload: JSON.stringify(copy), ...(blobs ? { blobs } : {}) };
}
