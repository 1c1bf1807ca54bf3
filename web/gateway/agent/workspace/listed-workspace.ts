import { Mutex } from '#shared/async/mutex.ts';
import type { Workspace, WorkspaceFile } from '../../knowledge/memory/workspace.ts';

/** Number of pending changes from which the whole list is read again. */
const MAX_PENDING = 200;
/** A workspace that lists its files once and then updates the list through `handleChange`. */
export interface ListedWorkspace extends Workspace {
  /** Reports that a file was written or removed by another writer. */
  handleChange(path: string): void;
}

export function createListedWorkspace(workspace: Workspace): ListedWorkspace {
  const mutex = new Mutex();
  const changed = new Set<string>();
  let files: Map<string, WorkspaceFile> | undefined;
  let sorted: WorkspaceFile[] | undefined;

  const updateList = async (): Promise<Map<string, WorkspaceFile>> => {
    if (!files || changed.size > MAX_PENDING) {
      changed.clear();
      files = new Map((await workspace.list()).map((file) => [file.path, file]));
      sorted = undefined;
    }
    // Changes made meanwhile are noted again.
    for (const path of changed) {
      changed.delete(path);
      const file = await workspace.stat(path);
      if (file) files.set(path, file);
      else files.delete(path);
      sorted = undefined;
    }
    return files;
  };

  return {
    ...workspace,
    handleChange: (path) => void changed.add(path),
    stat: (path) => mutex.run(async () => (await updateList()).get(path)),
    list: (folder) =>
      mutex.run(async () => {
        const entries = await updateList();
        sorted ??= [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return folder === undefined ? [...sorted] : sorted.filter(({ path }) => path.startsWith(`${folder}/`));
      }),
  };
}
