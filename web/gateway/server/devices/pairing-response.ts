import { fromBase64 } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Key types with the hex prefix of their SPKI encoding; the rest is the key itself (for P-256 an uncompressed point). */
const KEY_TYPES = [
  { prefix: '302a300506032b6570032100', bytes: 44, name: 'Ed25519', algorithm: { name: 'Ed25519' } },
  {
    prefix: '3059301306072a8648ce3d020106082a8648ce3d03010703420004',
    bytes: 91,
    name: 'P-256',
    algorithm: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  },
] as const;

/** A device's response to a code: `<public key>.<signature over the code>`, both base64url. */
export interface PairingResponse {
  /** SPKI, base64url, as received. */
  publicKey: string;
  /** Whether the signature is a valid one of this key over the text. */
  verify(text: string): Promise<boolean>;
}

/**
 * Parses a device's response. A P-256 signature may be the concatenation of r and s (as WebCrypto produces) or DER (as most other libraries
 * do). Throws `INVALID_PARAMS`, which reveals nothing about codes.
 */
export async function parsePairingResponse(response: string): Promise<PairingResponse> {
  const [, publicKey = '', encodedSignature = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(response) ?? [];
  const [spki, signature] = [decodeBytes(publicKey), decodeBytes(encodedSignature)];
  if (!spki || !signature) throw createInvalidError('`response` must be `<public key>.<signature over the code>`, both in base64url');
  const kind = KEY_TYPES.find(({ prefix, bytes }) => spki.byteLength === bytes && toHex(spki).startsWith(prefix));
  if (!kind) throw createInvalidError('The public key in `response` must be an Ed25519 or P-256 key in SPKI format');
  let key: CryptoKey;
  try {
    key = await crypto.subtle.importKey('spki', spki, kind.algorithm, false, ['verify']);
  } catch (error) {
    const unknown = error instanceof Error && error.name === 'NotSupportedError';
    throw createInvalidError(
      unknown ? `This browser can’t verify ${kind.name} keys` : `The public key in \`response\` is not a valid ${kind.name} key`,
    );
  }
  const raw = signature.byteLength === 64 ? signature : kind.name === 'P-256' ? fromDer(signature) : undefined;
  if (!raw) throw createInvalidError(`The signature in \`response\` is not a valid ${kind.name} signature`);
  return { publicKey, verify: (text) => crypto.subtle.verify(kind.algorithm, key, raw, new TextEncoder().encode(text)) };
}

/**
 * r and s, 32 bytes each, from `SEQUENCE { INTEGER r, INTEGER s }`; undefined if it is not valid DER. In rare cases a DER signature has 64
 * bytes itself: it is refused.
 */
function fromDer(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.byteLength - 2) return undefined;
  const raw = new Uint8Array(64);
  let offset = 2;
  for (const end of [32, 64]) {
    const length = der[offset + 1] ?? 0;
    const number = der.subarray(offset + 2, offset + 2 + length);
    if (der[offset] !== 0x02 || length === 0 || number.byteLength !== length) return undefined;
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (digits.byteLength > 32) return undefined;
    raw.set(digits, end - digits.byteLength);
    offset += 2 + length;
  }
  return offset === der.byteLength ? raw : undefined;
}

function decodeBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = fromBase64(text);
    return bytes.byteLength > 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const createInvalidError = (message: string): RpcError => new RpcError('INVALID_PARAMS', `${message}.`);
