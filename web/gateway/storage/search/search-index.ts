import { Mutex } from '#shared/async/mutex.ts';
import { removeFromStore, putInStore } from '../store-requests.ts';
import type { LocalRow, SegmentRow, StoredMessage } from '../vault-schema.ts';
import type { Transactions } from '../transactions.ts';
import { markDead } from './tombstones.ts';
import { toIndexedMessage, getSearchableText } from './indexed-document.ts';
import { Memtable } from './memtable.ts';
import { mergeSegments, selectMergeable } from './merge-segments.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { IndexCorruptError, SearchPages } from './search-pages.ts';
import { Segment } from './segment.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SessionNumbers, type SearchSource } from './search-source.ts';

/** Format of the stores: another number rebuilds the index. */
const INDEX_FORMAT = 2;
/** Number of messages read at a time. */
const MESSAGES_PER_READ = 256;
/** Factor for the segment size while all messages are being indexed, for fewer merges. */
const FILL_SIZE_FACTOR = 4;
/** Number of rows read at a time; each has the few messages of one transaction of the vault. */
const ROWS_PER_READ = 64;

export interface SearchIndexDeps {
  transactions: Transactions;
  /** Tests pass small ones. `memtable`: number of messages per segment. `mergeFactor`: number of segments of similar size that are merged. */
  sizes?: { memtable: number; mergeFactor: number };
}

type StateRow = Extract<LocalRow, { name: 'search' }>;

/** The loaded index, with the part that is only in memory. */
interface LoadedIndex {
  /** Id of this index, to detect that it was rebuilt. */
  id: string;
  sessions: SessionNumbers;
  segments: Segment[];
  memtable: Memtable;
  /** Every message up to this id is in the index; null: all are. */
  filledUpTo: string | null;
  /** The newest row of `searchPending` that was processed. */
  takenUpTo: number;
  /** Number of processed messages that are not stored in a segment yet, or not yet stored as dead. */
  unsavedCount: number;
}

/**
 * The search index of all messages, local to this replica. Each transaction that stores messages lists them in `searchPending`; from there
 * they are added to a table in memory, and thousands at a time to an immutable segment on disk; segments of similar size are merged. Each
 * step is one transaction, or writes what nothing refers to yet, so that it can be interrupted anywhere. Messages older than the index are
 * added by key.
 */
export class SearchIndex {
  readonly pages: SearchPages;
  readonly #transactions: Transactions;
  readonly #sizes: { memtable: number; mergeFactor: number };
  #loaded: LoadedIndex | undefined;
  readonly #mutex = new Mutex();
  #nextSegment = 0;
  #readers = 0;
  #isStopped = false;

  constructor({ transactions, sizes = { memtable: 2048, mergeFactor: 8 } }: SearchIndexDeps) {
    this.#transactions = transactions;
    this.#sizes = sizes;
    this.pages = new SearchPages(transactions);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Indexes up to `maxMessages` messages. False if there was nothing left to do. */
  indexPending(maxMessages: number): Promise<boolean> {
    return this.#mutex.run(() => this.#indexPending(maxMessages));
  }

  async #indexPending(maxMessages: number): Promise<boolean> {
    const loaded = await this.#load();
    for (let indexedCount = 0; indexedCount < maxMessages;) {
      if (loaded.memtable.isFull) return true;
      const count = (await this.#indexNewMessages(loaded)) || (await this.#indexOlderMessages(loaded));
      if (count === 0) return false;
      indexedCount += count;
    }
    return true;
  }

  /** The index as last loaded. */
  async #getLoaded(): Promise<LoadedIndex> {
    return this.#loaded ?? this.#load();
  }

