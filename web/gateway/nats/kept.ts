import type { DBSchema } from 'idb';
import { type BrowserWay, browserWay } from '#shared/sync/nats/way.ts';
import { Database } from '../storage/database.ts';
import type { SealedSecret } from '../storage/schema.ts';
import { importVaultKey, seal, type SealingKey, unseal } from '../storage/sealing.ts';
import type { SharingSetting } from './sharing.ts';
import { type SharingKeys, sharingKeys } from './web-seal.ts';

/** Source of the sharing settings: the bridge that this browser is linked to, or a person here. */
export type SharingSource = 'bridge' | 'here';

interface Row {
  name: 'cluster';
  from: SharingSource;
  keys: SharingKeys;
  vaultKey: SealingKey;
  /** Contains passwords and tokens. */
  way: SealedSecret;
}

interface KeptSchema extends DBSchema {
  sharing: { key: string; value: Row };
}

const NAME = 'cluster';

/**
 * This browser's settings for sharing its vault, with their keys, in a separate database, since they concern only this browser. Keys are
 * stored as non-extractable, and the credentials sealed with one of them.
 */
export class KeptSharing {
  readonly #database: Database<KeptSchema>;

  /** `name`: name of the database. */
  constructor(name: string) {
    this.#database = new Database<KeptSchema>({ name, steps: [(db) => void db.createObjectStore('sharing', { keyPath: 'name' })] });
  }

  /** Null if there is no setting, or it cannot be read. */
  async read(): Promise<(SharingSetting & { from: SharingSource }) | null> {
    const row = await this.#database.read(['sharing'], (tx) => tx.objectStore('sharing').get(NAME));
    if (!row) return null;
    const { from, keys, vaultKey } = row;
    const text = await unseal(vaultKey, row.way).catch(() => null);
    const { data: way } = browserWay.safeParse(text === null ? null : JSON.parse(text));
    return way ? { way, keys, vaultKey, from } : null;
  }

  /** `key`: the vault's key, 256 bit, base64url. */
  async write(key: string, way: BrowserWay, from: SharingSource): Promise<void> {
    const [keys, vaultKey] = await Promise.all([sharingKeys(key), importVaultKey(key)]);
    const row: Row = { name: NAME, from, keys, vaultKey, way: await seal(vaultKey, NAME, JSON.stringify(way)) };
    await this.#database.write(['sharing'], 'strict', (tx) => tx.objectStore('sharing').put(row));
  }

  async forget(): Promise<void> {
    await this.#database.write(['sharing'], 'strict', (tx) => tx.objectStore('sharing').delete(NAME));
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
