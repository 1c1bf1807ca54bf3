import { z } from '../rpc/zod.ts';
import { SYNC_STORES, type SyncStore } from './stores.ts';
import { MAX_ANCESTORS } from './version.ts';

export { SYNC_STORES, type SyncStore } from './stores.ts';
export { getClockOrigin, type Version, getClockTime, wins } from './version.ts';

const SYNC_STORE_NAMES = Object.keys(SYNC_STORES) as [SyncStore, ...SyncStore[]];

/** A reading of the hybrid clock: `<wall ms, 15 digits>-<counter, 4 in base 36>-<origin>`. Sorts chronologically as text. */
export const clockReading = z.string().regex(/^\d{15}-[0-9a-z]{4}-[A-Za-z0-9_-]{1,100}$/);

/** SHA-256 of an attachment's bytes, in hex. */
export const blobHash = z.string().regex(/^[0-9a-f]{64}$/);

export const syncRecord = z.object({
  store: z.enum(SYNC_STORE_NAMES),
  key: z.string().min(1).max(600),
  clock: clockReading,
  /** Fencing number under which it was written, if any (runs): a higher one wins regardless of the clocks. */
  fence: z.number().int().nonnegative().optional(),
  /** Clock of the journal's version that this one was derived from; null if there was none. Only in stores with conflicts. */
  base: clockReading.nullable().optional(),
  /** Other ancestors: the newest version of each other writer that `base` was made from, latest first (docs/decisions/0008). */
  ancestors: z.array(clockReading).max(MAX_ANCESTORS).optional(),
  deleted: z.literal(true).optional(),
  /** Seal of the payload. Only `none` so far. */
  seal: z.literal('none').default('none'),
  /** The record as JSON; null if it was deleted. */
  payload: z.string().nullable(),
  /** Hashes of the attachments that it refers to. */
  blobs: z.array(blobHash).max(1000).optional(),
});
/** The last change of a record, as sent between replicas and stored in the journal. */
export type SyncRecord = z.infer<typeof syncRecord>;
