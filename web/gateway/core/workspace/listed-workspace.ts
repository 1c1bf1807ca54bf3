import { Turns } from '#shared/turns.ts';
import type { Workspace, WorkspaceFile } from '../memory/workspace.ts';

/** So many changes at once, and the whole list is read anew. */
const MANY = 200;
/** A workspace whose list is read once, and kept by being told of each change: `noted`. */
export interface ListedWorkspace extends Workspace {
  /** Somebody has written or removed this file. */
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
    // What changes meanwhile is noted again.
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
