import type { DBSchema } from 'idb';
import { type BrowserTransport, browserTransport } from '#shared/sync/nats/browser-transport.ts';
import { Database } from '../storage/database.ts';
import type { SealedSecret } from '../storage/vault-schema.ts';
import { importVaultKey, seal, type SealingKey, unseal } from '../storage/secret-sealing.ts';
import type { SharingSettings } from './cluster-sharing-session.ts';
import { type SharingKeys, deriveSharingKeys } from './web-seal.ts';

/** Source of the sharing settings: the bridge that this browser is linked to, or a person here. */
type SharingSource = 'bridge' | 'here';

interface SettingsRow {
  name: 'cluster';
  from: SharingSource;
  keys: SharingKeys;
  vaultKey: SealingKey;
  /** Contains passwords and tokens. */
  way: SealedSecret;
}

interface SettingsSchema extends DBSchema {
  sharing: { key: string; value: SettingsRow };
}

const ROW_NAME = 'cluster';

/**
 * This browser's settings for sharing its vault, with their keys, in a separate database, since they concern only this browser. Keys are
 * stored as non-extractable, and the credentials sealed with one of them.
 */
export class SharingSettingsStore {
  readonly #database: Database<SettingsSchema>;

  /** `name`: name of the database. */
  constructor(name: string) {
    this.#database = new Database<SettingsSchema>({
      name,
      migrations: [(db) => void db.createObjectStore('sharing', { keyPath: 'name' })],
    });
  }

  /** Null if there is no setting, or it cannot be read. */
  async read(): Promise<(SharingSettings & { from: SharingSource }) | null> {
    const row = await this.#database.read(['sharing'], (tx) => tx.objectStore('sharing').get(ROW_NAME));
    if (!row) return null;
    const { from, keys, vaultKey } = row;
    const text = await unseal(vaultKey, row.way).catch(() => null);
    const { data: transport } = browserTransport.safeParse(text === null ? null : JSON.parse(text));
    return transport ? { way: transport, keys, vaultKey, from } : null;
  }

  /** `key`: the vault's key, 256 bit, base64url. */
  async write(key: string, transport: BrowserTransport, from: SharingSource): Promise<void> {
    const [keys, vaultKey] = await Promise.all([deriveSharingKeys(key), importVaultKey(key)]);
    const row: SettingsRow = { name: ROW_NAME, from, keys, vaultKey, way: await seal(vaultKey, ROW_NAME, JSON.stringify(transport)) };
    await this.#database.write(['sharing'], 'strict', (tx) => tx.objectStore('sharing').put(row));
  }

  async remove(): Promise<void> {
    await this.#database.write(['sharing'], 'strict', (tx) => tx.objectStore('sharing').delete(ROW_NAME));
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
