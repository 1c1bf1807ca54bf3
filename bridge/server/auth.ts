import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isOllamaApi } from '#shared/http/ollama-api.ts';
import { appAuth, type Credential, importSecret, createProof, verifyProof, type ProofPurpose } from '#shared/link/link-credentials.ts';
import { LEVELS, PAIRING_PRINCIPAL, type Scope } from '#shared/rpc/contract.ts';
import type { StoredCredential } from '../home-directory.ts';
import type { OwnerPassword } from '../owner-password.ts';
import type { AccessGrants, GrantedAccess } from './access-grants.ts';
import type { AuthLimiter } from './auth-limiter.ts';

/** Kind of secret that was tried. Failures are counted per kind and origin. */
type CredentialClass = 'token' | 'password' | 'app' | 'host' | 'code' | 'device' | 'pairing';

export type Denial = { ok: false; code: 'AUTH_REQUIRED' | 'RATE_LIMITED'; message: string; retryAfterMs?: number };
export type AdmittedClient = {
  ok: true;
  principal: string;
  scopes: readonly Scope[];
  /** The bridge's proof in the mutual authentication. */
  proof?: string;
  /** Pairing code of a device that is not paired yet, checked by the host. */
  pairingCode?: string;
  /** Set if access can end before the connection does. */
  hold?: GrantedAccess['hold'];
};
type AuthVerdict = AdmittedClient | Denial;
interface AdmittedHost {
  ok: true;
  kind: 'tab' | 'headless';
  proof: string;
  /** Same as `hold` of `AdmittedClient`. */
  hold?: GrantedAccess['hold'];
}

/** Principal of a linked browser's pages. */
const toAppPrincipal = (credentialId: string): string => `app:${credentialId}`;

/** Shorter tokens could be guessed and are not checked during a lock-out. Perch's own have 43 characters. */
const MIN_TOKEN_CHARS = 32;

interface AuthDeps {
  token: string;
  credentials: readonly StoredCredential[];
  access: Pick<AccessGrants, 'find'>;
  password: Pick<OwnerPassword, 'check' | 'isSet'>;
  limiter: AuthLimiter;
}

const hashToken = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Authenticates by the owner's token and password, linked browsers' credentials and the vault's access grants (access.ts). All comparisons
 * take constant time. Secrets of 256 bits are checked even during a lock-out, so that attackers can't lock the owner out.
 */
export class Authenticator {
  readonly #token: Buffer;
  readonly #guessable: boolean;
  readonly #limiter: AuthLimiter;
  readonly #access: Pick<AccessGrants, 'find'>;
  readonly #password: Pick<OwnerPassword, 'check' | 'isSet'>;
  readonly #credentials: Map<string, StoredCredential>;
  /** Callbacks that close open connections, by credential id of a linked browser. */
  readonly #open = new Map<string, Set<() => void>>();
  #headless: Credential | undefined;
  #passwordCheck: Promise<unknown> = Promise.resolve();

  constructor({ token, credentials, access, password, limiter }: AuthDeps) {
    this.#token = hashToken(token);
    this.#guessable = token.length < MIN_TOKEN_CHARS;
    this.#access = access;
    this.#password = password;
    this.#limiter = limiter;
    this.#credentials = new Map(credentials.map((credential) => [credential.id, credential]));
  }

  add(credentials: readonly StoredCredential[]): void {
    for (const credential of credentials) this.#credentials.set(credential.id, credential);
  }

