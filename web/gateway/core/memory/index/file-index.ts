import { sha256 } from '#shared/sha256.ts';
import { Turns } from '#shared/turns.ts';
import { Breath } from '../../documents/breath.ts';
import { DAYS, DIALOG } from '../layout.ts';
import { effortOf } from '../search/effort.ts';
import { type FoundPassage, MemorySearch, type MemorySearchOptions } from '../search/memory-search.ts';
import type { Workspace, WorkspaceFile } from '../workspace.ts';
import { type Entry, entriesOf, isIndexed } from './entry.ts';
import { ofSnapshot, snapshotOf } from './index-snapshot.ts';
import type { IndexStore, ReadFile } from './index-store.ts';
import { type KnownFile, LiveFile } from './known-file.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import type { StoredFile, StoredFiles } from './stored-files.ts';

export type FoundEntry = Omit<FoundPassage, 'passage'> & { entry: Entry };

/** The passages of a workspace's files, searched; it follows the files, whoever changes them. */
export class FileIndex {
  readonly #workspace: Workspace;
  readonly #longTerm: string;
  readonly #store: IndexStore | undefined;
  readonly #keeper: SnapshotKeeper;
  #search = new MemorySearch();
  #revision = 0;
  readonly #files = new Map<string, KnownFile>();
  /** Of files that were read here; passages of others are in the snapshot. */
  readonly #byId = new Map<string, Entry>();
  readonly #messages = new Set<string>();
  readonly #turns = new Turns();
  readonly #closed = new AbortController();
  /** What the store has of files that were not looked at yet. */
  #stored: Map<string, ReadFile> | undefined;
  /** What came back from the snapshot. */
  #restored: StoredFiles | undefined;
  /** Files of the snapshot of which the store has noted something else since, or nothing. */
  readonly #unsure = new Set<string>();

