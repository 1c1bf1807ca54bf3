import { fromBase64 } from '#shared/base64.ts';
import { sha256 } from '#shared/sha256.ts';
import type { VaultSchema, SealedSecret } from './vault-schema.ts';

/** The key of this replica's secrets, as it is stored. */
export type SealingKey = VaultSchema['keys']['value'];

/** Name of the only key. */
export const SEALING_KEY = 'secrets';

const KEY_BYTES = 32;

const importKey = (bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', bytes, { name: 'AES-GCM' }, false, ['encrypt', 'decrypt']);

/**
 * Converts a key to the form in which this worker can store it: non-extractable, or its bytes in a SharedWorker of WebKit, which cannot
 * clone a CryptoKey.
 */
async function toStorableKey(bytes: Uint8Array<ArrayBuffer>): Promise<SealingKey['key']> {
  const key = await importKey(bytes);
  try {
    structuredClone(key);
    return key;
  } catch {
    return bytes;
  }
}

const toCryptoKey = async (key: SealingKey['key']): Promise<CryptoKey> => (key instanceof Uint8Array ? importKey(key) : key);

/** Creates a key, non-extractable if the browser can store it so. */
export async function createSealingKey(): Promise<SealingKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return { name: SEALING_KEY, keyId: crypto.randomUUID(), key: await toStorableKey(bytes) };
}

/**
 * Imports the vault's own key, shared by all its replicas (shared/ports/journal-port.ts); its id is the start of its SHA-256, in hex. Throws if
 * it does not have 32 bytes.
 */
export async function importVaultKey(vaultKey: string): Promise<SealingKey> {
  const bytes = fromBase64(vaultKey);
  if (bytes.length !== KEY_BYTES) throw new Error('The vault’s key must have 32 bytes');
  return { name: SEALING_KEY, keyId: (await sha256(bytes)).slice(0, 16), key: await toStorableKey(bytes) };
}

/** AES-GCM with a random nonce for each value, bound to the secret's name so that rows cannot be exchanged. */
export async function seal({ key, keyId }: SealingKey, name: string, value: string): Promise<SealedSecret> {
  const encoder = new TextEncoder();
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const algorithm = { name: 'AES-GCM', iv, additionalData: encoder.encode(name) };
  const data = await crypto.subtle.encrypt(algorithm, await toCryptoKey(key), encoder.encode(value));
  return { name, keyId, iv, data };
}

/** Rejects if the row was tampered with, or sealed with another key. */
export async function unseal({ key }: SealingKey, { name, iv, data }: SealedSecret): Promise<string> {
  const algorithm = { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(name) };
  const plain = await crypto.subtle.decrypt(algorithm, await toCryptoKey(key), data);
  return new TextDecoder().decode(plain);
}
