import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { SYNC_STORES, type SyncStore } from '#shared/sync/stores.ts';
import type { RecordRow } from './row-seal.ts';

const isKnownStore = (store: string): store is SyncStore => Object.hasOwn(SYNC_STORES, store);

/** Converts a record to a row. SQLite stores UTF-8, which has no lone surrogates: they become U+FFFD before the row is signed. */
export function toRow(record: SyncRecord, { seq, pusher, at }: Pick<RecordRow, 'seq' | 'pusher' | 'at'>): RecordRow {
  const { store, key, clock, fence, base, deleted, seal, payload, blobs } = record;
  return {
    seq,
    store,
    key: key.toWellFormed(),
    clock,
    fence: fence ?? null,
    base: base === undefined ? null : (base ?? ''),
    deleted: deleted ? 1 : 0,
    seal,
    pusher,
    at,
    blobs: blobs ? JSON.stringify(blobs) : null,
    payload: payload?.toWellFormed() ?? null,
  };
}

/** Converts a row to a record; undefined for a store or seal of a newer build, which stays in the journal. */
export function toRecord({ seq, store, key, clock, fence, base, deleted, seal, payload, blobs }: RecordRow): SequencedRecord | undefined {
  if (!isKnownStore(store) || seal !== 'none') return undefined;
  const record: SequencedRecord = { seq, store, key, clock, seal, payload };
  if (fence !== null) record.fence = fence;
  if (base !== null) record.base = base === '' ? null : base;
  if (deleted) record.deleted = true;
  if (blobs !== null) record.blobs = parseHashes(blobs);
  return record;
}

function parseHashes(text: string): string[] {
  const hashes: unknown = JSON.parse(text);
  if (!Array.isArray(hashes) || !hashes.every((hash) => typeof hash === 'string'))
    throw new Error('the attachments of a record can’t be read');
  return hashes;
}
