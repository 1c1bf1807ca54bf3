import { fromBase64, toBase64url } from '#shared/base64.ts';

/** Lifetime of a token; push services accept at most 24 hours (RFC 8292, section 2). */
const TOKEN_S = 12 * 3600;
/** Contact for the operators of push services; some refuse requests without one. */
const CONTACT = 'https://perch.invalid/';
const SECRET_NAME = 'push.vapid';
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;

interface SecretStore {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string | null): Promise<void>;
}

const toJson64 = (value: object): string => toBase64url(new TextEncoder().encode(JSON.stringify(value)));

/** The vault's key pair, by which push services recognize its gateway (RFC 8292). */
export class VapidKeys {
  /** The public key in base64url: `applicationServerKey` of subscriptions. */
  readonly publicKey: string;
  readonly #privateKey: CryptoKey;

  private constructor(publicKey: string, privateKey: CryptoKey) {
    this.publicKey = publicKey;
    this.#privateKey = privateKey;
  }

  /** Opens the stored key pair, or creates one. */
  static async open(secrets: SecretStore): Promise<VapidKeys> {
    const stored = await secrets.get(SECRET_NAME);
    const jwk = stored === undefined ? await createKey() : (JSON.parse(stored) as JsonWebKey);
    if (stored === undefined) await secrets.set(SECRET_NAME, JSON.stringify(jwk));
    const { x = '', y = '' } = jwk;
    const point = new Uint8Array([4, ...fromBase64(x), ...fromBase64(y)]);
    return new VapidKeys(toBase64url(point), await crypto.subtle.importKey('jwk', jwk, CURVE, false, ['sign']));
  }

  /** The `Authorization` header for a request to a push service, whose origin the token is bound to. `now`: milliseconds since the Unix epoch. */
  async authorize(endpoint: string, now: number): Promise<string> {
    const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1000) + TOKEN_S, sub: CONTACT };
    const unsigned = `${toJson64({ typ: 'JWT', alg: 'ES256' })}.${toJson64(claims)}`;
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, this.#privateKey, new TextEncoder().encode(unsigned));
    return `vapid t=${unsigned}.${toBase64url(new Uint8Array(signature))}, k=${this.publicKey}`;
  }
}

async function createKey(): Promise<JsonWebKey> {
  const { privateKey } = (await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])) as CryptoKeyPair;
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey);
  return { kty, crv, x, y, d } as JsonWebKey;
}
