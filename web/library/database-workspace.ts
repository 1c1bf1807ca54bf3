import type { Workspace, WorkspaceFile } from '../gateway/core/memory/workspace.ts';
import { namesOf } from '../gateway/core/memory/workspace-path.ts';
import type { Transaction } from '../gateway/storage/database.ts';
import { plain } from './plain-store.ts';
import type { FileRow, WorkspaceSchema } from './schema.ts';
import { databaseName, told, workspaceDatabase } from './workspace-database.ts';

const STORES: ('files' | 'texts')[] = ['files', 'texts'];
/**
 * Size in characters up to which appended text joins the last part of a file; beyond it a new part begins, so that a long file is not
 * rewritten for each line.
 */
const PART = 65_536;

type Writing = Transaction<WorkspaceSchema, 'readwrite'>;
type Reading = Transaction<WorkspaceSchema, 'readonly'> | Writing;

/**
 * A workspace in an IndexedDB database of that name. Files whose names begin with a dot are excluded, except for the names in `hidden`,
 * such as `.dreams`. Several tabs and workers may use one at once: each change is one transaction, on disk when the promise resolves. If
 * the quota is exceeded, nothing is stored.
 */
export function databaseWorkspace(workspaceDir: string, { hidden = [] }: { hidden?: readonly string[] } = {}): Workspace {
  const name = databaseName(workspaceDir);
  const database = workspaceDatabase(name);
  const checked = (path: string): string => namesOf(path, hidden).join('/');

  const reading = async <T>(path: string, body: (tx: Reading) => Promise<T>): Promise<T> => {
    checked(path);
    return told(name, `Couldn’t read ${path}`, () => database.read(STORES, body));
  };
  const writing = async <T>(path: string, body: (tx: Writing) => Promise<T>): Promise<T> => {
    checked(path);
    return told(name, `Couldn’t write ${path}`, () => database.write(STORES, 'strict', body));
  };

  return {
    read: (path) => reading(path, (tx) => textOf(tx, path)),
    write: (path, text) => writing(path, (tx) => put(tx, path, text)),
    append: (path, text) => writing(path, (tx) => append(tx, path, text)),
    async update(path, edit) {
      let refused: { reason: unknown } | undefined;
      try {
        return await writing(path, async (tx) => {
          const before = await textOf(tx, path);
          const text = ask(before);
          if (text === undefined) return before;
          await put(tx, path, text);
          return text.toWellFormed();
        });
      } catch (error) {
        if (refused) throw refused.reason;
        throw error;
      }

      function ask(before: string | undefined): string | undefined {
        try {
          return edit(before);
        } catch (error) {
          refused = { reason: error };
          throw error;
        }
      }
    },
    remove: (path) =>
      writing(path, async (tx) => {
        if (!(await tx.objectStore('files').get(path))) return false;
        plain(tx, 'files').delete(path);
        plain(tx, 'texts').delete(partsOf(path));
        return true;
      }),
    async stat(path) {
      const row = await reading(path, (tx) => tx.objectStore('files').get(path));
      return row && statOf(row);
    },
    async list(under) {
      if (under !== undefined) checked(under);
      // `0` is what comes behind `/`.
      const range = under === undefined ? null : IDBKeyRange.bound(`${under}/`, `${under}0`, false, true);
      const rows = await told(name, 'Couldn’t list the files', () =>
        database.read(['files'], (tx) => tx.objectStore('files').getAll(range)),
      );
      const isShown = (part: string): boolean => !part.startsWith('.') || hidden.includes(part);
      return rows.filter(({ path }) => path.split('/').every(isShown)).map(statOf);
    },
  };
}

const statOf = ({ path, size, modifiedAt }: FileRow): WorkspaceFile => ({ path, size, modifiedAt });
const partsOf = (path: string): IDBKeyRange => IDBKeyRange.bound([path], [path, []]);
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
/** Size and time identify a version, so the time always increases, even if the clock does not. */
const timeAfter = (row: FileRow | undefined): number => Math.max(Date.now(), (row?.modifiedAt ?? -Infinity) + 1);

async function textOf(tx: Reading, path: string): Promise<string | undefined> {
  const [row, parts] = await Promise.all([tx.objectStore('files').get(path), tx.objectStore('texts').getAll(partsOf(path))]);
  return row && parts.join('');
}

async function put(tx: Writing, path: string, given: string): Promise<void> {
  // As in a folder, half of a character is kept as a mark.
  const text = given.toWellFormed();
  const before = await tx.objectStore('files').get(path);
  const row: FileRow = { path, size: bytesOf(text), modifiedAt: timeAfter(before), parts: 1, lastPart: text.length };
  plain(tx, 'texts').delete(partsOf(path));
  plain(tx, 'texts').put(text, [path, 0]);
  plain(tx, 'files').put(row);
}

async function append(tx: Writing, path: string, given: string): Promise<void> {
  const row = await tx.objectStore('files').get(path);
  if (!row) return put(tx, path, given);
  const text = given.toWellFormed();
  const last = row.parts - 1;
  const joins = row.lastPart + text.length <= PART;
  const added = joins ? `${(await tx.objectStore('texts').get([path, last])) ?? ''}${text}` : text;
  const parts = joins ? row.parts : row.parts + 1;
  const now: FileRow = { path, size: row.size + bytesOf(text), modifiedAt: timeAfter(row), parts, lastPart: added.length };
  plain(tx, 'texts').put(added, [path, parts - 1]);
  plain(tx, 'files').put(now);
}
