import type { FileEntry, FileRecord } from '#shared/rpc/methods/workspace.ts';
import type { FileChanged, Vault } from '../core/vault.ts';
import type { FileTotal, FileTotals } from './file-totals.ts';
import type { ReadTransaction, WriteTransaction } from './schema.ts';
import type { Transactions, Write } from './transaction.ts';

const keyOf = (workspace: string, path: string): string => `${workspace}/${path}`;

type Stored = Pick<FileEntry, 'size' | 'modifiedAt'>;

/** The files of workspaces. Lists are read from the index `entry` only. */
export function fileStore({ transactions, totals }: { transactions: Transactions; totals: FileTotals }): Vault['files'] {
  const totalOf = ({ tx }: Write, workspace: string): Promise<FileTotal> => totals.within(tx, workspace, () => counted(tx, workspace));
  const listeners = new Set<Parameters<Vault['files']['watch']>[0]>();
  const tell = (workspace: string, path: string, removed: boolean): void => {
    for (const listener of listeners) listener({ workspace, path, removed });
  };
  return {
    list: (workspace, prefix) =>
      transactions.read(['files'], async (tx) => {
        const found = [];
        // Every path with the prefix sorts before the prefix followed by the last code unit.
        const range = IDBKeyRange.bound([workspace, prefix], [workspace, `${prefix}\uffff`, []]);
        for (let cursor = await entries(tx, range); cursor; cursor = await cursor.continue()) {
          const [, path, mimeType, size, modifiedAt] = cursor.key;
          found.push({ workspace, path, mimeType, size, modifiedAt });
        }
        return found;
      }),

    get: (workspace, path) => transactions.read(['files'], (tx) => tx.objectStore('files').get(keyOf(workspace, path))),

    workspaces: () =>
      transactions.read(['files'], async (tx) => {
        const found: string[] = [];
        // Jumps from the first file of a workspace to the first of the next: arrays sort after all strings.
        for (let cursor = await entries(tx, null); cursor; cursor = await entries(tx, IDBKeyRange.lowerBound([found.at(-1) ?? '', []])))
          found.push(cursor.key[0]);
        return found;
      }),

    async put(file, check) {
      const stored = await transactions.write(['files'], async (write) => {
        const total = await totalOf(write, file.workspace);
        const before = await standing(write, file.workspace, file.path);
        const others = { files: total.files - (before ? 1 : 0), bytes: total.bytes - (before?.size ?? 0) };
        check(others);
        const stored = await store(write, file, before);
        Object.assign(total, { files: others.files + 1, bytes: others.bytes + file.size });
        return stored;
      });
      tell(file.workspace, file.path, false);
      return stored;
    },

    async remove(workspace, path) {
      const removed = await transactions.write(['files'], async (write) => {
        const before = await standing(write, workspace, path);
        if (!before) return false;
        const total = await totalOf(write, workspace);
        await write.remove('files', keyOf(workspace, path));
        Object.assign(total, { files: total.files - 1, bytes: total.bytes - before.size });
        return true;
      });
      if (removed) tell(workspace, path, true);
      return removed;
    },

    async replace(workspace, changes, limits) {
      const outcomes = await transactions.write(['files'], async (write) => {
        const total = await totalOf(write, workspace);
        const done: FileChanged[] = [];
        for (const { path, seen, file } of changes) {
          const before = await standing(write, workspace, path);
          const files = total.files + (file ? 1 : 0) - (before ? 1 : 0);
          const bytes = total.bytes + (file?.size ?? 0) - (before?.size ?? 0);
          if (before?.size !== seen?.size || before?.modifiedAt !== seen?.modifiedAt) done.push({ outcome: 'changed', file: null });
          else if ((files > limits.files && files > total.files) || (bytes > limits.bytes && bytes > total.bytes))
            done.push({ outcome: 'full', file: null });
          else {
            if (!file && before) await write.remove('files', keyOf(workspace, path));
            Object.assign(total, { files, bytes });
            done.push({ outcome: 'done', file: file && (await store(write, file, before)) });
          }
        }
        return done;
      });
      for (const [at, { outcome, file }] of outcomes.entries()) {
        const path = changes[at]?.path;
        if (outcome === 'done' && path !== undefined) tell(workspace, path, file === null);
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
async function standing({ tx }: Write, workspace: string, path: string): Promise<Stored | undefined> {
  const cursor = await entries(tx, IDBKeyRange.bound([workspace, path], [workspace, path, []]));
  if (!cursor) return undefined;
  const [, , , size, modifiedAt] = cursor.key;
  return { size, modifiedAt };
}

async function counted(tx: WriteTransaction, workspace: string): Promise<FileTotal> {
  const total = { files: 0, bytes: 0 };
  for (let cursor = await entries(tx, IDBKeyRange.bound([workspace], [workspace, []])); cursor; cursor = await cursor.continue()) {
    total.files++;
    total.bytes += cursor.key[3];
  }
  return total;
}

/** A new version always gets a new time, even if the clock stands still or was set back: size and time identify a version. */
async function store({ put }: Write, file: FileRecord, before: Stored | undefined): Promise<FileRecord> {
  const stored = before && before.modifiedAt >= file.modifiedAt ? { ...file, modifiedAt: before.modifiedAt + 1 } : file;
  await put('files', stored.key, stored);
  return stored;
}

function entries(tx: ReadTransaction | WriteTransaction, range: IDBKeyRange | null) {
  // Both kinds of transaction have the same methods for reading.
  return (tx as ReadTransaction).objectStore('files').index('entry').openKeyCursor(range);
}
