import type { Workspace, WorkspaceFile } from '../memory/workspace.ts';

/** A folder of a workspace as a workspace of its own. */
export function underFolder(workspace: Workspace, folder: string): Workspace {
  const whole = (path: string): string => `${folder}/${path}`;
  const within = ({ path, ...rest }: WorkspaceFile): WorkspaceFile => ({ path: path.slice(folder.length + 1), ...rest });
  return {
    read: (path) => workspace.read(whole(path)),
    write: (path, text) => workspace.write(whole(path), text),
    append: (path, text) => workspace.append(whole(path), text),
    update: (path, edit) => workspace.update(whole(path), edit),
    remove: (path) => workspace.remove(whole(path)),
    async stat(path) {
      const found = await workspace.stat(whole(path));
      return found && within(found);
    },
    list: async (under) => (await workspace.list(under === undefined ? folder : whole(under))).map(within),
  };
}
