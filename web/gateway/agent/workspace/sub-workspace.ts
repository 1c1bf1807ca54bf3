import type { Workspace, WorkspaceFile } from '../../knowledge/memory/workspace.ts';

/** A folder of a workspace as a workspace of its own. */
export function createSubWorkspace(workspace: Workspace, folder: string): Workspace {
  const toFullPath = (path: string): string => `${folder}/${path}`;
  const toInnerFile = ({ path, ...rest }: WorkspaceFile): WorkspaceFile => ({ path: path.slice(folder.length + 1), ...rest });
  return {
    read: (path) => workspace.read(toFullPath(path)),
    write: (path, text) => workspace.write(toFullPath(path), text),
    append: (path, text) => workspace.append(toFullPath(path), text),
    update: (path, edit) => workspace.update(toFullPath(path), edit),
    remove: (path) => workspace.remove(toFullPath(path)),
    async stat(path) {
      const found = await workspace.stat(toFullPath(path));
      return found && toInnerFile(found);
    },
    list: async (subfolder) => (await workspace.list(subfolder === undefined ? folder : toFullPath(subfolder))).map(toInnerFile),
  };
}
