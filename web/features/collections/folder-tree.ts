/** A file or folder that was dropped or chosen, in whichever form the browser provides it. */
export type FolderNode = FileNode | DirectoryNode;

export interface FileNode {
  kind: 'file';
  name: string;
  read: () => Promise<File>;
}

export interface DirectoryNode {
  kind: 'folder';
  name: string;
  list: () => Promise<FolderNode[]>;
}

const toFileNode = (file: File): FileNode => ({ kind: 'file', name: file.name, read: () => Promise.resolve(file) });

/** A folder or file of the File System Access API. */
export function fromHandle(handle: FileSystemHandle): FolderNode {
  const { name } = handle;
  if (isFileHandle(handle)) return { kind: 'file', name, read: () => handle.getFile() };
  return {
    kind: 'folder',
    name,
    list: async () => {
      const children: FolderNode[] = [];
      for await (const child of (handle as FileSystemDirectoryHandle).values()) children.push(fromHandle(child));
      return children;
    },
  };
}

/** A folder or file of a drop, in browsers without the File System Access API. */
export function fromEntry(entry: FileSystemEntry): FolderNode {
  const { name } = entry;
  if (isFileEntry(entry)) return { kind: 'file', name, read: () => new Promise((resolve, reject) => entry.file(resolve, reject)) };
  return { kind: 'folder', name, list: async () => (await listEntries(entry as FileSystemDirectoryEntry)).map(fromEntry) };
}

/** Files of an input field: with `webkitdirectory`, they are placed into the folders of their relative paths. */
export function fromFiles(files: Iterable<File>): FolderNode[] {
  const roots: FolderNode[] = [];
  const folders = new Map<string, FolderNode[]>([['', roots]]);
  const getFolder = (path: string): FolderNode[] => {
    const known = folders.get(path);
    if (known) return known;
    const children: FolderNode[] = [];
    folders.set(path, children);
    const at = path.lastIndexOf('/');
    getFolder(path.slice(0, Math.max(0, at))).push({ kind: 'folder', name: path.slice(at + 1), list: () => Promise.resolve(children) });
    return children;
  };
  for (const file of files) {
    const path = file.webkitRelativePath;
    getFolder(path.slice(0, Math.max(0, path.lastIndexOf('/')))).push(toFileNode(file));
  }
  return roots;
}

/** Reads a folder of a drop; the browser lists it in parts, the last of which is empty. */
async function listEntries(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return entries;
    entries.push(...part);
  }
}

const isFileHandle = (handle: FileSystemHandle): handle is FileSystemFileHandle => handle.kind === 'file';
const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
