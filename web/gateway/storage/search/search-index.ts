import { Turns } from '#shared/turns.ts';
import { removeFrom, putInto } from '../requests.ts';
import type { LocalRow, SegmentRow, StoredMessage } from '../schema.ts';
import type { Transactions } from '../transaction.ts';
import { killIn } from './deaths.ts';
import { indexed, textOf } from './document.ts';
import { Memtable } from './memtable.ts';
import { merge, ripe } from './merge.ts';
import { Pace } from './pace.ts';
import { IndexBroken, SearchPages } from './pages.ts';
import { Segment } from './segment.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SessionNames, type Source } from './source.ts';

/** Format of the stores: another number rebuilds the index. */
const FORM = 2;
/** Number of messages read at a time. */
const MESSAGES_A_TURN = 256;
/** Factor for the segment size while all messages are being indexed, for fewer merges. */
const FILLING = 4;
/** Number of rows read at a time; each has the few messages of one transaction of the vault. */
const ROWS_A_TURN = 64;

export interface SearchIndexDeps {
  transactions: Transactions;
  /** Tests pass small ones. `memtable`: number of messages per segment. `fan`: number of segments of similar size that are merged. */
  sizes?: { memtable: number; fan: number };
}

type StateRow = Extract<LocalRow, { name: 'search' }>;

/** The loaded index, with the part that is only in memory. */
interface Loaded {
  /** Id of this index, to detect that it was rebuilt. */
  id: string;
  sessions: SessionNames;
  segments: Segment[];
  memtable: Memtable;
  /** Every message up to this id is in the index; null: all are. */
  filled: string | null;
  /** The newest row of `searchPending` that was processed. */
  taken: number;
  /** Number of processed messages that are not stored in a segment yet, or not yet stored as dead. */
  unsaved: number;
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
  readonly #sizes: { memtable: number; fan: number };
  #loaded: Loaded | undefined;
  readonly #turns = new Turns();
  #nextSegment = 0;
  #readers = 0;
  #stopped = false;

  constructor({ transactions, sizes = { memtable: 2048, fan: 8 } }: SearchIndexDeps) {
    this.#transactions = transactions;
    this.#sizes = sizes;
    this.pages = new SearchPages(transactions);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Indexes up to `most` messages. False if there was nothing left to do. */
  take(most: number): Promise<boolean> {
    return this.#turns.run(() => this.#take(most));
  }

  async #take(most: number): Promise<boolean> {
    const loaded = await this.#load();
    for (let taken = 0; taken < most;) {
      if (loaded.memtable.full) return true;
      const count = (await this.#takePending(loaded)) || (await this.#fill(loaded));
      if (count === 0) return false;
      taken += count;
    }
    return true;
  }

  /** The index as last loaded. */
  async #known(): Promise<Loaded> {
    return this.#loaded ?? this.#load();
  }

