import { fromBase64, toBase64url } from '#shared/base64.ts';
import { SecretUnreadableError } from '../../../storage/open-vault.ts';
import type { Vault } from '../../../storage/vault-interface.ts';

/** Secret that holds the id of the key for new signatures. */
const CURRENT_KEY = 'provenance/current';
const KEY_BYTES = 32;
/** Characters of a hash: 128 bits. */
const HASH_CHARS = 22;

export interface ProvenanceKey {
  id: string;
  /** Keyed hash of a text. */
  hash(text: string): Promise<string>;
}

/**
 * The keys of provenance, as secrets of the vault. Each has a name of its own, so that keys which two replicas create at the same time both
 * stay.
 */
export class ProvenanceKeys {
  readonly #secrets: Vault['secrets'];
  readonly #keys = new Map<string, ProvenanceKey>();
  #current: Promise<ProvenanceKey> | undefined;

  constructor(secrets: Vault['secrets']) {
    this.#secrets = secrets;
  }

  /** The key for new signatures; created on first use. */
  current(): Promise<ProvenanceKey> {
    this.#current ??= this.#loadCurrent().catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }

  /** Undefined if this replica does not have the key. */
  async find(id: string): Promise<ProvenanceKey | undefined> {
    const known = this.#keys.get(id);
    if (known) return known;
    const stored = await this.#read(`provenance/${id}`);
    if (stored === undefined) return undefined;
    const key = await importKey(id, fromBase64(stored));
    this.#keys.set(id, key);
    return key;
  }

  async #loadCurrent(): Promise<ProvenanceKey> {
    const id = await this.#read(CURRENT_KEY);
    const known = id === undefined ? undefined : await this.find(id);
    if (known) return known;
    const newId = crypto.randomUUID();
    await this.#secrets.set(`provenance/${newId}`, toBase64url(crypto.getRandomValues(new Uint8Array(KEY_BYTES))));
    await this.#secrets.set(CURRENT_KEY, newId);
    const created = await this.find(newId);
    if (!created) throw new Error('The key for origins could not be stored.');
    return created;
  }

  /** Undefined also for a secret that cannot be decrypted. */
  async #read(name: string): Promise<string | undefined> {
    try {
      return await this.#secrets.get(name);
    } catch (error) {
      if (error instanceof SecretUnreadableError) return undefined;
      throw error;
    }
  }
}

async function importKey(id: string, bytes: Uint8Array<ArrayBuffer>): Promise<ProvenanceKey> {
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return {
    id,
    async hash(text) {
      const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text));
      return toBase64url(new Uint8Array(signed)).slice(0, HASH_CHARS);
    },
  };
}