  /** Invalidates credentials and closes connections that use them. */
  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#credentials.delete(id);
      for (const close of [...(this.#open.get(id) ?? [])]) close();
    }
  }

  /** Whether a connection with that credential of a linked browser is open. */
  isOpen(id: string): boolean {
    return (this.#open.get(id)?.size ?? 0) > 0;
  }

  /** Issues a new credential for the managed Chromium and invalidates the previous one. Valid while the bridge runs. */
  issueHeadless(): Credential {
    this.#headless = { id: `headless-${randomBytes(9).toString('base64url')}`, secret: randomBytes(32).toString('base64url') };
    return this.#headless;
  }

  /** Whether a token is the owner's or has an access grant. Does not authenticate: the token is still checked later. */
  isKnownToken(token: string): boolean {
    const isOwners = timingSafeEqual(hashToken(token), this.#token);
    return this.#access.find(token) !== undefined || isOwners;
  }

  /** Whether a linked browser's pages have a credential with this id. Ids are not secret. */
  hasApp(id: string): boolean {
    return this.#stored(id, 'app') !== undefined;
  }

  hasPassword(): Promise<boolean> {
    return this.#password.isSet();
  }

  /** Checks the owner's token. Undefined does not count as an attempt. */
  checkToken(token: string | undefined, origin: string | undefined): AuthVerdict {
    if (token === undefined) return { ok: false, code: 'AUTH_REQUIRED', message: 'A token is required' };
    const skip = this.#guessable && this.#limiter.locked(toLimiterKey('token', origin)) > 0;
    if (!skip && timingSafeEqual(hashToken(token), this.#token)) return { ok: true, principal: OWNER, scopes: LEVELS };
    return this.deny('token', origin, 'Incorrect token');
  }

  /** Checks `connect`'s `auth` (any value) against the challenge of its connection. `bearer`: token from the upgrade request. */
  async checkConnect(auth: unknown, bearer: string | undefined, nonce: string, origin: string | undefined): Promise<AuthVerdict> {
    if (isRecord(auth) && 'proof' in auth) {
      const found = await this.#checkProof(auth, 'app', nonce, origin, (id) => this.#stored(id, 'app'));
      if (!found.ok) return found;
      return { ok: true, principal: toAppPrincipal(found.id), scopes: LEVELS, proof: found.proof, hold: this.#holder(found.id) };
    }
    const { token, deviceToken, pairingCode, password }: Record<string, unknown> = isRecord(auth) ? auth : {};
    if (typeof password === 'string') {
      // A client may send all credentials that it has stored.
      const hasToken = [token, deviceToken].some((each) => typeof each === 'string' && each !== '');
      const verdict = hasToken ? await this.checkConnect({ token, deviceToken }, undefined, nonce, origin) : undefined;
      return verdict?.ok ? verdict : this.#checkPassword(password, origin);
    }
    if (typeof deviceToken === 'string') {
      const found = this.#access.find(deviceToken);
      // If another valid token is given too, it determines the principal.
      if (typeof token !== 'string') return found ? createAdmission(found) : this.deny('device', origin, NO_DEVICE);
      const verdict = this.checkBearer(token, origin);
      return !verdict.ok && found ? createAdmission(found) : verdict;
    }
    if (typeof pairingCode === 'string' && typeof token !== 'string') return this.#checkPairing(pairingCode, origin);
    const credential = isRecord(auth) && 'token' in auth ? token : bearer;
    return this.checkBearer(typeof credential === 'string' ? credential : undefined, origin);
  }

  /** Checks a token of the owner or of an access grant. */
  checkBearer(token: string | undefined, origin: string | undefined): AuthVerdict {
    const found = token === undefined ? undefined : this.#access.find(token);
    return found ? createAdmission(found) : this.checkToken(token, origin);
  }

  /**
   * Passwords are not checked during a lock-out, since they can be guessed. Checks run one at a time, so that concurrent attempts are all
   * counted and use the memory of only one.
   */
  #checkPassword(password: string, origin: string | undefined): Promise<AuthVerdict> {
    const verdict = this.#passwordCheck.then(async (): Promise<AuthVerdict> => {
      const lockedMs = this.#limiter.locked(toLimiterKey('password', origin));
      if (lockedMs > 0) return createLockedOutDenial(lockedMs);
      const hold = await this.#password.check(password);
      return hold ? { ok: true, principal: OWNER, scopes: LEVELS, hold } : this.deny('password', origin, NO_PASSWORD);
    });
    this.#passwordCheck = verdict.catch(() => {});
    return verdict;
  }

  /** Only the host knows the codes. It closes the connection if the code is invalid, which counts here as a failed attempt. */
  #checkPairing(pairingCode: string, origin: string | undefined): AuthVerdict {
    const lockedMs = this.#limiter.locked(toLimiterKey('pairing', origin));
    if (lockedMs > 0) return createLockedOutDenial(lockedMs);
    if (pairingCode.length > MAX_CODE_CHARS) return this.deny('pairing', origin, 'Invalid pairing code');
    return { ok: true, principal: PAIRING_PRINCIPAL, scopes: [], pairingCode };
  }

  /** Checks a host's proof on `/uplink`. The result includes the kind of host that has the credential. */
  async checkUplink(auth: unknown, nonce: string, origin: string): Promise<AdmittedHost | Denial> {
    const found = await this.#checkProof(auth, 'uplink', nonce, origin, (id) => this.#hostCredential(id));
    if (!found.ok) return found;
    const { id, proof } = found;
    return id === this.#headless?.id ? { ok: true, kind: 'headless', proof } : { ok: true, kind: 'tab', proof, hold: this.#holder(id) };
  }

  /** Counts a failed attempt and builds the denial, which reveals nothing else during a lock-out. */
  deny(kind: CredentialClass, origin: string | undefined, message: string): Denial {
    const lockedMs = this.#limiter.fail(toLimiterKey(kind, origin));
    return lockedMs === 0 ? { ok: false, code: 'AUTH_REQUIRED', message } : createLockedOutDenial(lockedMs);
  }

  async #checkProof(
    auth: unknown,
    purpose: ProofPurpose,
    nonce: string,
    origin: string | undefined,
    find: (id: string) => Credential | undefined,
  ): Promise<{ ok: true; id: string; proof: string } | Denial> {
    const denied = (): Denial => this.deny(purpose === 'app' ? 'app' : 'host', origin, 'Invalid proof');
    const parsed = appAuth.safeParse(auth);
    const credential = parsed.success ? find(parsed.data.credentialId) : undefined;
    if (!parsed.success || !credential) return denied();
    const key = await importSecret(credential.secret);
    if (!(await verifyProof(key, parsed.data.proof, 'client', purpose, nonce, parsed.data.nonce))) return denied();
    return { ok: true, id: credential.id, proof: await createProof(key, 'server', purpose, nonce, parsed.data.nonce) };
  }

  #holder(id: string): GrantedAccess['hold'] {
    return (close) => {
      if (!this.#credentials.has(id)) close();
      const open = this.#open.get(id) ?? new Set();
      this.#open.set(id, open.add(close));
      return () => void open.delete(close);
    };
  }

  #hostCredential(id: string): Credential | undefined {
    return this.#headless?.id === id ? this.#headless : this.#stored(id, 'host');
  }

