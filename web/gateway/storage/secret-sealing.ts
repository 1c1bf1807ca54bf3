import { fromBase64 } from '#shared/base64.ts';
import { sha256 } from '#shared/sha256.ts';
import type { VaultSchema, SealedSecret } from './vault-schema.ts';

/** The key of this replica's secrets, as it is stored. */
export type SealingKey = VaultSchema['keys']['value'];

/** Name of the only key. */
export const SEALING_KEY = 'secrets';

/** Creates a non-extractable key. */
export async function createSealingKey(): Promise<SealingKey> {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  return { name: SEALING_KEY, keyId: crypto.randomUUID(), key };
}

/**
 * Imports the vault's own key, shared by all its replicas (shared/ports/journal-port.ts); its id is the start of its SHA-256, in hex. Throws if
 * it does not have 32 bytes.
 */
export async function importVaultKey(vaultKey: string): Promise<SealingKey> {
  const bytes = fromBase64(vaultKey);
  if (bytes.length !== 32) throw new Error('The vault’s key must have 32 bytes');
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'AES-GCM' }, false, ['encrypt', 'decrypt']);
  return { name: SEALING_KEY, keyId: (await sha256(bytes)).slice(0, 16), key };
}

/** AES-GCM with a random nonce for each value, bound to the secret's name so that rows cannot be exchanged. */
export async function seal({ key, keyId }: SealingKey, name: string, value: string): Promise<SealedSecret> {
  const encoder = new TextEncoder();
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: encoder.encode(name) }, key, encoder.encode(value));
  return { name, keyId, iv, data };
}

/** Rejects if the row was tampered with, or sealed with another key. */
export async function unseal({ key }: SealingKey, { name, iv, data }: SealedSecret): Promise<string> {
  const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(name) }, key, data);
  return new TextDecoder().decode(plain);
}
