import type { Transactions } from './transactions.ts';

/** Strictly writes a local row and reads it back; see `Vault.check`. Rejects while storage is full. */
export async function checkWritable(transactions: Transactions): Promise<void> {
  const value = crypto.randomUUID();
  if (transactions.sink?.diskFull) throw transactions.sink.diskFull;
  await transactions.writeLocal(['local'], (tx) => tx.objectStore('local').put({ name: 'checked', value }), 'strict');
  const row = await transactions.read(['local'], (tx) => tx.objectStore('local').get('checked'));
  if (row?.name !== 'checked' || row.value !== value) throw new Error('Written data could not be read back');
}
