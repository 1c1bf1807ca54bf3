import { OwnershipLost, StorageFull } from '../core/vault.ts';
import { Database } from './database.ts';
import { steps } from './migrations.ts';
import type { WriteTransaction } from './schema.ts';

/**
 * Makes the caller the owner of the data: resolves with an epoch, stored in strict durability, that is higher than every earlier one;
 * vaults opened with an earlier epoch can no longer write. Rejects with `VaultTooNew`.
 */
export async function takeEpoch(name: string, options: { onblocked?: () => void } = {}): Promise<number> {
  const database = new Database({ name, steps, onblocked: options.onblocked });
  const take = (): Promise<number> =>
    database.write(['local'], 'strict', async (tx) => {
      // The wall clock keeps epochs apart where the data was cleared in between, and counting began anew.
      const value = Math.max(((await ownerOf(tx)) ?? 0) + 1, Date.now());
      await tx.objectStore('local').put({ name: 'epoch', value });
      return value;
    });
  try {
    // Without it nothing could be deleted either.
    return await take().catch(async (error: unknown) => {
      if (!(error instanceof StorageFull)) throw error;
      return (await import('./reserve.ts')).withReserve(name, error, take);
    });
  } finally {
    await database.close();
  }
}

/** Within a transaction over `local`: throws `OwnershipLost` unless `epoch`, where there is one, is still the owner's. True: the data had been cleared. */
export async function checkEpoch(tx: WriteTransaction, epoch: number | undefined): Promise<boolean> {
  const owner = await ownerOf(tx);
  if (epoch === undefined || owner === epoch) return false;
  if (owner !== undefined) throw new OwnershipLost('Another worker has taken over the data. Nothing was saved.');
  // The browser cleared the data under us. We are the owner still, and say so to whoever comes later.
  await tx.objectStore('local').put({ name: 'epoch', value: epoch });
  return true;
}

async function ownerOf(tx: WriteTransaction): Promise<number | undefined> {
  const row = await tx.objectStore('local').get('epoch');
  return row?.name === 'epoch' ? row.value : undefined;
}