  /** Indexes everything and tidies the index. Other tasks can run between the steps. */
  async indexAll(): Promise<void> {
    for (let hasMore = true; hasMore && !this.#isStopped;) {
      hasMore = await this.indexPending(MESSAGES_PER_READ);
      const { memtable, unsavedCount, filledUpTo } = await this.#getLoaded();
      if (memtable.isFull || (filledUpTo === null && unsavedCount >= this.#sizes.memtable)) {
        await this.#mutex.run(() => this.#save());
        await this.#compact();
        hasMore = true;
      }
    }
    if (!this.#isStopped) await this.#compact();
  }

  /** Sources to search, after indexing up to `maxMessages` more messages. `isComplete`: whether all stored messages are indexed. */
  async getSources(maxMessages: number): Promise<{ sources: SearchSource[]; sessions: SessionNumbers; complete: boolean }> {
    return this.#mutex.run(async () => {
      const isComplete = !(await this.#indexPending(maxMessages));
      const { segments, memtable, sessions } = await this.#getLoaded();
      return { sources: [...segments, memtable], sessions, complete: isComplete };
    });
  }

  /** Keeps the segments' pages while `read` runs; rebuilds the index if it turns out to be inconsistent. */
  async withRead<T>(read: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof IndexCorruptError)) throw error;
      await this.#mutex.run(() => this.#reset());
      return await read();
    } finally {
      this.#readers--;
    }
  }

  async #load(): Promise<LoadedIndex> {
    const row = await this.#transactions.read(['local'], (tx) => tx.objectStore('local').get('search'));
    const state = row?.name === 'search' && row.form === INDEX_FORMAT ? row : undefined;
    if (state && state.id === this.#loaded?.id) return this.#loaded;
    if (!state) return this.#reset();
    const sessions = new SessionNumbers();
    try {
      const segments: Segment[] = [];
      for (const segment of await this.pages.segments()) segments.push(await Segment.load(segment, this.pages, sessions));
      if (segments.map(({ id }) => id).join() !== state.segments.join()) throw new IndexCorruptError('A segment of the index is missing');
      return await this.#openIndex(state, sessions, segments);
    } catch (error) {
      if (error instanceof IndexCorruptError) return this.#reset();
      throw error;
    }
  }

  async #openIndex(state: StateRow, sessions: SessionNumbers, segments: Segment[]): Promise<LoadedIndex> {
    this.pages.clearCache();
    await this.pages.removeUnused(new Set(segments.map(({ id }) => id)));
    this.#nextSegment = Math.max(0, ...segments.map(({ id }) => id)) + 1;
    const memtable = this.#createMemtable(sessions, state.filled);
    return (this.#loaded = { id: state.id, sessions, segments, memtable, filledUpTo: state.filled, takenUpTo: 0, unsavedCount: 0 });
  }

  /** Deletes the index and all its pages. */
  async rebuild(): Promise<void> {
    await this.#mutex.run(() => this.#reset());
  }

  /** Creates an empty index, to which all messages will be added. */
  async #reset(): Promise<LoadedIndex> {
    const state: StateRow = { name: 'search', form: INDEX_FORMAT, id: crypto.randomUUID(), segments: [], filled: '' };
    await this.#transactions.writeLocal(['searchSegments', 'searchPending'], async (tx) => {
      await Promise.all([tx.objectStore('searchSegments').clear(), tx.objectStore('searchPending').clear()]);
      putInStore(tx, 'local', state);
    });
    return this.#openIndex(state, new SessionNumbers(), []);
  }

  /** Indexes messages stored since the last call. Resolves with their number. */
  async #indexNewMessages(loaded: LoadedIndex): Promise<number> {
    const { taken, messages, ids } = await this.#transactions.read(['searchPending', 'messages'], async (tx) => {
      const rows = await tx.objectStore('searchPending').getAll(IDBKeyRange.lowerBound(loaded.takenUpTo, true), ROWS_PER_READ);
      const ids = new Set<string>();
      let taken = loaded.takenUpTo;
      for (const row of rows) {
        if (ids.size > 0 && ids.size + row.ids.length > MESSAGES_PER_READ) break;
        for (const id of row.ids) ids.add(id);
        taken = row.seq ?? taken;
      }
      const store = tx.objectStore('messages');
      return { taken, ids: [...ids], messages: await Promise.all([...ids].map((id) => store.get(id))) };
    });
    if (taken === loaded.takenUpTo) return 0;
    // Messages beyond `filledUpTo` will be read later.
    const { filledUpTo } = loaded;
    const indexable = ids
      .map((id, index) => ({ id, message: messages[index] }))
      .filter(({ id }) => filledUpTo === null || id <= filledUpTo);
    const capacity = loaded.memtable.columns.code.length - loaded.memtable.size;
    if (capacity < indexable.length && loaded.memtable.size > 0) await this.#save();
    const reindexedIds = indexable.map(({ id }) => id);
    for (const id of reindexedIds) loaded.memtable.remove(id);
    await markDead(loaded.segments, reindexedIds);
    await this.#add(
      loaded,
      indexable.flatMap(({ message }) => message ?? []),
    );
    loaded.takenUpTo = taken;
    loaded.unsavedCount += ids.length;
    return ids.length;
  }

  /** Indexes the next messages older than the index. */
  async #indexOlderMessages(loaded: LoadedIndex): Promise<number> {
    const { filledUpTo } = loaded;
    if (filledUpTo === null) return 0;
    const count = Math.min(MESSAGES_PER_READ, loaded.memtable.columns.code.length - loaded.memtable.size);
    const messages = await this.#transactions.read(['messages'], (tx) =>
      tx.objectStore('messages').getAll(IDBKeyRange.lowerBound(filledUpTo, true), count),
    );
    await this.#add(loaded, messages);
    loaded.filledUpTo = messages.at(-1)?.id ?? null;
    if (loaded.filledUpTo === null) await this.#save();
    return messages.length;
  }

  async #add(loaded: LoadedIndex, messages: readonly StoredMessage[]): Promise<void> {
    const slicer = new TimeSlicer();
    for (const message of messages) {
      const text = getSearchableText(message);
      if (slicer.isDue) await slicer.pause();
      if (loaded.memtable.isFull) await this.#save();
      loaded.memtable.add(toIndexedMessage(message, text));
    }
  }

  /** Writes the documents in memory to a segment. */
  async #save(): Promise<void> {
    const loaded = await this.#load();
    const { memtable, filledUpTo, takenUpTo, sessions } = loaded;
    let row: SegmentRow | undefined;
    if (memtable.size > memtable.deadCount) {
      const writer = this.#createWriter();
      await memtable.writeTo(writer);
      row = await writer.finish(memtable.length);
    }
    const segment = row && (await Segment.load(row, this.pages, sessions));
    for (let doc = 0; segment && doc < memtable.size; doc++) if (memtable.isDead(doc)) segment.markDead(doc);
    await this.#commit(loaded, [], segment && row ? [[row, segment]] : [], { filledUpTo, takenUpTo });
    loaded.memtable = this.#createMemtable(sessions, filledUpTo);
    loaded.unsavedCount = 0;
  }

  /** Replaces the segments `old` by `added`. `markSaved`: number of messages that are stored with them. */
  async #commit(
    loaded: LoadedIndex,
    old: readonly Segment[],
    added: readonly (readonly [SegmentRow, Segment])[],
    saved?: Pick<LoadedIndex, 'filledUpTo' | 'takenUpTo'>,
  ): Promise<void> {
    const segments = [...loaded.segments.filter((segment) => !old.includes(segment)), ...added.map(([, segment]) => segment)];
    await this.#transactions.writeLocal(['searchSegments', 'searchPages', 'searchPending'], async (tx) => {
      const state = await tx.objectStore('local').get('search');
      if (state?.name !== 'search' || state.id !== loaded.id) throw new IndexCorruptError('The index was rebuilt in the meantime');
      for (const { id } of old) removeFromStore(tx, 'searchSegments', id);
      for (const [row] of added) putInStore(tx, 'searchSegments', row);
      for (const page of segments.flatMap((segment) => segment.getUnsavedPages())) putInStore(tx, 'searchPages', page);
      const ids = segments.map(({ id }) => id).sort((a, b) => a - b);
      putInStore(tx, 'local', { ...state, segments: ids, filled: saved ? saved.filledUpTo : state.filled });
      if (saved && saved.takenUpTo > 0) removeFromStore(tx, 'searchPending', IDBKeyRange.upperBound(saved.takenUpTo));
    });
    for (const segment of segments) segment.markSaved();
    loaded.segments = segments;
  }

  #createMemtable(sessions: SessionNumbers, filled: string | null): Memtable {
    return new Memtable(sessions, this.#sizes.memtable * (filled === null ? 1 : FILL_SIZE_FACTOR));
  }

  #createWriter(): SegmentWriter {
    return new SegmentWriter(this.#nextSegment++, (pages) => this.pages.write(pages));
  }

  /** Merges segments while there are many of similar size, or some with many dead documents; then deletes unused pages. */
  async #compact(): Promise<void> {
    const loaded = await this.#mutex.run(() => this.#load());
    let hasMerged = false;
    for (
      let group = selectMergeable(loaded.segments, this.#sizes);
      group && !this.#isStopped;
      group = selectMergeable(loaded.segments, this.#sizes)
    ) {
      if (!(await this.#merge(loaded, group))) return;
      hasMerged = true;
    }
    // Readers may need segments that were merged; the rest is removed with the next merge or at the next start.
    if (hasMerged && this.#readers === 0) {
      await this.#mutex.run(async () => this.pages.removeUnused(new Set((await this.#load()).segments.map(({ id }) => id))));
    }
  }

  /** False if the index was rebuilt in the meantime. */
  async #merge(loaded: LoadedIndex, group: readonly Segment[]): Promise<boolean> {
    const writer = this.#createWriter();
    const { numbers, length } = await mergeSegments(group, writer, { pages: this.pages, sessions: loaded.sessions });
    const row = await writer.finish(length);
    return this.#mutex.run(async () => {
      if ((await this.#load()) !== loaded) return false;
      const segment = row.docs > 0 ? await Segment.load(row, this.pages, loaded.sessions) : undefined;
      // Some may have died during the merge.
      group.forEach((old, index) =>
        numbers[index]?.forEach((doc, before) => {
          if (doc >= 0 && old.isDead(before)) segment?.markDead(doc);
        }),
      );
      await this.#commit(loaded, group, segment ? [[row, segment]] : []);
      return true;
    });
  }
}
