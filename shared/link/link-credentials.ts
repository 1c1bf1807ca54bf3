import { z } from '../rpc/zod.ts';

/** `connect`'s `auth` of an app that holds a credential. The answer's `auth.proof` is the bridge's half. */
export const appAuth = z.object({ credentialId: z.string().max(100), nonce: z.string().min(16).max(200), proof: z.string().max(200) });

/** The three messages before the multiplexer on `/uplink`, as JSON texts: the bridge's, the host's (`appAuth`), the bridge's. */
export const uplinkChallenge = z.object({ nonce: z.string().min(16).max(200) });
export const uplinkAccepted = z.object({ proof: z.string().max(200) });

const credential = z.object({ id: z.string(), secret: z.string() });
/** A secret shared by the bridge and one browser profile. */
export type Credential = z.infer<typeof credential>;

/** Result of `POST /link` for a single-use code: one credential for the app's pages on `/ws`, one for its worker on `/uplink`. */
export const linkResult = z.object({ app: credential, host: credential });
export type LinkResult = z.infer<typeof linkResult>;

/** The bridge's `GET /health`, without a token. */
export const bridgeHealth = z.object({
  status: z.enum(['ok', 'no-host']),
  version: z.string(),
  build: z.string(),
  /** Hosts that the owner allows: a tab's worker before the managed Chromium (`auto`), or only one of them. */
  mode: z.enum(['auto', 'tab', 'headless']),
  /** Active host; `remote`: a host attached to another bridge of the vault (`--cluster`). */
  host: z.enum(['tab', 'headless', 'remote']).nullable(),
  /** Number of attached hosts. */
  hosts: z.number().default(0),
  /** Reported only to this machine: the socket's addresses for other machines, `ws://…/ws`; missing if there are none. */
  reach: z.array(z.string()).optional(),
});
export type BridgeHealth = z.infer<typeof bridgeHealth>;

export { importSecret, createProof, type ProofPurpose, verifyProof, createSecret } from './credential-proof.ts';
