import { pageDb } from '#app/state/page-db.ts';

/** A folder of this computer that was added to a collection in this browser. Its files are in the collection's `files` source, below its name. */
export interface KeptFolder {
  /** `<collection id>/<name>`. */
  id: string;
  collectionId: string;
  handle: FileSystemDirectoryHandle;
}

/** Keeps a folder, so that it can be read again. Best effort: without it, only refreshing is not offered. */
export async function keepFolder(collectionId: string, handle: FileSystemDirectoryHandle): Promise<void> {
  try {
    await (await pageDb()).put('collectionFolders', { id: `${collectionId}/${handle.name}`, collectionId, handle });
  } catch {
    // The browser's storage is full, or it cannot store handles.
  }
}

/** The folders of a collection; none if they cannot be read. */
export async function listKeptFolders(collectionId: string): Promise<KeptFolder[]> {
  try {
    return await (await pageDb()).getAllFromIndex('collectionFolders', 'collectionId', collectionId);
  } catch {
    return [];
  }
}

export async function forgetFolders(folders: readonly KeptFolder[]): Promise<void> {
  try {
    const db = await pageDb();
    await Promise.all(folders.map(({ id }) => db.delete('collectionFolders', id)));
  } catch {
    // They are not offered again, as their collection is gone.
  }
}

/** Asks to read a folder again, if the browser has to be asked. Call it on a click. */
export async function requestFolderAccess({ handle }: KeptFolder): Promise<boolean> {
  const descriptor = { mode: 'read' } as const;
  if ((await handle.queryPermission?.(descriptor)) === 'granted') return true;
  return (await handle.requestPermission?.(descriptor)) === 'granted';
}