  /** Indexes everything and tidies the index. Other tasks can run between the steps. */
  async work(): Promise<void> {
    for (let more = true; more && !this.#stopped;) {
      more = await this.take(MESSAGES_A_TURN);
      const { memtable, unsaved, filled } = await this.#known();
      if (memtable.full || (filled === null && unsaved >= this.#sizes.memtable)) {
        await this.#turns.run(() => this.#save());
        await this.#tidy();
        more = true;
      }
    }
    if (!this.#stopped) await this.#tidy();
  }

  /** Sources to search, after indexing up to `most` more messages. `complete`: whether all stored messages are indexed. */
  async sources(most: number): Promise<{ sources: Source[]; sessions: SessionNames; complete: boolean }> {
    return this.#turns.run(async () => {
      const complete = !(await this.#take(most));
      const { segments, memtable, sessions } = await this.#known();
      return { sources: [...segments, memtable], sessions, complete };
    });
  }

  /** Keeps the segments' pages while `read` runs; rebuilds the index if it turns out to be inconsistent. */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof IndexBroken)) throw error;
      await this.#turns.run(() => this.#reset());
      return await read();
    } finally {
      this.#readers--;
    }
  }

  async #load(): Promise<Loaded> {
    const row = await this.#transactions.read(['local'], (tx) => tx.objectStore('local').get('search'));
    const state = row?.name === 'search' && row.form === FORM ? row : undefined;
    if (state && state.id === this.#loaded?.id) return this.#loaded;
    if (!state) return this.#reset();
    const sessions = new SessionNames();
    try {
      const segments: Segment[] = [];
      for (const segment of await this.pages.segments()) segments.push(await Segment.load(segment, this.pages, sessions));
      if (segments.map(({ id }) => id).join() !== state.segments.join()) throw new IndexBroken('A segment of the index is missing');
      return await this.#adopt(state, sessions, segments);
    } catch (error) {
      if (error instanceof IndexBroken) return this.#reset();
      throw error;
    }
  }

  async #adopt(state: StateRow, sessions: SessionNames, segments: Segment[]): Promise<Loaded> {
    this.pages.forget();
    await this.pages.sweep(new Set(segments.map(({ id }) => id)));
    this.#nextSegment = Math.max(0, ...segments.map(({ id }) => id)) + 1;
    const memtable = this.#memtable(sessions, state.filled);
    return (this.#loaded = { id: state.id, sessions, segments, memtable, filled: state.filled, taken: 0, unsaved: 0 });
  }

  /** Creates an empty index, to which all messages will be added. */
  async #reset(): Promise<Loaded> {
    const state: StateRow = { name: 'search', form: FORM, id: crypto.randomUUID(), segments: [], filled: '' };
    await this.#transactions.local(['searchSegments', 'searchPending'], async (tx) => {
      await Promise.all([tx.objectStore('searchSegments').clear(), tx.objectStore('searchPending').clear()]);
      putInto(tx, 'local', state);
    });
    return this.#adopt(state, new SessionNames(), []);
  }

  /** Indexes messages stored since the last call. Resolves with their number. */
  async #takePending(loaded: Loaded): Promise<number> {
    const { taken, messages, ids } = await this.#transactions.read(['searchPending', 'messages'], async (tx) => {
      const rows = await tx.objectStore('searchPending').getAll(IDBKeyRange.lowerBound(loaded.taken, true), ROWS_A_TURN);
      const ids = new Set<string>();
      let taken = loaded.taken;
      for (const row of rows) {
        if (ids.size > 0 && ids.size + row.ids.length > MESSAGES_A_TURN) break;
        for (const id of row.ids) ids.add(id);
        taken = row.seq ?? taken;
      }
      const store = tx.objectStore('messages');
      return { taken, ids: [...ids], messages: await Promise.all([...ids].map((id) => store.get(id))) };
    });
    if (taken === loaded.taken) return 0;
    // Messages beyond `filled` will be read later.
    const { filled } = loaded;
    const known = ids.map((id, at) => ({ id, message: messages[at] })).filter(({ id }) => filled === null || id <= filled);
    const room = loaded.memtable.columns.code.length - loaded.memtable.size;
    if (room < known.length && loaded.memtable.size > 0) await this.#save();
    const again = known.map(({ id }) => id);
    for (const id of again) loaded.memtable.remove(id);
    await killIn(loaded.segments, again);
    await this.#add(
      loaded,
      known.flatMap(({ message }) => message ?? []),
    );
    loaded.taken = taken;
    loaded.unsaved += ids.length;
    return ids.length;
  }

  /** Indexes the next messages older than the index. */
  async #fill(loaded: Loaded): Promise<number> {
    const { filled } = loaded;
    if (filled === null) return 0;
    const room = Math.min(MESSAGES_A_TURN, loaded.memtable.columns.code.length - loaded.memtable.size);
    const messages = await this.#transactions.read(['messages'], (tx) =>
      tx.objectStore('messages').getAll(IDBKeyRange.lowerBound(filled, true), room),
    );
    await this.#add(loaded, messages);
    loaded.filled = messages.at(-1)?.id ?? null;
    if (loaded.filled === null) await this.#save();
    return messages.length;
  }

  async #add(loaded: Loaded, messages: readonly StoredMessage[]): Promise<void> {
    const pace = new Pace();
    for (const message of messages) {
      const text = textOf(message);
      if (pace.due) await pace.pause();
      if (loaded.memtable.full) await this.#save();
      loaded.memtable.add(indexed(message, text));
    }
  }

  /** Writes the documents in memory to a segment. */
  async #save(): Promise<void> {
    const loaded = await this.#load();
    const { memtable, filled, taken, sessions } = loaded;
    let row: SegmentRow | undefined;
    if (memtable.size > memtable.deadCount) {
      const writer = this.#writer();
      await memtable.writeTo(writer);
      row = await writer.finish(memtable.length);
    }
    const segment = row && (await Segment.load(row, this.pages, sessions));
    for (let doc = 0; segment && doc < memtable.size; doc++) if (memtable.isDead(doc)) segment.kill(doc);
    await this.#commit(loaded, [], segment && row ? [[row, segment]] : [], { filled, taken });
    loaded.memtable = this.#memtable(sessions, filled);
    loaded.unsaved = 0;
  }

  /** Replaces the segments `old` by `added`. `saved`: number of messages that are stored with them. */
  async #commit(
    loaded: Loaded,
    old: readonly Segment[],
    added: readonly (readonly [SegmentRow, Segment])[],
    saved?: Pick<Loaded, 'filled' | 'taken'>,
  ): Promise<void> {
    const segments = [...loaded.segments.filter((segment) => !old.includes(segment)), ...added.map(([, segment]) => segment)];
    await this.#transactions.local(['searchSegments', 'searchPages', 'searchPending'], async (tx) => {
      const state = await tx.objectStore('local').get('search');
      if (state?.name !== 'search' || state.id !== loaded.id) throw new IndexBroken('The index was rebuilt in the meantime');
      for (const { id } of old) removeFrom(tx, 'searchSegments', id);
      for (const [row] of added) putInto(tx, 'searchSegments', row);
      for (const page of segments.flatMap((segment) => segment.unsaved())) putInto(tx, 'searchPages', page);
      const ids = segments.map(({ id }) => id).sort((a, b) => a - b);
      putInto(tx, 'local', { ...state, segments: ids, filled: saved ? saved.filled : state.filled });
      if (saved && saved.taken > 0) removeFrom(tx, 'searchPending', IDBKeyRange.upperBound(saved.taken));
    });
    for (const segment of segments) segment.saved();
    loaded.segments = segments;
  }

  #memtable(sessions: SessionNames, filled: string | null): Memtable {
    return new Memtable(sessions, this.#sizes.memtable * (filled === null ? 1 : FILLING));
  }

  #writer(): SegmentWriter {
    return new SegmentWriter(this.#nextSegment++, (pages) => this.pages.write(pages));
  }

  /** Merges segments while there are many of similar size, or some with many dead documents; then deletes unused pages. */
  async #tidy(): Promise<void> {
    const loaded = await this.#turns.run(() => this.#load());
    let merged = false;
    for (let group = ripe(loaded.segments, this.#sizes); group && !this.#stopped; group = ripe(loaded.segments, this.#sizes)) {
      if (!(await this.#merge(loaded, group))) return;
      merged = true;
    }
    // Readers may need segments that were merged; the rest is removed with the next merge or at the next start.
    if (merged && this.#readers === 0) {
      await this.#turns.run(async () => this.pages.sweep(new Set((await this.#load()).segments.map(({ id }) => id))));
    }
  }

  /** False if the index was rebuilt in the meantime. */
  async #merge(loaded: Loaded, group: readonly Segment[]): Promise<boolean> {
    const writer = this.#writer();
    const { numbers, length } = await merge(group, writer, { pages: this.pages, sessions: loaded.sessions });
    const row = await writer.finish(length);
    return this.#turns.run(async () => {
      if ((await this.#load()) !== loaded) return false;
      const segment = row.docs > 0 ? await Segment.load(row, this.pages, loaded.sessions) : undefined;
      // Some may have died during the merge.
      group.forEach((old, at) =>
        numbers[at]?.forEach((doc, before) => {
          if (doc >= 0 && old.isDead(before)) segment?.kill(doc);
        }),
      );
      await this.#commit(loaded, group, segment ? [[row, segment]] : []);
      return true;
    });
  }
}
