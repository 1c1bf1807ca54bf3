import { OwnershipLost, StorageFull } from '../core/vault.ts';
import { Database } from './database.ts';
import { steps } from './migrations.ts';
import type { WriteTransaction } from './schema.ts';

/**
 * Makes the caller the owner of the data: resolves with an epoch, stored with strict durability, that is higher than every earlier one;
 * vaults opened with an earlier epoch can no longer write. Rejects with `VaultTooNew`.
 */
export async function takeEpoch(name: string, options: { onblocked?: () => void } = {}): Promise<number> {
  const database = new Database({ name, steps, onblocked: options.onblocked });
  const take = (): Promise<number> =>
    database.write(['local'], 'strict', async (tx) => {
      // The wall clock distinguishes epochs if the data was cleared in between, so that counting restarted.
      const value = Math.max(((await ownerOf(tx)) ?? 0) + 1, Date.now());
      await tx.objectStore('local').put({ name: 'epoch', value });
      return value;
    });
  try {
    // Without an epoch nothing could be deleted either.
    return await take().catch(async (error: unknown) => {
      if (!(error instanceof StorageFull)) throw error;
      return (await import('./reserve.ts')).withReserve(name, error, take);
    });
  } finally {
    await database.close();
  }
}

/**
 * Within a transaction over `local`: throws `OwnershipLost` unless `epoch`, if given, is still the owner's. Returns true if the data had
 * been cleared.
 */
export async function checkEpoch(tx: WriteTransaction, epoch: number | undefined): Promise<boolean> {
  const owner = await ownerOf(tx);
  if (epoch === undefined || owner === epoch) return false;
  if (owner !== undefined) throw new OwnershipLost('Another worker has taken over the data. Nothing was saved.');
  // The browser has cleared the data. This host is still the owner, and stores its epoch for later ones.
  await tx.objectStore('local').put({ name: 'epoch', value: epoch });
  return true;
}

async function ownerOf(tx: WriteTransaction): Promise<number | undefined> {
  const row = await tx.objectStore('local').get('epoch');
  return row?.name === 'epoch' ? row.value : undefined;
}