  /** `longTerm`: the name of the long-term file; `warn` hears what went wrong beside what was asked for. */
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
    this.#keeper = new SnapshotKeeper(store, {
      make: (breath) => snapshotOf(this.#search, [...this.#files.values()], breath),
      size: () => this.size,
      warn,
    });
  }

  /** Reads the files that have changed since the last look. Others have their turn meanwhile. */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      const listed = await this.#list();
      const there = new Set(listed.map(({ path }) => path));
      for (const path of [...this.#files.keys(), ...(this.#stored?.keys() ?? [])]) if (!there.has(path)) await this.#drop(path);
      for (const file of listed) if (this.#unsure.has(file.path) || !isSame(this.#files.get(file.path)?.file, file)) await this.#read(file);
    });
  }

  /** Adds lines to a file of dialogs, and their passages with them. */
  append(path: string, added: string): Promise<void> {
    return this.#inTurn(async () => {
      const known = this.#files.get(path);
      // A line that was cut off is ended first, so that only that one is lost.
      const text = known?.file.isCut === true ? `\n${added}` : added;
      await this.#workspace.append(path, text);
      const file = await this.#workspace.stat(path);
      if (!file) return;
      const { size = 0, lines = 0, broken = 0 } = known?.file ?? {};
      // Somebody else has written too.
      if (this.#unsure.has(path) || file.size !== size + new TextEncoder().encode(text).length) return this.#read(file);
      const more = entriesOf(path, text, this.#longTerm, lines);
      const read = { ...file, hash: null, lines: lines + breaksIn(text), isCut: false, broken: broken + more.broken };
      await this.#take(read, [...(known?.entries ?? []), ...more.entries], true);
    });
  }

  /** Looks at one file that was just written. */
  look(path: string): Promise<void> {
    return this.#inTurn(async () => {
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

  /** The passage of an id. */
  passage(id: string): Entry | undefined {
    return this.#entry(id);
  }

  /** Another number where anything that is searched has changed. */
  get revision(): number {
    return this.#revision;
  }

  /** What was said or written right before and after a passage; a remembered line stands by itself. */
  beside(entry: Entry): { before: Entry | undefined; after: Entry | undefined } {
    const file = entry.kind === 'memory' ? undefined : this.#files.get(entry.path);
    const place = file?.placeOf(entry) ?? -1;
    if (!file || place === -1) return { before: undefined, after: undefined };
    const nearest = (step: number): Entry | undefined => {
      for (let at = place + step, each = file.at(at); each; each = file.at((at += step)))
        if (each.thread === entry.thread && each.text.trim() !== '') return each;
      return undefined;
    };
    return { before: nearest(-1), after: nearest(1) };
  }

  /** Whether a message is in the records, by what tells it from others. */
  hasMessage(key: string): boolean {
    return this.#messages.has(key) || this.#restored?.hasKey(key, this.#isCurrent) === true;
  }

  /** The files, and their passages. */
  *files(): Generator<Pick<KnownFile, 'file' | 'entries'>> {
    yield* this.#files.values();
  }

  /** Passages that are searched. */
  get size(): number {
    return this.#search.size;
  }

  /** Resolves once what was begun is over, and what changed since the last snapshot is in one, if it is much. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The memory was closed.'));
    await this.#turns.run(() => this.#keeper.close());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#turns.take(this.#closed.signal, async () => {
      await this.#begin();
      await work();
      this.#keeper.look();
    });
  }

  /** Takes over the snapshot, before anything else is done. */
  async #begin(): Promise<void> {
    if (this.#stored) return;
    const stored = new Map((await this.#store?.files())?.map((file) => [file.path, file]));
    const bytes = await this.#store?.snapshot();
    const snapshot = bytes && (await ofSnapshot(bytes));
    this.#stored = stored;
    if (!snapshot) return;
    this.#revision++;
    [this.#search, this.#restored] = [snapshot.search, snapshot.stored];
    for (const known of snapshot.stored.files) {
      const { path } = known.file;
      this.#files.set(path, known);
      if (isAsNoted(stored.get(path), known.file)) stored.delete(path);
      else this.#unsure.add(path);
    }
  }

  readonly #isCurrent = (file: StoredFile): boolean => this.#files.get(file.file.path) === file;

  #entry(id: string): Entry | undefined {
    const entry = this.#byId.get(id);
    if (entry || !this.#restored) return entry;
    const number = this.#restored.numberOf(id, this.#isCurrent);
    return number === -1 ? undefined : this.#restored.entry(number);
  }

  async #list(): Promise<WorkspaceFile[]> {
    const longTerm = await this.#workspace.stat(this.#longTerm);
    const files = [...(await this.#workspace.list(DAYS)), ...(await this.#workspace.list(DIALOG))];
    return [...(longTerm ? [longTerm] : []), ...files.filter(({ path }) => isIndexed(path, this.#longTerm))];
  }

  async #read(file: WorkspaceFile): Promise<void> {
    const { path } = file;
    const stored = this.#stored?.get(path);
    if (stored && isSame(stored, file)) return this.#take(stored, (await this.#store?.entries(path)) ?? [], false);
    const text = await this.#workspace.read(path);
    if (text === undefined) return this.#drop(path);
    const hash = await sha256(text);
    const kept = stored ? ((await this.#store?.entries(path)) ?? []) : this.#unsure.has(path) ? [] : undefined;
    const known = this.#files.get(path) ?? (stored && new LiveFile(stored, kept ?? []));
    const { entries, broken } =
      known?.file.hash === hash ? { entries: known.entries, broken: known.file.broken } : entriesOf(path, text, this.#longTerm);
    const read = { ...file, hash, lines: breaksIn(text), isCut: text !== '' && !text.endsWith('\n'), broken };
    await this.#take(read, entries, true, kept);
  }

  /** Puts the passages of a file in place of those it had; `kept` are those that the store has, where others than the index. */
  async #take(file: ReadFile, entries: readonly Entry[], store: boolean, kept?: readonly Entry[]): Promise<void> {
    const { path } = file;
    const indexed = this.#files.get(path)?.entries ?? [];
    if (store) {
      const before = new Map((kept ?? indexed).map((entry) => [entry.id, entry]));
      const written = entries.filter((entry) => !isEqual(before.get(entry.id), entry));
      const ids = new Set(entries.map(({ id }) => id));
      await this.#store?.put(file, entries, { removed: [...before.keys()].filter((id) => !ids.has(id)), written });
    }
    const grows = indexed.every((entry, at) => isEqual(entry, entries[at]));
    const stays = new Map(indexed.filter(({ kind }) => grows || kind === 'memory').map((entry) => [entry.id, entry]));
    // Until it is all there the file counts as not read.
    this.#files.delete(path);
    const ids = new Set(entries.map(({ id }) => id));
    for (const { id, key } of indexed) {
      if (!grows && key !== null) this.#messages.delete(key);
      if (stays.has(id) && ids.has(id)) continue;
      this.#forget(id);
    }
    try {
      await this.#add(entries, stays);
    } catch (error) {
      // Else a snapshot would have passages of a file that counts as not read.
      for (const { id } of entries) this.#forget(id);
      throw error;
    }
    this.#files.set(path, new LiveFile(file, entries));
    this.#stored?.delete(path);
    this.#unsure.delete(path);
  }

  /** `stays`: passages that are searched already. */
  async #add(entries: readonly Entry[], stays: ReadonlyMap<string, Entry>): Promise<void> {
    const breath = new Breath(this.#closed.signal);
    for (const entry of entries) {
      const { id, thread, text, speaker, key } = entry;
      this.#byId.set(id, entry);
      if (key !== null) this.#messages.add(key);
      if (text.trim() === '' || stays.get(id)?.text === text) continue;
      this.#search.add({ id, thread, text, at: ageing(entry), speaker: speaker ?? undefined });
      this.#revision++;
      this.#keeper.changed();
      await breath.after(effortOf(text));
    }
  }

  #forget(id: string): void {
    this.#byId.delete(id);
    if (!this.#search.remove(id)) return;
    this.#revision++;
    this.#keeper.changed();
  }

  async #drop(path: string): Promise<void> {
    await this.#store?.remove(path);
    this.#stored?.delete(path);
    this.#unsure.delete(path);
    for (const { id, key } of this.#files.get(path)?.entries ?? []) {
      this.#forget(id);
      if (key !== null) this.#messages.delete(key);
    }
    this.#files.delete(path);
  }
}

/** The long-term file does not age (decisions, "Memory …"). */
const ageing = ({ kind, at }: Entry): number | null => (kind === 'memory' || kind === 'note' ? null : at);

const isSame = (known: WorkspaceFile | undefined, file: WorkspaceFile): boolean =>
  known?.size === file.size && known.modifiedAt === file.modifiedAt;

/** Whether the store and a snapshot speak of the same. */
const isAsNoted = (noted: ReadFile | undefined, file: ReadFile): boolean =>
  isSame(noted, file) && noted?.hash === file.hash && noted.lines === file.lines && noted.isCut === file.isCut;

const breaksIn = (text: string): number => text.split('\n').length - 1;

function isEqual(a: Entry | undefined, b: Entry | undefined): boolean {
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
