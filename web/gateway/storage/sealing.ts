import type { Schema, SealedSecret } from './schema.ts';

/** The key of this copy's secrets, as it is kept. */
export type SealingKey = Schema['keys']['value'];

/** The name of the one key there is. */
export const SEALING_KEY = 'secrets';

/** A new key, which no script can read out. */
export async function newSealingKey(): Promise<SealingKey> {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  return { name: SEALING_KEY, keyId: crypto.randomUUID(), key };
}

/** AES-GCM with a random nonce for each value, bound to the secret's name so that rows cannot be exchanged. */
export async function seal({ key, keyId }: SealingKey, name: string, value: string): Promise<SealedSecret> {
  const encoder = new TextEncoder();
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: encoder.encode(name) }, key, encoder.encode(value));
  return { name, keyId, iv, data };
}

/** Rejects where the row was tampered with, or sealed with another key. */
export async function unseal({ key }: SealingKey, { name, iv, data }: SealedSecret): Promise<string> {
  const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(name) }, key, data);
  return new TextDecoder().decode(plain);
}
