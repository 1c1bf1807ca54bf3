import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { FORMAT_VERSION, NONCE_BYTES, KEY_PURPOSES, TAG_BYTES, VAULT_NAME_INPUT, type VaultSeal } from '#shared/sync/nats/vault-seal.ts';

/** Seals the vault's records with Node's synchronous crypto. */
export class RecordSeal implements VaultSeal {
  readonly vault: string;
  readonly #sealingKey: KeyObject;
  readonly #namingKey: KeyObject;

  /** `vaultKey`: 256 bits, base64url. */
  constructor(vaultKey: string) {
    // Converts the key once: Node creates a KeyObject for every key passed as bytes, which takes longer than the rest.
    const derive = (purpose: string): KeyObject =>
      createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(vaultKey, 'base64url'), '', purpose, 32)));
    this.#sealingKey = derive(KEY_PURPOSES.sealing);
    this.#namingKey = derive(KEY_PURPOSES.names);
    this.vault = createHmac('sha256', this.#namingKey).update(VAULT_NAME_INPUT).digest('hex').slice(0, 16);
  }

  name(...parts: readonly string[]): string {
    return createHmac('sha256', this.#namingKey).update(JSON.stringify(parts)).digest().subarray(0, 16).toString('base64url');
  }

  seal(bytes: Uint8Array, place: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey, nonce).setAAD(Buffer.from(place));
    return Buffer.concat([Uint8Array.of(FORMAT_VERSION), nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  open(sealed: Uint8Array, place: string): Buffer | undefined {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT_VERSION) return undefined;
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#sealingKey, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES));
    try {
      return Buffer.concat([opened, decipher.final()]);
    } catch {
      return undefined;
    }
  }
}
