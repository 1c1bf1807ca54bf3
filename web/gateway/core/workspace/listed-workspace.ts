import { Turns } from '#shared/turns.ts';
import type { Workspace, WorkspaceFile } from '../memory/workspace.ts';

/** Number of pending changes from which the whole list is read again. */
const MANY = 200;
/** A workspace that lists its files once and then updates the list through `noted`. */
export interface ListedWorkspace extends Workspace {
  /** Reports that a file was written or removed by another writer. */
  noted(path: string): void;
}

export function listedWorkspace(workspace: Workspace): ListedWorkspace {
  const turns = new Turns();
  const changed = new Set<string>();
  let files: Map<string, WorkspaceFile> | undefined;
  let sorted: WorkspaceFile[] | undefined;

  const look = async (): Promise<Map<string, WorkspaceFile>> => {
    if (!files || changed.size > MANY) {
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
    noted: (path) => void changed.add(path),
    stat: (path) => turns.run(async () => (await look()).get(path)),
    list: (under) =>
      turns.run(async () => {
        const here = await look();
        sorted ??= [...here.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return under === undefined ? [...sorted] : sorted.filter(({ path }) => path.startsWith(`${under}/`));
      }),
  };
}
