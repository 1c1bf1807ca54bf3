import { fromBase64 } from '#shared/base64.ts';

/** Maximum size of an encrypted message: push services need not accept more (RFC 8030, section 7.2). */
const MAX_MESSAGE_BYTES = 4096;
/** Salt, record size, length of the key, and the key (RFC 8188, section 2.1). */
const HEADER_BYTES = 16 + 4 + 1 + 65;
const TAG_BYTES = 16;
/** The delimiter that ends the text of a record. */
const DELIMITER_BYTES = 1;
export const MAX_PLAINTEXT_BYTES = MAX_MESSAGE_BYTES - HEADER_BYTES - TAG_BYTES - DELIMITER_BYTES;
/** Messages are padded to multiples of this size, so that the push service does not learn their length. */
const PADDING_BYTES = 512;

/** Keys of a subscription, in base64url, as `PushSubscription.toJSON` returns them. */
interface PushKeys {
  p256dh: string;
  auth: string;
}

/** The record for the plaintext: text, delimiter and padding. */
function padRecord(plaintext: Uint8Array): Uint8Array<ArrayBuffer> {
  const size = plaintext.length + DELIMITER_BYTES;
  const padded = new Uint8Array(Math.min(Math.ceil(size / PADDING_BYTES) * PADDING_BYTES, MAX_PLAINTEXT_BYTES + DELIMITER_BYTES));
  padded.set(plaintext);
  padded[plaintext.length] = 2;
  return padded;
}

async function deriveBytes(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, bytes * 8));
}

function joinBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/**
 * Encrypts a message so that only the subscribed browser can read it (RFC 8291): one record of `aes128gcm` (RFC 8188). Throws for a longer
 * plaintext than `MAX_PLAINTEXT_BYTES`, and for invalid keys.
 */
export async function encryptPush(plaintext: Uint8Array, { p256dh, auth }: PushKeys): Promise<Uint8Array<ArrayBuffer>> {
  if (plaintext.length > MAX_PLAINTEXT_BYTES) throw new RangeError(`A push message has at most ${MAX_PLAINTEXT_BYTES} bytes`);
  const browserKey = fromBase64(p256dh);
  const curve = { name: 'ECDH', namedCurve: 'P-256' } as const;
  const [ownKeys, publicKey] = await Promise.all([
    crypto.subtle.generateKey(curve, false, ['deriveBits']) as Promise<CryptoKeyPair>,
    crypto.subtle.importKey('raw', browserKey, curve, false, []),
  ]);
  const ownKey = new Uint8Array(await crypto.subtle.exportKey('raw', ownKeys.publicKey));
  const shared = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: publicKey }, ownKeys.privateKey, 256));
  const keyInfo = joinBytes(encode('WebPush: info\0'), browserKey, ownKey);
  const secret = await deriveBytes(shared, fromBase64(auth), keyInfo, 32);
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const [contentKey, nonce] = await Promise.all([
    deriveBytes(secret, salt, encode('Content-Encoding: aes128gcm\0'), 16),
    deriveBytes(secret, salt, encode('Content-Encoding: nonce\0'), 12),
  ]);
  const key = await crypto.subtle.importKey('raw', contentKey, 'AES-GCM', false, ['encrypt']);
  const record = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, padRecord(plaintext));
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, MAX_MESSAGE_BYTES);
  return joinBytes(salt, size, Uint8Array.of(ownKey.length), ownKey, new Uint8Array(record));
}
