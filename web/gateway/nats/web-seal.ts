import { fromBase64, toBase64url } from '#shared/base64.ts';
import { FORMAT_VERSION, NONCE_BYTES, KEY_PURPOSES, TAG_BYTES, VAULT_NAME_INPUT, type VaultSeal } from '#shared/sync/nats/vault-seal.ts';

/** Keys for sharing a browser's vault: not extractable by scripts, and stored as such in IndexedDB. */
export interface SharingKeys {
  /** AES-GCM. */
  sealing: CryptoKey;
  /** HMAC with SHA-256. */
  names: CryptoKey;
}

const encoder = new TextEncoder();

/** Derives the keys from the vault's key (256 bit, base64url). Throws if it has another length. */
export async function deriveSharingKeys(vaultKey: string): Promise<SharingKeys> {
  const bytes = fromBase64(vaultKey);
  if (bytes.length !== 32) throw new Error('The vault’s key must have 32 bytes');
  const { subtle } = crypto;
  const base = await subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
  const createParams = (purpose: string): HkdfParams => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode(purpose),
  });
  const [sealing, names] = await Promise.all([
    subtle.deriveKey(createParams(KEY_PURPOSES.sealing), base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
    subtle.deriveKey(createParams(KEY_PURPOSES.names), base, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']),
  ]);
  return { sealing, names };
}

/** The vault's seal implemented with WebCrypto, compatible with that of bridges. */
export class WebSeal implements VaultSeal {
  readonly vault: string;
  readonly #keys: SharingKeys;

  private constructor(keys: SharingKeys, vault: string) {
    this.#keys = keys;
    this.vault = vault;
  }

  static async create(keys: SharingKeys): Promise<WebSeal> {
    const digest = await computeMac(keys, VAULT_NAME_INPUT);
    return new WebSeal(keys, [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join(''));
  }

  async name(...parts: readonly string[]): Promise<string> {
    return toBase64url((await computeMac(this.#keys, JSON.stringify(parts))).subarray(0, 16));
  }

  async seal(bytes: Uint8Array, context: string): Promise<Uint8Array> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    // WebCrypto appends the tag to the ciphertext, as the format requires.
    const data = await crypto.subtle.encrypt(toAesParams(context, iv), this.#keys.sealing, toUnsharedBytes(bytes));
    const sealed = new Uint8Array(1 + NONCE_BYTES + data.byteLength);
    sealed[0] = FORMAT_VERSION;
    sealed.set(iv, 1);
    sealed.set(new Uint8Array(data), 1 + NONCE_BYTES);
    return sealed;
  }

  async open(sealed: Uint8Array, context: string): Promise<Uint8Array | undefined> {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT_VERSION) return undefined;
    const iv = toUnsharedBytes(sealed.subarray(1, 1 + NONCE_BYTES));
    try {
      return new Uint8Array(
        await crypto.subtle.decrypt(toAesParams(context, iv), this.#keys.sealing, toUnsharedBytes(sealed.subarray(1 + NONCE_BYTES))),
      );
    } catch {
      return undefined;
    }
  }
}

const toAesParams = (context: string, iv: Uint8Array<ArrayBuffer>): AesGcmParams => ({
  name: 'AES-GCM',
  iv,
  additionalData: encoder.encode(context),
  tagLength: TAG_BYTES * 8,
});

const computeMac = async ({ names }: SharingKeys, text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign('HMAC', names, encoder.encode(text)));

/** Bytes in unshared memory, as WebCrypto requires; copied only if necessary. */
const toUnsharedBytes = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
