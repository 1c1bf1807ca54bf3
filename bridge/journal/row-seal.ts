import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';

/** A row of the records table. */
export interface RecordRow {
  seq: number;
  store: string;
  key: string;
  clock: string;
  fence: number | null;
  /** Null: not specified by the record. Empty: not based on any version. */
  base: string | null;
  deleted: number;
  seal: string;
  /** Origin that pushed it. Null if the journal created it, which is announced to all. */
  pusher: string | null;
  /** Time of acceptance by the bridge's clock, in milliseconds since the Unix epoch. */
  at: number;
  blobs: string | null;
  payload: string | null;
}

/**
 * Signs rows with a key derived from the vault's, so that damaged or foreign rows are never mistaken for records. The set of rows is not
 * signed: a missing row is not detected.
 */
export class RowSeal {
  readonly #key: KeyObject;

  /** `vaultKey`: 256 bits, base64url. */
  constructor(vaultKey: string) {
    const key = hkdfSync('sha256', Buffer.from(vaultKey, 'base64url'), '', 'perch journal rows', 32);
    this.#key = createSecretKey(Buffer.from(key));
  }

  /** Distinguishes journals of different vault keys without revealing the key. */
  get keyCheck(): string {
    return createHmac('sha256', this.#key).update('key check').digest('hex');
  }

  mac(row: RecordRow): Buffer {
    const { seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload } = row;
    const fields = [seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload?.length ?? null];
    return createHmac('sha256', this.#key)
      .update(JSON.stringify(fields))
      .update(payload ?? '')
      .digest();
  }

  /** Verifies and returns a row; null if the signature is invalid. */
  read(raw: Record<string, SQLOutputValue>): RecordRow | null {
    const { mac } = raw;
    const row = parseRow(raw);
    if (!row || !(mac instanceof Uint8Array) || mac.length !== 32) return null;
    return timingSafeEqual(mac, this.mac(row)) ? row : null;
  }
}

/** Integers are read as bigint, so that an oversized one can be read and rejected. */
function parseRow(raw: Record<string, SQLOutputValue>): RecordRow | null {
  const seq = integerSchema(raw.seq);
  const fence = raw.fence === null ? null : integerSchema(raw.fence);
  const deleted = integerSchema(raw.deleted);
  const at = integerSchema(raw.at);
  const { store, key, clock, base, seal, pusher, blobs, payload } = raw;
  if (seq === undefined || fence === undefined || deleted === undefined || at === undefined) return null;
  if (typeof store !== 'string' || typeof key !== 'string' || typeof clock !== 'string' || typeof seal !== 'string') return null;
  if (!isString(base) || !isString(pusher) || !isString(blobs) || !isString(payload)) return null;
  return { seq, store, key, clock, fence, base, deleted, seal, pusher, at, blobs, payload };
}

const integerSchema = (value: SQLOutputValue | undefined): number | undefined => (typeof value === 'bigint' ? Number(value) : undefined);
const isString = (value: SQLOutputValue | undefined): value is string | null => value === null || typeof value === 'string';
