import type { Workspace, WorkspaceFile } from '../gateway/knowledge/memory/workspace.ts';
import { splitWorkspacePath } from '../gateway/knowledge/memory/workspace-path.ts';
import type { Transaction } from '../gateway/storage/database.ts';
import { getStore } from './get-store.ts';
import type { FileRow, WorkspaceSchema } from './workspace-schema.ts';
import { toDatabaseName, withDatabaseErrors, getWorkspaceDatabase } from './workspace-database.ts';

const STORE_NAMES: ('files' | 'texts')[] = ['files', 'texts'];
/**
 * Size in characters up to which appended text joins the last part of a file; beyond it a new part begins, so that a long file is not
 * rewritten for each line.
 */
const MAX_PART_CHARS = 65_536;

type WriteTx = Transaction<WorkspaceSchema, 'readwrite'>;
type ReadTx = Transaction<WorkspaceSchema, 'readonly'> | WriteTx;

/**
 * A workspace in an IndexedDB database of that name. Files whose names begin with a dot are excluded, except for the names in `hidden`,
 * such as `.dreams`. Several tabs and workers may use one at once: each change is one transaction, on disk when the promise resolves. If
 * the quota is exceeded, nothing is stored.
 */
export function databaseWorkspace(workspaceDir: string, { hidden = [] }: { hidden?: readonly string[] } = {}): Workspace {
  const name = toDatabaseName(workspaceDir);
  const database = getWorkspaceDatabase(name);
  const toCheckedPath = (path: string): string => splitWorkspacePath(path, hidden).join('/');

  const withRead = async <T>(path: string, body: (tx: ReadTx) => Promise<T>): Promise<T> => {
    toCheckedPath(path);
    return withDatabaseErrors(name, `Couldn’t read ${path}`, () => database.read(STORE_NAMES, body));
  };
  const withWrite = async <T>(path: string, body: (tx: WriteTx) => Promise<T>): Promise<T> => {
    toCheckedPath(path);
    return withDatabaseErrors(name, `Couldn’t write ${path}`, () => database.write(STORE_NAMES, 'strict', body));
  };

  return {
    read: (path) => withRead(path, (tx) => readText(tx, path)),
    write: (path, text) => withWrite(path, (tx) => writeText(tx, path, text)),
    append: (path, text) => withWrite(path, (tx) => appendText(tx, path, text)),
    async update(path, edit) {
      let refusal: { reason: unknown } | undefined;
      try {
        return await withWrite(path, async (tx) => {
          const before = await readText(tx, path);
          const text = applyEdit(before);
          if (text === undefined) return before;
          await writeText(tx, path, text);
          return text.toWellFormed();
        });
      } catch (error) {
        if (refusal) throw refusal.reason;
        throw error;
      }

      function applyEdit(before: string | undefined): string | undefined {
        try {
          return edit(before);
        } catch (error) {
          refusal = { reason: error };
          throw error;
        }
      }
    },
    remove: (path) =>
      withWrite(path, async (tx) => {
        if (!(await tx.objectStore('files').get(path))) return false;
        getStore(tx, 'files').delete(path);
        getStore(tx, 'texts').delete(getPartRange(path));
        return true;
      }),
    async stat(path) {
      const row = await withRead(path, (tx) => tx.objectStore('files').get(path));
      return row && toWorkspaceFile(row);
    },
    async list(folder) {
      if (folder !== undefined) toCheckedPath(folder);
      // `0` is the character after `/`.
      const range = folder === undefined ? null : IDBKeyRange.bound(`${folder}/`, `${folder}0`, false, true);
      const rows = await withDatabaseErrors(name, 'Couldn’t list the files', () =>
        database.read(['files'], (tx) => tx.objectStore('files').getAll(range)),
      );
      const isShown = (part: string): boolean => !part.startsWith('.') || hidden.includes(part);
      return rows.filter(({ path }) => path.split('/').every(isShown)).map(toWorkspaceFile);
    },
  };
}

const toWorkspaceFile = ({ path, size, modifiedAt }: FileRow): WorkspaceFile => ({ path, size, modifiedAt });
const getPartRange = (path: string): IDBKeyRange => IDBKeyRange.bound([path], [path, []]);
const countBytes = (text: string): number => new TextEncoder().encode(text).length;
/** Size and time identify a version, so the time always increases, even if the clock does not. */
const getNextTime = (row: FileRow | undefined): number => Math.max(Date.now(), (row?.modifiedAt ?? -Infinity) + 1);

async function readText(tx: ReadTx, path: string): Promise<string | undefined> {
  const [row, parts] = await Promise.all([tx.objectStore('files').get(path), tx.objectStore('texts').getAll(getPartRange(path))]);
  return row && parts.join('');
}

async function writeText(tx: WriteTx, path: string, input: string): Promise<void> {
  // Like in a folder, a lone surrogate is stored as a replacement character.
  const text = input.toWellFormed();
  const before = await tx.objectStore('files').get(path);
  const row: FileRow = { path, size: countBytes(text), modifiedAt: getNextTime(before), parts: 1, lastPart: text.length };
  getStore(tx, 'texts').delete(getPartRange(path));
  getStore(tx, 'texts').put(text, [path, 0]);
  getStore(tx, 'files').put(row);
}

async function appendText(tx: WriteTx, path: string, input: string): Promise<void> {
  const row = await tx.objectStore('files').get(path);
  if (!row) return writeText(tx, path, input);
  const text = input.toWellFormed();
  const last = row.parts - 1;
  const fitsLastPart = row.lastPart + text.length <= MAX_PART_CHARS;
  const added = fitsLastPart ? `${(await tx.objectStore('texts').get([path, last])) ?? ''}${text}` : text;
  const parts = fitsLastPart ? row.parts : row.parts + 1;
  const updated: FileRow = { path, size: row.size + countBytes(text), modifiedAt: getNextTime(row), parts, lastPart: added.length };
  getStore(tx, 'texts').put(added, [path, parts - 1]);
  getStore(tx, 'files').put(updated);
}
