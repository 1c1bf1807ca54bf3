import { sha256 } from '#shared/sha256.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { NOTES_FOLDER, DIALOG_FOLDER } from '../layout.ts';
import { computeAnalysisCost } from '../search/analysis-cost.ts';
import type { Passage } from '../search/passage.ts';
import { toMemoryThread } from '../search/spoken.ts';
import { type FoundPassage, MemorySearch, type MemorySearchOptions } from '../search/memory-search.ts';
import type { Workspace, WorkspaceFile } from '../workspace.ts';
import { type IndexEntry, parseEntries, isIndexed } from './index-entry.ts';
import { restoreSnapshot, createSnapshot } from './index-snapshot.ts';
import type { IndexStore, IndexedFile } from './index-store.ts';
import { type FileEntries, InMemoryFile } from './file-entries.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import type { SnapshotFile, SnapshotFiles } from './snapshot-files.ts';

export type FoundEntry = Omit<FoundPassage, 'passage'> & { entry: IndexEntry };

/** Search index over the files of a workspace. It follows all changes of the files, including external ones. */
export class FileIndex {
  readonly #workspace: Workspace;
  readonly #longTerm: string;
  readonly #store: IndexStore | undefined;
  readonly #snapshotWriter: SnapshotWriter;
  #search = new MemorySearch();
  #revision = 0;
  readonly #files = new Map<string, FileEntries>();
  /** Passages of files read in this process; those of other files are in the snapshot. */
  readonly #byId = new Map<string, IndexEntry>();
  readonly #messages = new Set<string>();
  readonly #mutex = new Mutex();
  readonly #closed = new AbortController();
  /** The store's records of files that have not been examined yet. */
  #stored: Map<string, IndexedFile> | undefined;
  /** Files restored from the snapshot. */
  #restored: SnapshotFiles | undefined;
  /** Files of the snapshot whose record in the store is newer or missing. */
  readonly #unverified = new Set<string>();

  /** `longTerm`: path of the long-term file. `warn`: called with problems that do not fail the operation. */
  constructor({
    workspace,
    longTerm,
    store,
    warn = () => {},
  }: {
    workspace: Workspace;
    longTerm: string;
    store?: IndexStore | undefined;
    warn?: ((message: string) => void) | undefined;
  }) {
    [this.#workspace, this.#longTerm, this.#store] = [workspace, longTerm, store];
    this.#snapshotWriter = new SnapshotWriter(store, {
      make: (slicer) => createSnapshot(this.#search, [...this.#files.values()], slicer),
      size: () => this.size,
      warn,
    });
  }

