import type { Vault } from '../core/vault.ts';
import { configDocument, configRows } from './config-rows.ts';
import type { SecretWriter } from './secrets.ts';
import { isSame } from './session-parts.ts';
import type { Transactions } from './transaction.ts';

/**
 * The configuration, and the secrets that change with it. Only changed rows are written, so that other rows keep the changes of other
 * hosts.
 */
export function configStore({ transactions, secrets }: { transactions: Transactions; secrets: SecretWriter }): Vault['config'] {
  return {
    read: () =>
      transactions.read(['config'], async (tx) => {
        const rows = await tx.objectStore('config').getAll();
        return rows.length === 0 ? undefined : configDocument(rows);
      }),

    write: (value, changes = new Map(), base) =>
      secrets.write(changes, ['config'], async ({ tx, put, remove }) => {
        const rows = configRows(value);
        const before = base ? configRows(base) : new Map((await tx.objectStore('config').getAll()).map((row) => [row.name, row.value]));
        await Promise.all([
          ...[...rows].map(async ([name, piece]) => {
            if (!before.has(name) || !isSame(piece, before.get(name))) await put('config', name, { name, value: piece });
          }),
          ...[...before.keys()].filter((name) => !rows.has(name)).map((name) => remove('config', name)),
        ]);
      }),
  };
}
