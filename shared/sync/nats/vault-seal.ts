/**
 * The vault as its servers see it: opaque names, and bytes that only the vault's key decrypts (docs/decisions/0063). Names are HMACs, so that
 * all members derive the same ones; bytes are sealed with AES-256-GCM under a random nonce, and bound to their place, so that an operator who
 * swaps two of them is detected. Bridges do it with Node's own cryptography, browsers with keys that no script can read out: each opens what the other
 * has sealed.
 */
export interface VaultSeal {
  /** Identifies the vault: 16 hex digits. */
  readonly vault: string;
  /** A name of 22 letters, digits, `-` and `_`: the same for the same parts. */
  name(...parts: readonly string[]): string | Promise<string>;
  seal(bytes: Uint8Array, context: string): Uint8Array | Promise<Uint8Array>;
  /** Undefined if it was not sealed with this key for this place, or was changed since. */
  open(sealed: Uint8Array, context: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** Purposes of derived keys (HKDF with SHA-256, no salt), and the input of the HMAC that names the vault. */
export const KEY_PURPOSES = { sealing: 'perch sync sealing', names: 'perch sync names' } as const;
export const VAULT_NAME_INPUT = 'vault';

/** Sealed bytes: the format version, the nonce, the ciphertext and its tag. */
export const FORMAT_VERSION = 1;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A value as JSON, sealed. */
export const sealJson = async (seal: VaultSeal, value: unknown, context: string): Promise<Uint8Array> =>
  seal.seal(encoder.encode(JSON.stringify(value)), context);

/** Opens a sealed JSON value; undefined as with `open`. */
export async function openJson(seal: VaultSeal, sealed: Uint8Array, context: string): Promise<unknown> {
  const opened = await seal.open(sealed, context);
  return opened && JSON.parse(decoder.decode(opened));
}
