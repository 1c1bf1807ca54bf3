import { z } from '../rpc/zod.ts';

/** What a proof is for; a proof for one does not serve the other. */
export type ProofPurpose = 'app' | 'uplink';

const encoder = new TextEncoder();
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' } as const;

/** Makes a credential's secret (base64url, 32 bytes) into a key that cannot be exported. Rejects where it is not 32 bytes. */
export async function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = Uint8Array.from(atob(secret.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  if (bytes.byteLength !== 32) throw new Error('a credential has 32 bytes');
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign', 'verify']);
}

/** 32 random bytes, base64url. */
export function randomSecret(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

const statement = (by: 'client' | 'server', purpose: ProofPurpose, serverNonce: string, clientNonce: string): Uint8Array<ArrayBuffer> =>
  encoder.encode(JSON.stringify(['perch', by, purpose, serverNonce, clientNonce]));

/** Proves to the other side that this one holds the credential, without showing it (design.md, "Two origins would be two databases"). Base64url. */
export async function prove(key: CryptoKey, by: 'client' | 'server', purpose: ProofPurpose, serverNonce: string, clientNonce: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.sign(ALGORITHM.name, key, statement(by, purpose, serverNonce, clientNonce))));
}

/** Whether the other side's proof holds; constant time. */
export async function proves(
  key: CryptoKey,
  proof: string,
  by: 'client' | 'server',
  purpose: ProofPurpose,
  serverNonce: string,
  clientNonce: string,
): Promise<boolean> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(atob(proof.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  } catch {
    return false;
  }
  return crypto.subtle.verify(ALGORITHM.name, key, bytes, statement(by, purpose, serverNonce, clientNonce));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** `connect`'s `auth` of an app that holds a credential. The answer's `auth.proof` is the bridge's half. */
export const appAuth = z.object({ credentialId: z.string().max(100), nonce: z.string().min(16).max(200), proof: z.string().max(200) });

/** The three messages before the multiplexer on `/uplink`, as JSON texts: the bridge's, the host's, the bridge's. */
export const uplinkChallenge = z.object({ nonce: z.string().min(16).max(200) });
export const uplinkAuth = appAuth;
export const uplinkAccepted = z.object({ proof: z.string().max(200) });

export const credential = z.object({ id: z.string(), secret: z.string() });
/** A secret shared by the bridge and one browser profile. */
export type Credential = z.infer<typeof credential>;

/** What `POST /link` gives for a single-use code: one credential for the app's pages on `/ws`, one for its worker on `/uplink`. */
export const linked = z.object({ app: credential, host: credential });
export type Linked = z.infer<typeof linked>;

/** The bridge's `GET /health`, without a token. */
export const bridgeHealth = z.object({
  status: z.enum(['ok', 'no-host']),
  version: z.string(),
  build: z.string(),
  /** Who hosts by the owner's choice: the managed Chromium (`auto`, `headless`) or a tab's worker. */
  mode: z.enum(['auto', 'tab', 'headless']),
  host: z.enum(['tab', 'headless']).nullable(),
});
export type BridgeHealth = z.infer<typeof bridgeHealth>;
