import type { Vault } from '../core/vault.ts';
import type { Transactions } from './transaction.ts';

/** The name of the one document there is. */
const NAME = 'main';

/** The configuration. */
export function configStore({ transactions }: { transactions: Transactions }): Vault['config'] {
  return {
    read: () => transactions.read(['config'], async (tx) => (await tx.objectStore('config').get(NAME))?.value),
    write: (value) => transactions.write(['config'], ({ put }) => put('config', NAME, { name: NAME, value })),
  };
}
