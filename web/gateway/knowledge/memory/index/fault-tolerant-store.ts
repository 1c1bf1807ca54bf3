import type { IndexStore } from './index-store.ts';

/**
 * Wraps a store so that failures, such as a full disk, are reported once and otherwise ignored: memory works without it, only the next
 * start is slower. Missing data is read again from the files.
 */
export function createFaultTolerantStore(store: IndexStore, warn: (message: string) => void): IndexStore {
  let isReported = false;
  const attempt = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!isReported) warn(`Could not save the memory index; it is rebuilt at the next start: ${toReason(error)}`);
      isReported = true;
      return otherwise;
    }
  };
  return {
    files: () => attempt(store.files(), []),
    // This one may fail: without its passages a file would count as indexed and never be found.
    entries: (path) => store.entries(path),
    put: (file, entries, change) => attempt(store.put(file, entries, change), undefined),
    remove: (path) => attempt(store.remove(path), undefined),
    snapshot: () => attempt(store.snapshot(), undefined),
    putSnapshot: (bytes) => store.putSnapshot(bytes),
  };
}

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
