import { fromBase64, toBase64url } from '#shared/base64.ts';
import type { Vault } from '../../storage/vault-interface.ts';

/** Characters of a code: 128 bits in base64url. */
const CODE_BYTES = 16;

/** Opens the stored key of that name, or creates one. */
export async function openHmacKey(secrets: Vault['secrets'], name: string): Promise<CryptoKey> {
  let secret = await secrets.get(name);
  if (secret === undefined) {
    secret = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    await secrets.set(name, secret);
  }
  return crypto.subtle.importKey('raw', fromBase64(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

/** A code of 22 characters that only the key's owner can compute for a text. */
export async function signText(key: CryptoKey, text: string): Promise<string> {
  const code = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text));
  return toBase64url(new Uint8Array(code).subarray(0, CODE_BYTES));
}
