import { OwnershipLostError, StorageFullError } from './vault-errors.ts';
import { Database } from './database.ts';
import { migrations } from './migrations.ts';
import type { WriteTransaction } from './vault-schema.ts';

/**
 * Makes the caller the owner of the data: resolves with an epoch, stored with strict durability, that is higher than every earlier one;
 * vaults opened with an earlier epoch can no longer write. Rejects with `VaultTooNewError`.
 */
export async function acquireEpoch(name: string, options: { onblocked?: () => void } = {}): Promise<number> {
  const database = new Database({ name, migrations, onblocked: options.onblocked });
  const acquire = (): Promise<number> =>
    database.write(['local'], 'strict', async (tx) => {
      // The wall clock distinguishes epochs if the data was cleared in between, so that counting restarted.
      const value = Math.max(((await getOwnerEpoch(tx)) ?? 0) + 1, Date.now());
      await tx.objectStore('local').put({ name: 'epoch', value });
      return value;
    });
  try {
    // Without an epoch nothing could be deleted either.
    return await acquire().catch(async (error: unknown) => {
      if (!(error instanceof StorageFullError)) throw error;
      return (await import('./disk-reserve.ts')).withReserve(name, error, acquire);
    });
  } finally {
    await database.close();
  }
}

/**
 * Within a transaction over `local`: throws `OwnershipLostError` unless `epoch`, if given, is still the owner's. Returns true if the data had
 * been cleared.
 */
export async function checkEpoch(tx: WriteTransaction, epoch: number | undefined): Promise<boolean> {
  const owner = await getOwnerEpoch(tx);
  if (epoch === undefined || owner === epoch) return false;
  if (owner !== undefined) throw new OwnershipLostError('Another worker has taken over the data. Nothing was saved.');
  // The browser has cleared the data. This host is still the owner, and stores its epoch for later ones.
  await tx.objectStore('local').put({ name: 'epoch', value: epoch });
  return true;
}

async function getOwnerEpoch(tx: WriteTransaction): Promise<number | undefined> {
  const row = await tx.objectStore('local').get('epoch');
  return row?.name === 'epoch' ? row.value : undefined;
}
