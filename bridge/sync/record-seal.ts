import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

const FORM = 1;
const NONCE = 12;
const TAG = 16;

/**
 * How the vault looks from outside: names that say nothing, and bytes that only the vault's key opens (docs/decisions/0063). Names are HMACs, so that every
 * bridge of the vault finds the same ones; bytes are sealed with AES-256-GCM under a random nonce, and bound to their place, so that an operator who
 * exchanges two of them is found out.
 */
export class RecordSeal {
  /** Tells vaults apart, in 16 hex digits. */
  readonly vault: string;
  readonly #sealing: KeyObject;
  readonly #naming: KeyObject;

  /** `vaultKey`: 256 bit, base64url. */
  constructor(vaultKey: string) {
    // Node makes one of these of each key that comes as bytes, which takes longer than the rest.
    const derive = (purpose: string): KeyObject =>
      createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(vaultKey, 'base64url'), '', purpose, 32)));
    this.#sealing = derive('perch sync sealing');
    this.#naming = derive('perch sync names');
    this.vault = createHmac('sha256', this.#naming).update('vault').digest('hex').slice(0, 16);
  }

  /** A name of 22 letters, digits, `-` and `_`: the same for the same parts. */
  name(...parts: readonly string[]): string {
    return createHmac('sha256', this.#naming).update(JSON.stringify(parts)).digest().subarray(0, 16).toString('base64url');
  }

  seal(bytes: Uint8Array, place: string): Uint8Array {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.#sealing, nonce).setAAD(Buffer.from(place));
    return Buffer.concat([Uint8Array.of(FORM), nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined where it was not sealed with this key for this place, or was changed since. */
  open(sealed: Uint8Array, place: string): Buffer | undefined {
    if (sealed.length < 1 + NONCE + TAG || sealed[0] !== FORM) return undefined;
    const nonce = sealed.subarray(1, 1 + NONCE);
    const decipher = createDecipheriv('aes-256-gcm', this.#sealing, nonce, { authTagLength: TAG }).setAAD(Buffer.from(place));
    decipher.setAuthTag(sealed.subarray(-TAG));
    const opened = decipher.update(sealed.subarray(1 + NONCE, -TAG));
    try {
      return Buffer.concat([opened, decipher.final()]);
    } catch {
      return undefined;
    }
  }
}
