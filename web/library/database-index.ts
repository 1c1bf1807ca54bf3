import type { IndexEntry } from '../gateway/knowledge/memory/index/index-entry.ts';
import type { IndexStore, IndexedFile, SnapshotStore } from '../gateway/knowledge/memory/index/index-store.ts';
import type { QuantizedVector } from '../gateway/knowledge/memory/vectors/vector-rows.ts';
import type { VectorStore } from '../gateway/knowledge/memory/vectors/passage-vectors.ts';
import type { Transaction } from '../gateway/storage/database.ts';
import { getStore } from './get-store.ts';
import type { IndexRow, WorkspaceSchema } from './workspace-schema.ts';
import { withDatabaseErrors, type WorkspaceDatabase, getWorkspaceDatabase } from './workspace-database.ts';

const STORE_NAME = 'memory.db';
/** Name of the snapshot of the memory index itself. */
const INDEX_SNAPSHOT = '';
/** Several passages of one line are numbered. */
const numericCollator = new Intl.Collator('en', { numeric: true });

type WriteTx = Transaction<WorkspaceSchema, 'readwrite'>;

/**
 * The memory index in a browser: the store `memory.db` of the workspace's database, with a row for each file that was read and for each
 * passage. Writes are not flushed to disk, since the index can be rebuilt from the files.
 */
export class DatabaseIndex implements IndexStore, VectorStore {
  readonly #name: string;
  readonly #database: WorkspaceDatabase;
  /** The last change made or read by this index, by path. */
  readonly #tokens = new Map<string, string>();

  /** Opens nothing before the first use. */
  constructor(name: string) {
    this.#name = name;
    this.#database = getWorkspaceDatabase(name);
  }

  async files(): Promise<IndexedFile[]> {
    const rows = await this.#read((tx) => tx.objectStore(STORE_NAME).getAll(IDBKeyRange.bound(['file'], ['file', []])));
    return rows.flatMap((row) => {
      if (row.kind !== 'file') return [];
      this.#tokens.set(row.file.path, row.token);
      return row.file;
    });
  }

  entries(path: string): Promise<IndexEntry[]> {
    return this.#read(async (tx) => {
      const rows = await tx.objectStore(STORE_NAME).getAll(getPassageRange(path));
      const passages = rows.flatMap((row) => (row.kind === 'passage' ? row.passage : []));
      return passages.sort((a, b) => a.line - b.line || numericCollator.compare(a.id, b.id));
    });
  }

  async put(
    file: IndexedFile,
    entries: readonly IndexEntry[],
    { removed, written }: { removed: readonly string[]; written: readonly IndexEntry[] },
  ): Promise<void> {
    const { path } = file;
    const token = crypto.randomUUID();
    await this.#write(async (tx) => {
      const before = await tx.objectStore(STORE_NAME).get(['file', path, '']);
      // Another tab has written the file too, so the change does not apply to the stored version.
      const isOurs = (before?.kind === 'file' ? before.token : undefined) === this.#tokens.get(path);
      const store = getStore(tx, STORE_NAME);
      if (isOurs) for (const id of removed) store.delete(['passage', path, id]);
      else store.delete(getPassageRange(path));
      putPassages(store, path, isOurs ? written : entries);
      const row: IndexRow = { kind: 'file', file, token };
      store.put(row, ['file', path, '']);
    });
    this.#tokens.set(path, token);
  }

  async remove(path: string): Promise<void> {
    await this.#write(async (tx) => {
      getStore(tx, STORE_NAME).delete(getPassageRange(path));
      getStore(tx, STORE_NAME).delete(['file', path, '']);
    });
    this.#tokens.delete(path);
  }

  /** The last saved bytes; undefined if there are none. */
  snapshot(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#readSnapshot(INDEX_SNAPSHOT);
  }

  /** Saves bytes, replacing the previous ones. */
  putSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#writeSnapshot(INDEX_SNAPSHOT, bytes);
  }

  /** A further snapshot by name, which must not be empty. */
  getSnapshotStore(name: string): SnapshotStore {
    return { snapshot: () => this.#readSnapshot(name), putSnapshot: (bytes) => this.#writeSnapshot(name, bytes) };
  }

  /** Vectors by model and hash of the text. */
  async kept(model: string, hashes: readonly string[]): Promise<Map<string, QuantizedVector>> {
    const rows = await this.#read((tx) => Promise.all(hashes.map((hash) => tx.objectStore(STORE_NAME).get(['vector', model, hash]))));
    return new Map(rows.flatMap((row, at) => (row?.kind === 'vector' ? [[hashes[at] ?? '', row.vector] as const] : [])));
  }

  keep(model: string, vectors: ReadonlyMap<string, QuantizedVector>): Promise<void> {
    return this.#write(async (tx) => {
      for (const [hash, vector] of vectors) {
        const row: IndexRow = { kind: 'vector', vector };
        getStore(tx, STORE_NAME).put(row, ['vector', model, hash]);
      }
    });
  }

  #readSnapshot(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#read(async (tx) => {
      const row = await tx.objectStore(STORE_NAME).get(['snapshot', name, '']);
      return row?.kind === 'snapshot' ? row.bytes : undefined;
    });
  }

  #writeSnapshot(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const row: IndexRow = { kind: 'snapshot', bytes };
    return this.#write(async (tx) => void getStore(tx, STORE_NAME).put(row, ['snapshot', name, '']));
  }

  /** Deletes the index, and vectors by the hashes of their texts. Other vectors stay, because they are costly to compute. */
  async forget(hashes: readonly string[]): Promise<void> {
    const forgotten = new Set(hashes);
    await this.#write(async (tx) => {
      for (const key of await tx.objectStore(STORE_NAME).getAllKeys()) {
        const [kind, , hash] = key;
        if (kind !== 'vector' || forgotten.has(hash)) getStore(tx, STORE_NAME).delete(key);
      }
    });
    this.#tokens.clear();
  }

  #read<T>(body: (tx: Transaction<WorkspaceSchema, 'readonly'>) => Promise<T>): Promise<T> {
    return withDatabaseErrors(this.#name, 'Couldn’t read the memory index', () => this.#database.read([STORE_NAME], body));
  }

  #write(body: (tx: WriteTx) => Promise<void>): Promise<void> {
    return withDatabaseErrors(this.#name, 'Couldn’t write the memory index', () => this.#database.write([STORE_NAME], 'relaxed', body));
  }
}

const getPassageRange = (path: string): IDBKeyRange => IDBKeyRange.bound(['passage', path], ['passage', path, []]);

function putPassages(store: IDBObjectStore, path: string, passages: readonly IndexEntry[]): void {
  for (const passage of passages) {
    const row: IndexRow = { kind: 'passage', passage };
    store.put(row, ['passage', path, passage.id]);
  }
}
