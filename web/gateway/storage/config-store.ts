import type { Vault } from './vault-interface.ts';
import { toConfigDocument, toConfigRows } from './config-rows.ts';
import type { SecretWriter } from './secret-store.ts';
import { isSameJson } from './session-records.ts';
import type { Transactions } from './transactions.ts';

/**
 * The configuration, and the secrets that change with it. Only changed rows are written, so that other rows keep the changes of other
 * hosts.
 */
export function createConfigStore({ transactions, secrets }: { transactions: Transactions; secrets: SecretWriter }): Vault['config'] {
  return {
    read: () =>
      transactions.read(['config'], async (tx) => {
        const rows = await tx.objectStore('config').getAll();
        return rows.length === 0 ? undefined : toConfigDocument(rows);
      }),

    write: (value, changes = new Map(), base) =>
      secrets.write(changes, ['config'], async ({ tx, put, remove }) => {
        const rows = toConfigRows(value);
        const before = base ? toConfigRows(base) : new Map((await tx.objectStore('config').getAll()).map((row) => [row.name, row.value]));
        await Promise.all([
          ...[...rows].map(async ([name, piece]) => {
            if (!before.has(name) || !isSameJson(piece, before.get(name))) await put('config', name, { name, value: piece });
          }),
          ...[...before.keys()].filter((name) => !rows.has(name)).map((name) => remove('config', name)),
        ]);
      }),
  };
}
