import { fromBase64, toBase64 } from '#shared/base64.ts';
import { computeHmac } from './hmac.ts';

// Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** Sizes of keys that the specification allows. */
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

export const ID_HEADER = 'webhook-id';
export const TIMESTAMP_HEADER = 'webhook-timestamp';
export const SIGNATURE_HEADER = 'webhook-signature';

/** A new secret. */
export const createHookSecret = (): string => SECRET_PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));

/** The key of a secret; undefined if the secret has another form. */
export function parseHookSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const key = fromBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret);
    return key.byteLength >= MIN_KEY_BYTES && key.byteLength <= MAX_KEY_BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The signature of a message, such as `v1,g0hM…`. `timestamp`: seconds since 1970. */
export async function signMessage(secret: string, id: string, timestamp: string, body: Uint8Array): Promise<string> {
  const key = parseHookSecret(secret) ?? new TextEncoder().encode(secret);
  return `v1,${toBase64(await computeHmac(key, `${id}.${timestamp}.`, body))}`;
}
