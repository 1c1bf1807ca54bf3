import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { appAuth, type Credential, importSecret, prove, proves, type ProofPurpose } from '#shared/link/proof.ts';
import { SCOPES, type Scope } from '#shared/rpc/contract.ts';
import type { StoredCredential } from '../home.ts';
import type { AuthLimiter } from './auth-limiter.ts';

/** What kind of secret was tried; failures are counted per kind and origin. */
export type CredentialClass = 'token' | 'app' | 'host' | 'code';

export type Denial = { ok: false; code: 'AUTH_REQUIRED' | 'RATE_LIMITED'; message: string; retryAfterMs?: number };
export type Admitted = {
  ok: true;
  principal: string;
  scopes: readonly Scope[];
  /** The bridge's half of a mutual proof. */
  proof?: string;
};
export type Verdict = Admitted | Denial;

/** Tokens shorter than this could be guessed, so that they are not looked at during a lock-out; ours have 43 characters. */
const UNGUESSABLE_CHARS = 32;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Knows the owner's token and the credentials of linked browsers. Everything is compared in constant time; secrets of 256 bits are always
 * looked at, so that a lock-out which others caused never keeps their owner out (decisions, "Frames and connection").
 */
export class Auth {
  readonly #token: Buffer;
  readonly #guessable: boolean;
  readonly #limiter: AuthLimiter;
  readonly #credentials: Map<string, StoredCredential>;
  #headless: Credential | undefined;

  constructor({ token, credentials, limiter }: { token: string; credentials: readonly StoredCredential[]; limiter: AuthLimiter }) {
    this.#token = digest(token);
    this.#guessable = token.length < UNGUESSABLE_CHARS;
    this.#limiter = limiter;
    this.#credentials = new Map(credentials.map((credential) => [credential.id, credential]));
  }

  add(credentials: readonly StoredCredential[]): void {
    for (const credential of credentials) this.#credentials.set(credential.id, credential);
  }

  /** A new credential for the managed Chromium; the one before is void. It lives as long as the bridge. */
  issueHeadless(): Credential {
    this.#headless = { id: `headless-${randomBytes(9).toString('base64url')}`, secret: randomBytes(32).toString('base64url') };
    return this.#headless;
  }

  /** Checks the owner's token. Undefined is no try, and is not counted. */
  checkToken(token: string | undefined, origin: string | undefined): Verdict {
    if (token === undefined) return { ok: false, code: 'AUTH_REQUIRED', message: 'A token is required' };
    const skip = this.#guessable && this.#limiter.locked(keyOf('token', origin)) > 0;
    if (!skip && timingSafeEqual(digest(token), this.#token)) return { ok: true, principal: 'owner', scopes: SCOPES };
    return this.deny('token', origin, 'The token is not right');
  }

  /** `connect`'s `auth` (any value), against the challenge of its own connection; `bearer` where the upgrade brought a token. */
  async checkConnect(auth: unknown, bearer: string | undefined, nonce: string, origin: string | undefined): Promise<Verdict> {
    if (isRecord(auth) && 'proof' in auth) {
      const found = await this.#checkProof(auth, 'app', nonce, origin, (id) => this.#stored(id, 'app'));
      return found.ok ? { ok: true, principal: `app:${found.id}`, scopes: SCOPES, proof: found.proof } : found;
    }
    const token = isRecord(auth) && 'token' in auth ? auth.token : bearer;
    return this.checkToken(typeof token === 'string' ? token : undefined, origin);
  }

  /** A host's proof on `/uplink`; the answer says which kind of host holds that credential. */
  async checkUplink(auth: unknown, nonce: string, origin: string): Promise<{ ok: true; kind: 'tab' | 'headless'; proof: string } | Denial> {
    const found = await this.#checkProof(auth, 'uplink', nonce, origin, (id) => this.#hostCredential(id));
    return found.ok ? { ok: true, kind: found.id === this.#headless?.id ? 'headless' : 'tab', proof: found.proof } : found;
  }

  /** Counts a failed try and words the answer: while locked out it says no more than that. */
  deny(kind: CredentialClass, origin: string | undefined, message: string): Denial {
    const lockedMs = this.#limiter.fail(keyOf(kind, origin));
    if (lockedMs === 0) return { ok: false, code: 'AUTH_REQUIRED', message };
    return { ok: false, code: 'RATE_LIMITED', message: 'Too many failed tries', retryAfterMs: Math.ceil(lockedMs) };
  }

  async #checkProof(
    auth: unknown,
    purpose: ProofPurpose,
    nonce: string,
    origin: string | undefined,
    find: (id: string) => Credential | undefined,
  ): Promise<{ ok: true; id: string; proof: string } | Denial> {
    const denied = (): Denial => this.deny(purpose === 'app' ? 'app' : 'host', origin, 'The proof is not right');
    const given = appAuth.safeParse(auth);
    const credential = given.success ? find(given.data.credentialId) : undefined;
    if (!given.success || !credential) return denied();
    const key = await importSecret(credential.secret);
    if (!(await proves(key, given.data.proof, 'client', purpose, nonce, given.data.nonce))) return denied();
    return { ok: true, id: credential.id, proof: await prove(key, 'server', purpose, nonce, given.data.nonce) };
  }

  #hostCredential(id: string): Credential | undefined {
    return this.#headless?.id === id ? this.#headless : this.#stored(id, 'host');
  }

  #stored(id: string, kind: StoredCredential['kind']): Credential | undefined {
    const credential = this.#credentials.get(id);
    return credential?.kind === kind ? credential : undefined;
  }
}

/** The token of an `Authorization: Bearer` header; undefined where there is none. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer +([^ ]+) *$/i.exec(header ?? '')?.[1];
}

const keyOf = (kind: CredentialClass, origin: string | undefined): string => `${kind} from ${origin ?? 'programs'}`;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
