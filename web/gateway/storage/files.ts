import type { Vault } from '../core/vault.ts';
import type { ReadTransaction, WriteTransaction } from './schema.ts';
import type { Transactions } from './transaction.ts';

const keyOf = (workspace: string, path: string): string => `${workspace}/${path}`;

/** The files of workspaces. Lists come from the index `entry` alone. */
export function fileStore({ transactions }: { transactions: Transactions }): Vault['files'] {
  return {
    list: (workspace, prefix) =>
      transactions.read(['files'], async (tx) => {
        const found = [];
        // Every path that begins so is below the prefix with the last of all code units behind it.
        const range = IDBKeyRange.bound([workspace, prefix], [workspace, `${prefix}\uffff`, []]);
        for (let cursor = await entries(tx, range); cursor; cursor = await cursor.continue()) {
          const [, path, mimeType, size, modifiedAt] = cursor.key;
          found.push({ workspace, path, mimeType, size, modifiedAt });
        }
        return found;
      }),

    get: (workspace, path) => transactions.read(['files'], (tx) => tx.objectStore('files').get(keyOf(workspace, path))),

    put: (file, check) =>
      transactions.write(['files'], async ({ tx, put }) => {
        const others = { files: 0, bytes: 0 };
        const range = IDBKeyRange.bound([file.workspace], [file.workspace, []]);
        for (let cursor = await entries(tx, range); cursor; cursor = await cursor.continue()) {
          const [, path, , size] = cursor.key;
          if (path === file.path) continue;
          others.files++;
          others.bytes += size;
        }
        check(others);
        await put('files', file.key, file);
      }),

    remove: (workspace, path) =>
      transactions.write(['files'], async ({ tx, remove }) => {
        const key = keyOf(workspace, path);
        if ((await tx.objectStore('files').getKey(key)) === undefined) return false;
        await remove('files', key);
        return true;
      }),
  };
}

function entries(tx: ReadTransaction | WriteTransaction, range: IDBKeyRange) {
  // Both kinds of transaction read alike.
  return (tx as ReadTransaction).objectStore('files').index('entry').openKeyCursor(range);
}