  #stored(id: string, kind: StoredCredential['kind']): Credential | undefined {
    const credential = this.#credentials.get(id);
    return credential?.kind === kind ? credential : undefined;
  }
}

/** Returns the token of an `Authorization: Bearer` header; undefined if there is none. */
export function getBearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([^ ]+) *$/i.exec(header ?? '')?.[1];
}

/**
 * Returns the token of a request to `/v1`, `/api` or `/mcp`: a bearer token, or the header in which Anthropic's clients send their key.
 * Ollama's API also accepts a Basic password.
 */
export function getRequestToken({
  url = '',
  headers: { authorization, 'x-api-key': key },
}: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined {
  const token = getBearerToken(authorization) ?? (typeof key === 'string' && key !== '' ? key : undefined);
  return token ?? (isOllamaApi(url) ? getBasicPassword(authorization) : undefined);
}

/** Returns the password of an `Authorization: Basic` header, which clients send for an address such as `http://perch:KEY@host`. */
function getBasicPassword(header: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]{1,1000}) *$/i.exec(header ?? '')?.[1];
  return encoded === undefined ? undefined : /:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}

const OWNER = 'owner';
const MAX_CODE_CHARS = 100;
const NO_PASSWORD = 'Incorrect password, or no password is set';
const NO_DEVICE = 'Invalid device token, or the device was revoked. Pair it again.';

const createAdmission = ({ principal, scopes, hold }: GrantedAccess): AdmittedClient => ({ ok: true, principal, scopes, hold });
const createLockedOutDenial = (ms: number): Denial => ({
  ok: false,
  code: 'RATE_LIMITED',
  message: `Too many failed attempts. Try again in ${Math.ceil(ms / 1000)} s.`,
  retryAfterMs: Math.ceil(ms),
});
const toLimiterKey = (kind: CredentialClass, origin: string | undefined): string => `${kind} from ${origin ?? 'programs'}`;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
