import type { Vault } from './vault-interface.ts';
import type { StoreName } from './vault-schema.ts';
import { importVaultKey, createSealingKey, seal, SEALING_KEY, unseal, type SealingKey } from './secret-sealing.ts';
import type { Transactions, VaultWrite } from './transactions.ts';

/** A secret exists but cannot be read: its key is gone, or the row was changed. */
export class SecretUnreadableError extends Error {
  override name = 'SecretUnreadableError';
}

type SecretChanges = ReadonlyMap<string, string | null>;

export interface SecretWriter {
  /** Sets and removes (null) secrets and runs `also`, all in one transaction. */
  write(changes: SecretChanges, stores?: StoreName[], also?: (write: VaultWrite) => Promise<void>): Promise<void>;
  /**
   * Seals with the vault's key (32 bytes, base64url, or as it is stored) from now on, and seals existing secrets again: their values are
   * the same, so nothing is logged as a change.
   */
  adoptVaultKey(vaultKey: string | SealingKey): Promise<void>;
}

/** Secrets, encrypted at rest. Only ciphertext ever reaches the database. */
export function createSecretStore({ transactions }: { transactions: Transactions }): Vault['secrets'] & SecretWriter {
  const storedKey = (): Promise<SealingKey | undefined> => transactions.read(['keys'], (tx) => tx.objectStore('keys').get(SEALING_KEY));

  async function write(changes: SecretChanges, stores: StoreName[] = [], also = async (_: VaultWrite): Promise<void> => {}): Promise<void> {
    // Encryption comes before the transaction; by then the key may exist (from another call) or be gone (cleared data).
    for (;;) {
      const needsKey = [...changes.values()].some((value) => value !== null);
      const key = needsKey ? ((await storedKey()) ?? (await createSealingKey())) : undefined;
      const rows = await Promise.all(
        [...changes].map(async ([name, value]) => [name, value === null || !key ? null : await seal(key, name, value)] as const),
      );
      const isStored = await transactions.write(['secrets', 'keys', ...stores], async (transaction) => {
        const { tx, put, remove } = transaction;
        const secrets = tx.objectStore('secrets');
        const keys = tx.objectStore('keys');
        const current = await keys.get(SEALING_KEY);
        if (key && current && current.keyId !== key.keyId) return false;
        if (key && !current) await keys.put(key);
        for (const [name, row] of rows) {
          if (row) await put('secrets', name, row);
          else if ((await secrets.getKey(name)) !== undefined) await remove('secrets', name);
        }
        await also(transaction);
        return true;
      });
      if (isStored) return;
    }
  }

  async function adoptVaultKey(vaultKey: string | SealingKey): Promise<void> {
    const key = typeof vaultKey === 'string' ? await importVaultKey(vaultKey) : vaultKey;
    for (;;) {
      const [former, rows] = await transactions.read(['secrets', 'keys'], (tx) =>
        Promise.all([tx.objectStore('keys').get(SEALING_KEY), tx.objectStore('secrets').getAll()]),
      );
      if (former?.keyId === key.keyId) return;
      // Secrets that the former key does not open are already lost and stay unchanged.
      const resealed = await Promise.all(
        rows.map(async (row) =>
          former?.keyId === row.keyId ? seal(key, row.name, await unseal(former, row)).catch(() => undefined) : undefined,
        ),
      );
      const isStored = await transactions.writeLocal(
        ['secrets', 'keys'],
        async (tx) => {
          const secrets = tx.objectStore('secrets');
          const currentRows = await secrets.getAll();
          const isSame =
            currentRows.length === rows.length &&
            currentRows.every(({ name, iv }, index) => rows[index]?.name === name && String(rows[index].iv) === String(iv));
          if (!isSame || (await tx.objectStore('keys').get(SEALING_KEY))?.keyId !== former?.keyId) return false;
          await tx.objectStore('keys').put(key);
          for (const row of resealed) if (row) await secrets.put(row);
          return true;
        },
        'strict',
      );
      if (isStored) return;
    }
  }

  return {
    write,
    adoptVaultKey,
    set: (name, value) => write(new Map([[name, value]])),
    async get(name) {
      const [row, key] = await transactions.read(['secrets', 'keys'], (tx) =>
        Promise.all([tx.objectStore('secrets').get(name), tx.objectStore('keys').get(SEALING_KEY)]),
      );
      if (!row) return undefined;
      const createUnreadableError = (cause?: unknown): SecretUnreadableError =>
        new SecretUnreadableError(`The secret "${name}" can’t be decrypted. Set it again.`, { cause });
      if (key?.keyId !== row.keyId) throw createUnreadableError();
      return unseal(key, row).catch((error: unknown) => {
        throw createUnreadableError(error);
      });
    },
  };
}
