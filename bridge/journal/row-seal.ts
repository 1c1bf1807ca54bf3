import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';

/** A record as it lies in the table. */
export interface Row {
  seq: number;
  store: string;
  key: string;
  clock: string;
  fence: number | null;
  /** Null: the record says nothing of it. Empty: it was made from no version. */
  base: string | null;
  deleted: number;
  seal: string;
  /** Who pushed it; null: the journal itself made it, and everyone is told. */
  pusher: string | null;
  /** When it was accepted, milliseconds since 1970 by the bridge's clock. */
  at: number;
  blobs: string | null;
  payload: string | null;
}

/**
 * Signs rows with a key made from the vault's, so that one that was damaged or written by somebody else is never taken for a record. Which rows there are
 * is not signed: one that is missing is not noticed.
 */
export class RowSeal {
  readonly #key: KeyObject;

  /** `vaultKey`: 256 bit, base64url. */
  constructor(vaultKey: string) {
    const key = hkdfSync('sha256', Buffer.from(vaultKey, 'base64url'), '', 'perch journal rows', 32);
    this.#key = createSecretKey(Buffer.from(key));
  }

  /** What tells the journals of one vault key from those of another; says nothing of the key. */
  get keyCheck(): string {
    return createHmac('sha256', this.#key).update('key check').digest('hex');
  }

  mac(row: Row): Buffer {
    const { seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload } = row;
    const fields = [seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload?.length ?? null];
    return createHmac('sha256', this.#key)
      .update(JSON.stringify(fields))
      .update(payload ?? '')
      .digest();
  }

  /** The row as it was written; null where it is not. */
  read(raw: Record<string, SQLOutputValue>): Row | null {
    const { mac } = raw;
    const row = rowOf(raw);
    if (!row || !(mac instanceof Uint8Array) || mac.length !== 32) return null;
    return timingSafeEqual(mac, this.mac(row)) ? row : null;
  }
}

/** Integers come as bigint, so that one that was made too large can be read, and found wrong. */
function rowOf(raw: Record<string, SQLOutputValue>): Row | null {
  const seq = integer(raw.seq);
  const fence = raw.fence === null ? null : integer(raw.fence);
  const deleted = integer(raw.deleted);
  const at = integer(raw.at);
  const { store, key, clock, base, seal, pusher, blobs, payload } = raw;
  if (seq === undefined || fence === undefined || deleted === undefined || at === undefined) return null;
  if (typeof store !== 'string' || typeof key !== 'string' || typeof clock !== 'string' || typeof seal !== 'string') return null;
  if (!isText(base) || !isText(pusher) || !isText(blobs) || !isText(payload)) return null;
  return { seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload };
}

const integer = (value: SQLOutputValue | undefined): number | undefined => (typeof value === 'bigint' ? Number(value) : undefined);
const isText = (value: SQLOutputValue | undefined): value is string | null => value === null || typeof value === 'string';
