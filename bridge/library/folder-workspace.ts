import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Workspace, WorkspaceFile } from '../../web/gateway/knowledge/memory/workspace.ts';
import { splitWorkspacePath } from '../../web/gateway/knowledge/memory/workspace-path.ts';
import { getErrorCode, readFileIfExists, describeError, writeFileAtomically } from '../home-directory.ts';
import { syncFolder } from '../journal/journal-file.ts';
import { withFolderLock } from './folder-lock.ts';

/**
 * A workspace in a folder on disk that several processes may change at once. Ignores dotfiles and `node_modules`, except names in `hidden`,
 * such as `.dreams`.
 */
export function folderWorkspace(folder: string, { hidden = [] }: { hidden?: readonly string[] } = {}): Workspace {
  const toFilePath = (path: string): string => join(folder, ...splitWorkspacePath(path, hidden));
  const prepareFile = async (path: string): Promise<string> => {
    const file = toFilePath(path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return file;
  };
  const alone = <T>(path: string, done: string, work: () => Promise<T>): Promise<T> =>
    withFolderLock(folder, () => withErrorContext(path, done, work));
  const put = async (path: string, text: string): Promise<void> => {
    const file = await prepareFile(path);
    await assertUtf8(file, text);
    await withErrorContext(path, 'written', async () => {
      await writeFileAtomically(file, text, rename);
      syncFolder(file);
    });
  };
  return {
    read: (path) => readFileIfExists(toFilePath(path)),
    async write(path, text) {
      toFilePath(path);
      await withFolderLock(folder, () => put(path, text));
    },
    async update(path, edit) {
      const file = toFilePath(path);
      return withFolderLock(folder, async () => {
        // Programs that ignore the lock may save the file between the last check and the rename; Node has no way to prevent that.
        for (;;) {
          const statBefore = await statFile(file, path);
          const before = await readFileIfExists(file);
          const text = edit(before);
          if (text === undefined) return before;
          const now = await statFile(file, path);
          if (now?.size !== statBefore?.size || now?.modifiedAt !== statBefore?.modifiedAt) continue;
          await put(path, text);
          return text;
        }
      });
    },
    async append(path, text) {
      const file = await prepareFile(path);
      await alone(path, 'written', async () => {
        const handle = await open(file, 'a', 0o600);
        try {
          await handle.appendFile(text);
          await handle.sync();
        } finally {
          await handle.close();
        }
        syncFolder(file);
      });
    },
    async remove(path) {
      const file = toFilePath(path);
      return alone(path, 'removed', async () => {
        try {
          await rm(file);
        } catch (error) {
          if (isMissingError(error)) return false;
          throw error;
        }
        syncFolder(file);
        return true;
      });
    },
    stat: (path) => statFile(toFilePath(path), path),
    list: async (under) =>
      (await listFiles(under === undefined ? folder : toFilePath(under), under, hidden)).sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** Shared instances, which serve as the key for queues of operations on a workspace. */
const sharedWorkspaces = new Map<string, Workspace>();

/** Returns the same workspace for the same folder and names. */
export function getSharedWorkspace(folder: string, hidden: readonly string[]): Workspace {
  const key = JSON.stringify([folder, hidden]);
  const workspace = sharedWorkspaces.get(key) ?? folderWorkspace(folder, { hidden });
  sharedWorkspaces.set(key, workspace);
  return workspace;
}

async function listFiles(folder: string, under: string | undefined, hidden: readonly string[]): Promise<WorkspaceFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissingError(error)) return [];
    throw new Error(`Couldn’t read ${folder}: ${describeError(error)}`, { cause: error });
  });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const { name } = entry;
      if ((name.startsWith('.') && !hidden.includes(name)) || name === 'node_modules' || /[\\:]/.test(name)) return [];
      const path = under === undefined ? name : `${under}/${name}`;
      if (entry.isDirectory()) return listFiles(join(folder, name), path, hidden);
      // Temporary file of a process that has died.
      if (name.endsWith('.tmp')) return [];
      return (await statFile(join(folder, name), path)) ?? [];
    }),
  );
  return found.flat();
}

async function statFile(file: string, path: string): Promise<WorkspaceFile | undefined> {
  try {
    const { size, mtimeMs, ...stats } = await stat(file);
    return isFile(stats.mode) ? { path, size, modifiedAt: mtimeMs } : undefined;
  } catch (error) {
    if (isMissingError(error)) return undefined;
    throw new Error(`Couldn’t read ${file}: ${describeError(error)}`, { cause: error });
  }
}

const isFile = (mode: number): boolean => (mode & 0o170000) === 0o100000;
const isMissingError = (error: unknown): boolean => getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR';

/** Invalid UTF-8 is read as replacement characters, and writing those would lose the original bytes. */
async function assertUtf8(file: string, text: string): Promise<void> {
  if (!text.includes('\uFFFD')) return;
  const bytes = await readFile(file).catch(() => undefined);
  if (!bytes) return;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`${file} is not UTF-8. Save it as UTF-8 first. Nothing was changed.`, { cause: error });
  }
}

async function withErrorContext<T>(path: string, done: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${path} can’t be ${done}: ${describeError(error)}`, { cause: error });
  }
}
