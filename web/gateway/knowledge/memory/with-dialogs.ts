import { DIALOG_FOLDER, parseDialogDate } from './layout.ts';
import type { Workspace, WorkspaceFile } from './workspace.ts';

/** Source of the conversations, by UTC day. */
export interface DialogSource {
  /** One entry per day; its size and modification time change whenever its conversations do. */
  days(): Promise<WorkspaceFile[]>;
  /** The JSON lines of a day (`YYYY-MM-DD`); undefined if there were no messages. */
  read(date: string): Promise<string | undefined>;
}

/**
 * A workspace whose read-only `dialog/` folder is generated from conversations stored elsewhere: nothing is stored twice, and a deleted
 * conversation disappears here too.
 */
export function withDialogs(workspace: Workspace, dialogs: DialogSource): Workspace {
  const isDialog = (path: string): boolean => path === DIALOG_FOLDER || path.startsWith(`${DIALOG_FOLDER}/`);
  const assertWritable = async (path: string): Promise<void> => {
    if (isDialog(path)) throw new Error(`${path} is read-only: it is generated from chats.`);
  };
  return {
    async read(path) {
      if (!isDialog(path)) return workspace.read(path);
      const date = parseDialogDate(path);
      return date === undefined ? undefined : dialogs.read(date);
    },
    async stat(path) {
      return isDialog(path) ? (await dialogs.days()).find((file) => file.path === path) : workspace.stat(path);
    },
    async list(folder) {
      if (folder !== undefined) return isDialog(folder) ? dialogs.days() : workspace.list(folder);
      const own = (await workspace.list()).filter(({ path }) => !isDialog(path));
      return [...own, ...(await dialogs.days())].sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    write: (path, text) => assertWritable(path).then(() => workspace.write(path, text)),
    append: (path, text) => assertWritable(path).then(() => workspace.append(path, text)),
    update: (path, edit) => assertWritable(path).then(() => workspace.update(path, edit)),
    remove: (path) => assertWritable(path).then(() => workspace.remove(path)),
  };
}
