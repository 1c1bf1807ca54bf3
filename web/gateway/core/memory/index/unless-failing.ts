import type { IndexStore } from './index-store.ts';

/**
 * Wraps a store so that failures, such as a full disk, are reported once and otherwise ignored: memory works without it, only the next
 * start is slower. Missing data is read again from the files.
 */
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
    // This one may fail: without its passages a file would count as indexed and never be found.
    entries: (path) => store.entries(path),
    put: (file, entries, change) => trying(store.put(file, entries, change), undefined),
    remove: (path) => trying(store.remove(path), undefined),
    snapshot: () => trying(store.snapshot(), undefined),
    putSnapshot: (bytes) => store.putSnapshot(bytes),
  };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
