import type { IndexStore } from './index-store.ts';

/** A store without which memory works, only slower at the next start: where it cannot be read or written, as on a full disk, that is told once. What it lacks is read again. */
export function unlessFailing(store: IndexStore, warn: (message: string) => void): IndexStore {
  let isTold = false;
  const trying = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!isTold) warn(`Could not save the memory index; it is rebuilt at the next start: ${reasonOf(error)}`);
      isTold = true;
      return otherwise;
    }
  };
  return {
    files: () => trying(store.files(), []),
    // Without its passages a file would count as read and not be found.
    entries: (path) => store.entries(path),
    put: (file, entries, change) => trying(store.put(file, entries, change), undefined),
    remove: (path) => trying(store.remove(path), undefined),
    snapshot: () => trying(store.snapshot(), undefined),
    putSnapshot: (bytes) => store.putSnapshot(bytes),
  };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
