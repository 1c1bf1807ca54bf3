import type { IndexEntry } from '../../web/gateway/knowledge/memory/index/index-entry.ts';
import type { IndexStore, IndexedFile } from '../../web/gateway/knowledge/memory/index/index-store.ts';

/** A memory index in memory: each operation is one step, and arguments are copied, as in a database. */
export class MemoryIndexStore implements IndexStore {
  readonly #files = new Map<string, { file: IndexedFile; entries: IndexEntry[] }>();
  bytes: Uint8Array<ArrayBuffer> | undefined;
  /** Files whose passages were requested. */
  readonly readPaths: string[] = [];
  /** Function that applies each write. */
  write: (work: () => void) => Promise<void> = (work) => Promise.resolve(work());

  files(): Promise<IndexedFile[]> {
    return Promise.resolve([...this.#files.values()].map(({ file }) => structuredClone(file)));
  }

  entries(path: string): Promise<IndexEntry[]> {
    this.readPaths.push(path);
    return Promise.resolve(structuredClone(this.#files.get(path)?.entries ?? []));
  }

  put(
    file: IndexedFile,
    entries: readonly IndexEntry[],
    { removed, written }: { removed: readonly string[]; written: readonly IndexEntry[] },
  ): Promise<void> {
    return this.write(() => {
      const entriesById = new Map(this.#files.get(file.path)?.entries.map((entry) => [entry.id, entry]));
      for (const id of removed) entriesById.delete(id);
      for (const entry of written) entriesById.set(entry.id, structuredClone(entry));
      const sorted = entries.map(({ id }) => entriesById.get(id));
      if (entriesById.size !== entries.length || sorted.includes(undefined))
        throw new Error(`What changed in ${file.path} is told otherwise than it is`);
      this.#files.set(file.path, structuredClone({ file, entries: sorted.flatMap((entry) => entry ?? []) }));
    });
  }

  remove(path: string): Promise<void> {
    return this.write(() => void this.#files.delete(path));
  }

  snapshot(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return Promise.resolve(this.bytes?.slice());
  }

  putSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.write(() => void (this.bytes = bytes.slice()));
  }
}
