import type { Vault } from '../core/vault.ts';
import type { SecretWriter } from './secrets.ts';
import type { Transactions } from './transaction.ts';

/** The name of the one document there is. */
const NAME = 'main';

/** The configuration, and the secrets that change with it. */
export function configStore({ transactions, secrets }: { transactions: Transactions; secrets: SecretWriter }): Vault['config'] {
  return {
    read: () => transactions.read(['config'], async (tx) => (await tx.objectStore('config').get(NAME))?.value),
    write: (value, changes = new Map()) => secrets.write(changes, ['config'], ({ put }) => put('config', NAME, { name: NAME, value })),
  };
}
