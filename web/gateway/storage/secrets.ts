import type { Vault } from '../core/vault.ts';
import { newSealingKey, seal, SEALING_KEY, unseal, type SealingKey } from './sealing.ts';
import type { Transactions } from './transaction.ts';

/** A secret is there but cannot be read: its key is gone, or the row was changed. */
export class SecretUnreadable extends Error {
  override name = 'SecretUnreadable';
}

/** Secrets, encrypted at rest. Only ciphertext ever reaches the database. */
export function secretStore({ transactions }: { transactions: Transactions }): Vault['secrets'] {
  const storedKey = (): Promise<SealingKey | undefined> => transactions.read(['keys'], (tx) => tx.objectStore('keys').get(SEALING_KEY));

  return {
    async get(name) {
      const [row, key] = await transactions.read(['secrets', 'keys'], (tx) =>
        Promise.all([tx.objectStore('secrets').get(name), tx.objectStore('keys').get(SEALING_KEY)]),
      );
      if (!row) return undefined;
      const unreadable = (cause?: unknown): SecretUnreadable =>
        new SecretUnreadable(`The secret "${name}" can no longer be decrypted; set it again`, { cause });
      if (key?.keyId !== row.keyId) throw unreadable();
      return unseal(key, row).catch((error: unknown) => {
        throw unreadable(error);
      });
    },

    async set(name, value) {
      if (value === null) return remove(name);
      // Encryption comes before the transaction; the key may have come (another call's) or gone (cleared data) by then.
      for (;;) {
        const key = (await storedKey()) ?? (await newSealingKey());
        const row = await seal(key, name, value);
        const stored = await transactions.write(['secrets', 'keys'], async ({ tx, put }) => {
          const keys = tx.objectStore('keys');
          const current = await keys.get(SEALING_KEY);
          if (current && current.keyId !== key.keyId) return false;
          await Promise.all([current ? undefined : keys.put(key), put('secrets', name, row)]);
          return true;
        });
        if (stored) return;
      }
    },
  };

  function remove(name: string): Promise<void> {
    return transactions.write(['secrets'], async (write) => {
      if ((await write.tx.objectStore('secrets').getKey(name)) !== undefined) await write.remove('secrets', name);
    });
  }
}
