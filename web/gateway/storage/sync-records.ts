import { fromBase64, toBase64url } from '#shared/base64.ts';
import type { SyncRecord, SyncStore } from '#shared/sync/record.ts';
import type { ChangeRow, RecordStoreName, ReadTransaction, SealedSecret, VaultSchema, WriteTransaction } from './vault-schema.ts';
import { toSessionFields, toSessionHead } from './session-records.ts';

/**
 * The record of a change log row, in the form in which it is sent; undefined if it is not for other hosts (a secret sealed with this
 * replica's own key).
 */
export function toRecord(
  { store, key, clock, fence, deleted, base }: ChangeRow,
  value: unknown,
  vaultKeyId: string | undefined,
): SyncRecord | undefined {
  const record: SyncRecord = { store, key, clock, seal: 'none', payload: null };
  if (fence !== undefined) record.fence = fence;
  if (base !== undefined) record.base = base;
  if (deleted || value === undefined) return { ...record, deleted: true };
  if (store === 'secrets') {
    const secret = value as SealedSecret;
    if (secret.keyId !== vaultKeyId) return undefined;
    return {
      ...record,
      payload: JSON.stringify({ ...secret, iv: toBase64url(secret.iv), data: toBase64url(new Uint8Array(secret.data)) }),
    };
  }
  record.payload = JSON.stringify(value);
  const { blobs } = value as { blobs?: string[] };
  if ((store === 'messages' || store === 'trashRecords' || store === 'collectionDocuments') && blobs) record.blobs = blobs;
  return record;
}

/** Parses the payload of a record. Throws if it is not JSON. */
export function parsePayload<Name extends RecordStoreName>(store: Name, payload: string): VaultSchema[Name]['value'] {
  const value: unknown = JSON.parse(payload);
  if (store !== 'secrets') return value as VaultSchema[Name]['value'];
  const { iv, data, ...secret } = value as { name: string; keyId: string; iv: string; data: string };
  const sealed: SealedSecret = { ...secret, iv: fromBase64(iv), data: fromBase64(data).buffer };
  return sealed as VaultSchema[Name]['value'];
}

/** The current value of a record; undefined if it was deleted. */
export async function readValue(tx: ReadTransaction | WriteTransaction, store: SyncStore, key: string): Promise<unknown> {
  // Both kinds of transaction have the same methods for reading.
  const reading = tx as ReadTransaction;
  if (store !== 'sessions' && store !== 'heads') return reading.objectStore(store).get(key);
  const session = await reading.objectStore('sessions').get(key);
  return session && (store === 'sessions' ? toSessionFields(session) : toSessionHead(session));
}
