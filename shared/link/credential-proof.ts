import { fromBase64, toBase64url } from '../base64.ts';

/** Purpose of a proof; a proof for one purpose is not valid for the other. */
export type ProofPurpose = 'app' | 'uplink';

const encoder = new TextEncoder();
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' } as const;

/** Imports a credential's secret (base64url, 32 bytes) as a non-exportable key. Rejects if it is not 32 bytes. */
export async function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret);
  if (bytes.byteLength !== 32) throw new Error('a credential must have 32 bytes');
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign', 'verify']);
}

/** 32 random bytes, base64url. */
export function createSecret(): string {
  return toBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

const encodeStatement = (
  signer: 'client' | 'server',
  purpose: ProofPurpose,
  serverNonce: string,
  clientNonce: string,
): Uint8Array<ArrayBuffer> => encoder.encode(JSON.stringify(['perch', signer, purpose, serverNonce, clientNonce]));

/** Proves to the other side that this one holds the credential, without revealing it. Base64url. */
export async function createProof(
  key: CryptoKey,
  signer: 'client' | 'server',
  purpose: ProofPurpose,
  serverNonce: string,
  clientNonce: string,
): Promise<string> {
  return toBase64url(
    new Uint8Array(await crypto.subtle.sign(ALGORITHM.name, key, encodeStatement(signer, purpose, serverNonce, clientNonce))),
  );
}

/** Whether the other side's proof holds; constant time. */
export async function verifyProof(
  key: CryptoKey,
  proof: string,
  signer: 'client' | 'server',
  purpose: ProofPurpose,
  serverNonce: string,
  clientNonce: string,
): Promise<boolean> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64(proof);
  } catch {
    return false;
  }
  return crypto.subtle.verify(ALGORITHM.name, key, bytes, encodeStatement(signer, purpose, serverNonce, clientNonce));
}
