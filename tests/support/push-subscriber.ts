import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

/** A browser's side of a subscription. */
interface Subscriber {
  ecdh: ECDH;
  publicKey: Buffer;
  auth: Buffer;
}

export function createSubscriber(): Subscriber & { keys: { p256dh: string; auth: string } } {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys();
  const auth = randomBytes(16);
  return { ecdh, publicKey, auth, keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') } };
}

const hkdf = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));

/** Decrypts a message as a browser does (RFC 8291 and 8188), with Node's own functions. Throws if it is not for this subscriber. */
export function decryptPush(message: Uint8Array, { ecdh, publicKey, auth }: Subscriber): string {
  const bytes = Buffer.from(message);
  const keyLength = bytes.readUInt8(20);
  const [salt, recordSize, senderKey] = [bytes.subarray(0, 16), bytes.readUInt32BE(16), bytes.subarray(21, 21 + keyLength)];
  const record = bytes.subarray(21 + keyLength);
  if (record.length > recordSize) throw new Error('The message has more than one record');
  const shared = ecdh.computeSecret(senderKey);
  const secret = hkdf(shared, auth, Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, senderKey]), 32);
  const decipher = createDecipheriv(
    'aes-128-gcm',
    hkdf(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16),
    hkdf(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12),
  );
  decipher.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('The delimiter of the last record is missing');
  return padded.subarray(0, end).toString('utf8');
}
