import type { Vault } from './vault-interface.ts';
import type { Transactions } from './transactions.ts';

/** The remembered facts, oldest first. */
export function createMemoryStore({ transactions }: { transactions: Transactions }): Vault['memories'] {
  return {
    add: (memory) => transactions.write(['memories'], ({ put }) => put('memories', memory.id, memory)),

    remove: (id) =>
      transactions.write(['memories'], async ({ tx, remove }) => {
        if ((await tx.objectStore('memories').getKey(id)) === undefined) return false;
        await remove('memories', id);
        return true;
      }),

    list: () => transactions.read(['memories'], (tx) => tx.objectStore('memories').index('createdAt').getAll()),
  };
}