  /** Reads files that have changed since the last call; yields to other tasks meanwhile. */
  follow(): Promise<void> {
    return this.#runExclusive(async () => {
      const listed = await this.#list();
      const paths = new Set(listed.map(({ path }) => path));
      for (const path of [...this.#files.keys(), ...(this.#stored?.keys() ?? [])]) if (!paths.has(path)) await this.#drop(path);
      for (const file of listed)
        if (this.#unverified.has(file.path) || !isSame(this.#files.get(file.path)?.file, file)) await this.#read(file);
    });
  }

  /** Appends lines to a dialog file and indexes them. */
  append(path: string, added: string): Promise<void> {
    return this.#runExclusive(async () => {
      const known = this.#files.get(path);
      // Terminates a truncated last line first, so that only that line is lost.
      const text = known?.file.isCut === true ? `\n${added}` : added;
      await this.#workspace.append(path, text);
      const file = await this.#workspace.stat(path);
      if (!file) return;
      const { size = 0, lines = 0, broken = 0 } = known?.file ?? {};
      // The file was also changed by another writer.
      if (this.#unverified.has(path) || file.size !== size + new TextEncoder().encode(text).length) return this.#read(file);
      const more = parseEntries(path, text, this.#longTerm, lines);
      const read = { ...file, hash: null, lines: lines + countLineBreaks(text), isCut: false, broken: broken + more.broken };
      await this.#replace(read, [...(known?.entries ?? []), ...more.entries], true);
    });
  }

  /** Indexes a file that was just written. */
  look(path: string): Promise<void> {
    return this.#runExclusive(async () => {
      const file = await this.#workspace.stat(path);
      if (file) await this.#read(file);
      else await this.#drop(path);
    });
  }

  search(query: string, options: MemorySearchOptions): FoundEntry[] {
    return this.#search.search(query, options).flatMap(({ passage, ...found }) => {
      const entry = this.#entry(passage.id);
      return entry ? [{ ...found, entry }] : [];
    });
  }

  /** Passage by id. */
  passage(id: string): IndexEntry | undefined {
    return this.#entry(id);
  }

  /** Changes whenever the indexed content changes. */
  get revision(): number {
    return this.#revision;
  }

  /** The passages right before and after one. A memory has none: each is independent. */
  beside(entry: IndexEntry): { before: IndexEntry | undefined; after: IndexEntry | undefined } {
    const file = entry.kind === 'memory' ? undefined : this.#files.get(entry.path);
    const index = file?.indexOf(entry) ?? -1;
    if (!file || index === -1) return { before: undefined, after: undefined };
    const nearest = (step: number): IndexEntry | undefined => {
      for (let at = index + step, each = file.at(at); each; each = file.at((at += step)))
        if (each.thread === entry.thread && each.text.trim() !== '') return each;
      return undefined;
    };
    return { before: nearest(-1), after: nearest(1) };
  }

  /** Whether a message with this key is already in the dialog files. */
  hasMessage(key: string): boolean {
    return this.#messages.has(key) || this.#restored?.hasKey(key, this.#isCurrent) === true;
  }

  /** The files with their passages. */
  *files(): Generator<Pick<FileEntries, 'file' | 'entries'>> {
    yield* this.#files.values();
  }

  /** Number of indexed passages. */
  get size(): number {
    return this.#search.size;
  }

  /** Resolves once pending work has finished and, if enough has changed, a last snapshot is written. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The memory was closed.'));
    await this.#mutex.run(() => this.#snapshotWriter.close());
  }

  #runExclusive(work: () => Promise<void>): Promise<void> {
    return this.#mutex.take(this.#closed.signal, async () => {
      await this.#loadOnce();
      await work();
      this.#snapshotWriter.look();
    });
  }

  /** Restores the snapshot; must run first. */
  async #loadOnce(): Promise<void> {
    if (this.#stored) return;
    const stored = new Map((await this.#store?.files())?.map((file) => [file.path, file]));
    const bytes = await this.#store?.snapshot();
    const snapshot = bytes && (await restoreSnapshot(bytes));
    this.#stored = stored;
    if (!snapshot) return;
    this.#revision++;
    [this.#search, this.#restored] = [snapshot.search, snapshot.stored];
    for (const known of snapshot.stored.files) {
      const { path } = known.file;
      this.#files.set(path, known);
      if (isSameRecord(stored.get(path), known.file)) stored.delete(path);
      else this.#unverified.add(path);
    }
  }

  readonly #isCurrent = (file: SnapshotFile): boolean => this.#files.get(file.file.path) === file;

  #entry(id: string): IndexEntry | undefined {
    const entry = this.#byId.get(id);
    if (entry || !this.#restored) return entry;
    const number = this.#restored.findNumber(id, this.#isCurrent);
    return number === -1 ? undefined : this.#restored.entry(number);
  }

  async #list(): Promise<WorkspaceFile[]> {
    const longTerm = await this.#workspace.stat(this.#longTerm);
    const files = [...(await this.#workspace.list(NOTES_FOLDER)), ...(await this.#workspace.list(DIALOG_FOLDER))];
    return [...(longTerm ? [longTerm] : []), ...files.filter(({ path }) => isIndexed(path, this.#longTerm))];
  }

  async #read(file: WorkspaceFile): Promise<void> {
    const { path } = file;
    const stored = this.#stored?.get(path);
    if (stored && isSame(stored, file)) return this.#replace(stored, (await this.#store?.entries(path)) ?? [], false);
    const text = await this.#workspace.read(path);
    if (text === undefined) return this.#drop(path);
    const hash = await sha256(text);
    const storedEntries = stored ? ((await this.#store?.entries(path)) ?? []) : this.#unverified.has(path) ? [] : undefined;
    const known = this.#files.get(path) ?? (stored && new InMemoryFile(stored, storedEntries ?? []));
    const { entries, broken } =
      known?.file.hash === hash ? { entries: known.entries, broken: known.file.broken } : parseEntries(path, text, this.#longTerm);
    const read = { ...file, hash, lines: countLineBreaks(text), isCut: text !== '' && !text.endsWith('\n'), broken };
    await this.#replace(read, entries, true, storedEntries);
  }

  /** Replaces the passages of a file. `storedEntries`: the passages in the store, if they differ from those of the index. */
  async #replace(file: IndexedFile, entries: readonly IndexEntry[], store: boolean, storedEntries?: readonly IndexEntry[]): Promise<void> {
    const { path } = file;
    const indexed = this.#files.get(path)?.entries ?? [];
    if (store) {
      const before = new Map((storedEntries ?? indexed).map((entry) => [entry.id, entry]));
      const written = entries.filter((entry) => !isEqual(before.get(entry.id), entry));
      const ids = new Set(entries.map(({ id }) => id));
      await this.#store?.put(file, entries, { removed: [...before.keys()].filter((id) => !ids.has(id)), written });
    }
    const grows = indexed.every((entry, index) => isEqual(entry, entries[index]));
    const unchanged = new Map(indexed.filter(({ kind }) => grows || kind === 'memory').map((entry) => [entry.id, entry]));
    // Until indexing is complete the file counts as unread.
    this.#files.delete(path);
    const ids = new Set(entries.map(({ id }) => id));
    for (const { id, key } of indexed) {
      if (!grows && key !== null) this.#messages.delete(key);
      if (unchanged.has(id) && ids.has(id)) continue;
      this.#unindex(id);
    }
    try {
      await this.#add(entries, unchanged);
    } catch (error) {
      // Otherwise a snapshot would contain passages of a file that counts as unread.
      for (const { id } of entries) this.#unindex(id);
      throw error;
    }
    this.#files.set(path, new InMemoryFile(file, entries));
    this.#stored?.delete(path);
    this.#unverified.delete(path);
  }

  /** `unchanged`: passages that are already indexed. */
  async #add(entries: readonly IndexEntry[], unchanged: ReadonlyMap<string, IndexEntry>): Promise<void> {
    const slicer = new TimeSlicer(this.#closed.signal);
    for (const entry of entries) {
      const { id, text, speaker, key } = entry;
      this.#byId.set(id, entry);
      if (key !== null) this.#messages.add(key);
      if (text.trim() === '' || unchanged.get(id)?.text === text) continue;
      this.#search.add({ id, text, speaker: speaker ?? undefined, ...getPlaceInTime(entry) });
      this.#revision++;
      this.#snapshotWriter.changed();
      await slicer.after(computeAnalysisCost(text));
    }
  }

  #unindex(id: string): void {
    this.#byId.delete(id);
    if (!this.#search.remove(id)) return;
    this.#revision++;
    this.#snapshotWriter.changed();
  }

  async #drop(path: string): Promise<void> {
    await this.#store?.remove(path);
    this.#stored?.delete(path);
    this.#unverified.delete(path);
    for (const { id, key } of this.#files.get(path)?.entries ?? []) {
      this.#unindex(id);
      if (key !== null) this.#messages.delete(key);
    }
    this.#files.delete(path);
  }
}

/** The long-term file does not age. */
function getPlaceInTime(entry: IndexEntry): Pick<Passage, 'thread' | 'at' | 'writtenAt'> {
  const { kind, thread, at } = entry;
  if (kind === 'memory') return { thread: toMemoryThread({ ...entry, createdAt: at }), at: null, writtenAt: at ?? undefined };
  return { thread, at: kind === 'note' ? null : at };
}

const isSame = (known: WorkspaceFile | undefined, file: WorkspaceFile): boolean =>
  known?.size === file.size && known.modifiedAt === file.modifiedAt;

/** Whether the store and a snapshot describe the same version of a file. */
const isSameRecord = (stored: IndexedFile | undefined, file: IndexedFile): boolean =>
  isSame(stored, file) && stored?.hash === file.hash && stored.lines === file.lines && stored.isCut === file.isCut;

const countLineBreaks = (text: string): number => text.split('\n').length - 1;

function isEqual(a: IndexEntry | undefined, b: IndexEntry | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    a.id === b.id &&
    a.text === b.text &&
    a.line === b.line &&
    a.end === b.end &&
    a.at === b.at &&
    a.speaker === b.speaker &&
    a.category === b.category &&
    a.thread === b.thread &&
    a.key === b.key
  );
}
