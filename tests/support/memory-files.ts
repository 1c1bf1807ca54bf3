import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import type { Vault } from '../../web/gateway/storage/vault-interface.ts';
import { toFileEntry } from '../../web/gateway/agent/workspace/workspaces.ts';

/**
 * The vault's files in memory, for large numbers: fake-indexeddb, whose cursors restart at each step, would take minutes.
 */
export function createMemoryFiles(): Vault['files'] {
  const files = new Map<string, FileRecord>();
  const listeners = new Set<Parameters<Vault['files']['watch']>[0]>();
  const notifyWatchers = ({ workspace, path }: Pick<FileRecord, 'workspace' | 'path'>, removed: boolean): void => {
    for (const listener of listeners) listener({ workspace, path, removed });
  };
  const listFiles = (workspace: string): FileRecord[] => [...files.values()].filter((file) => file.workspace === workspace);
  const later = (file: FileRecord): FileRecord => {
    const stored = { ...file, modifiedAt: Math.max(file.modifiedAt, (files.get(file.key)?.modifiedAt ?? 0) + 1) };
    files.set(file.key, stored);
    notifyWatchers(file, false);
    return stored;
  };
  return {
    list: async (workspace, prefix) =>
      listFiles(workspace)
        .filter(({ path }) => path.startsWith(prefix))
        .map(toFileEntry),
    get: async (workspace, path) => files.get(`${workspace}/${path}`),
    workspaces: async () => [...new Set([...files.values()].map(({ workspace }) => workspace))],
    put: async (file) => later(file),
    remove: async (workspace, path) => {
      notifyWatchers({ workspace, path }, true);
      return files.delete(`${workspace}/${path}`);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    replace: async (workspace, changes, limits) => {
      let count = listFiles(workspace).length;
      return changes.map(({ path, base, file }) => {
        const key = `${workspace}/${path}`;
        const before = files.get(key);
        if (before?.modifiedAt !== base?.modifiedAt) return { outcome: 'changed', file: null };
        if (file && !before && count >= limits.files) return { outcome: 'full', file: null };
        count += (file ? 1 : 0) - (before ? 1 : 0);
        if (file) return { outcome: 'done', file: later(file) };
        files.delete(key);
        return { outcome: 'done', file: null };
      });
    },
  };
}
