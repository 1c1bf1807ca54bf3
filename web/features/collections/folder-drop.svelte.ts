import { ATTACHMENT_LIMITS } from '#app/files/attachment-limits.ts';

/** Files and folders of a drop. */
export interface DroppedItems {
  entries: readonly FileSystemEntry[];
  /** The same as handles, by which a folder can be read again later; empty in browsers without them. */
  handles: readonly Promise<FileSystemHandle | null>[];
}

/** A drop that waits for an answer: whether to add it to a collection. */
export interface FolderDrop extends DroppedItems {
  /** Attaches the files to a message instead; absent where there is none, or too many files. */
  onattach?: ((items: DroppedItems) => void) | undefined;
}

/** The drop that the app asks about. */
class FolderDropState {
  current = $state.raw<FolderDrop | null>(null);
}

export const folderDrop = new FolderDropState();

const isFolder = (entry: FileSystemEntry): boolean => entry.isDirectory;

/** The items of a drop. Call it during the event: the browser releases the data afterwards. */
export function captureDrop({ items }: DataTransfer): DroppedItems {
  const files = [...items].filter(({ kind }) => kind === 'file');
  return {
    entries: files.map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null),
    // A browser may refuse a handle, for a folder of the system for example.
    handles: files.map((item) => item.getAsFileSystemHandle?.().catch(() => null) ?? Promise.resolve(null)),
  };
}

/** Whether a drop is more than a message can carry: a folder, or many files. */
export const isCollectionDrop = ({ items }: DataTransfer): boolean => {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return entries.some(isFolder) || entries.length > ATTACHMENT_LIMITS.count;
};
