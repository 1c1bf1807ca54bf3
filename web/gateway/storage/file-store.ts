import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import type { Vault } from './vault-interface.ts';
import type { FileChangeResult } from './records/file-change.ts';
import type { FileTotal, FileTotals } from './file-totals.ts';
import type { ReadTransaction, WriteTransaction } from './vault-schema.ts';
import type { Transactions, VaultWrite } from './transactions.ts';

const toFileKey = (workspace: string, path: string): string => `${workspace}/${path}`;

type FileVersion = Pick<FileEntry, 'size' | 'modifiedAt'>;

/** The files of workspaces. Lists are read from the index `entry` only. */
export function createFileStore({ transactions, totals }: { transactions: Transactions; totals: FileTotals }): Vault['files'] {
  const getTotal = ({ tx }: VaultWrite, workspace: string): Promise<FileTotal> =>
    totals.get(tx, workspace, () => countFiles(tx, workspace));
  const listeners = new Set<Parameters<Vault['files']['watch']>[0]>();
  const notify = (workspace: string, path: string, removed: boolean): void => {
    for (const listener of listeners) listener({ workspace, path, removed });
  };
  return {
    list: (workspace, prefix) =>
      transactions.read(['files'], async (tx) => {
        const found = [];
        // Every path with the prefix sorts before the prefix followed by the last code unit.
        const range = IDBKeyRange.bound([workspace, prefix], [workspace, `${prefix}\uffff`, []]);
        for (let cursor = await openFileCursor(tx, range); cursor; cursor = await cursor.continue()) {
          const [, path, mimeType, size, modifiedAt] = cursor.key;
          found.push({ workspace, path, mimeType, size, modifiedAt });
        }
        return found;
      }),

    get: (workspace, path) => transactions.read(['files'], (tx) => tx.objectStore('files').get(toFileKey(workspace, path))),

    workspaces: () =>
      transactions.read(['files'], async (tx) => {
        const found: string[] = [];
        // Jumps from the first file of a workspace to the first of the next: arrays sort after all strings.
        for (
          let cursor = await openFileCursor(tx, null);
          cursor;
          cursor = await openFileCursor(tx, IDBKeyRange.lowerBound([found.at(-1) ?? '', []]))
        )
          found.push(cursor.key[0]);
        return found;
      }),

    async put(file, check) {
      const stored = await transactions.write(['files'], async (write) => {
        const total = await getTotal(write, file.workspace);
        const before = await findFileVersion(write, file.workspace, file.path);
        const othersTotal = { files: total.files - (before ? 1 : 0), bytes: total.bytes - (before?.size ?? 0) };
        check(othersTotal);
        const stored = await storeFile(write, file, before);
        Object.assign(total, { files: othersTotal.files + 1, bytes: othersTotal.bytes + file.size });
        return stored;
      });
      notify(file.workspace, file.path, false);
      return stored;
    },

    async remove(workspace, path) {
      const removed = await transactions.write(['files'], async (write) => {
        const before = await findFileVersion(write, workspace, path);
        if (!before) return false;
        const total = await getTotal(write, workspace);
        await write.remove('files', toFileKey(workspace, path));
        Object.assign(total, { files: total.files - 1, bytes: total.bytes - before.size });
        return true;
      });
      if (removed) notify(workspace, path, true);
      return removed;
    },

    async replace(workspace, changes, limits) {
      const outcomes = await transactions.write(['files'], async (write) => {
        const total = await getTotal(write, workspace);
        const done: FileChangeResult[] = [];
        for (const { path, base, file } of changes) {
          const before = await findFileVersion(write, workspace, path);
          const files = total.files + (file ? 1 : 0) - (before ? 1 : 0);
          const bytes = total.bytes + (file?.size ?? 0) - (before?.size ?? 0);
          if (before?.size !== base?.size || before?.modifiedAt !== base?.modifiedAt) done.push({ outcome: 'changed', file: null });
          else if ((files > limits.files && files > total.files) || (bytes > limits.bytes && bytes > total.bytes))
            done.push({ outcome: 'full', file: null });
          else {
            if (!file && before) await write.remove('files', toFileKey(workspace, path));
            Object.assign(total, { files, bytes });
            done.push({ outcome: 'done', file: file && (await storeFile(write, file, before)) });
          }
        }
        return done;
      });
      for (const [index, { outcome, file }] of outcomes.entries()) {
        const path = changes[index]?.path;
        if (outcome === 'done' && path !== undefined) notify(workspace, path, file === null);
      }
      return outcomes;
    },

    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A file without its content. */
async function findFileVersion({ tx }: VaultWrite, workspace: string, path: string): Promise<FileVersion | undefined> {
  const cursor = await openFileCursor(tx, IDBKeyRange.bound([workspace, path], [workspace, path, []]));
  if (!cursor) return undefined;
  const [, , , size, modifiedAt] = cursor.key;
  return { size, modifiedAt };
}

async function countFiles(tx: WriteTransaction, workspace: string): Promise<FileTotal> {
  const total = { files: 0, bytes: 0 };
  for (let cursor = await openFileCursor(tx, IDBKeyRange.bound([workspace], [workspace, []])); cursor; cursor = await cursor.continue()) {
    total.files++;
    total.bytes += cursor.key[3];
  }
  return total;
}

/** A new version always gets a new time, even if the clock stands still or was set back: size and time identify a version. */
async function storeFile({ put }: VaultWrite, file: FileRecord, before: FileVersion | undefined): Promise<FileRecord> {
  const stored = before && before.modifiedAt >= file.modifiedAt ? { ...file, modifiedAt: before.modifiedAt + 1 } : file;
  await put('files', stored.key, stored);
  return stored;
}

function openFileCursor(tx: ReadTransaction | WriteTransaction, range: IDBKeyRange | null) {
  // Both kinds of transaction have the same methods for reading.
  return (tx as ReadTransaction).objectStore('files').index('entry').openKeyCursor(range);
}
