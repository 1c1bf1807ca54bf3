import type { StoreKey, StoreValue } from 'idb';
import type { HybridClock } from '#shared/sync/hybrid-clock.ts';
import { OwnershipLostError, StorageFullError, VaultReadOnlyError } from './vault-errors.ts';
import type { SessionRecord } from './chat-records.ts';
import { type Change, ChangeRecorder } from './change-log.ts';
import type { Database } from './database.ts';
import { checkEpoch } from './epoch.ts';
import { putInStore, removeFromStore } from './store-requests.ts';
import type { RecordStoreName, ReadTransaction, VaultSchema, StoreName, WriteTransaction } from './vault-schema.ts';
import { toSessionFields, toSessionHead, isSameJson } from './session-records.ts';

/** A write in progress. All changes of the vault's stores go through it, so that none is missing in the change log. */
export interface VaultWrite {
  /** For reading, and for stores that are local to this replica. */
  tx: WriteTransaction;
  /** `fence`: required for runs, also when removed; without it the change would lose against the previous one. */
  put<Name extends RecordStoreName>(
    store: Name,
    key: StoreKey<VaultSchema, Name>,
    value: StoreValue<VaultSchema, Name>,
    fence?: number,
  ): Promise<void>;
  remove<Name extends RecordStoreName>(store: Name, key: StoreKey<VaultSchema, Name>, fence?: number): Promise<void>;
  /** A session's row, before its head is moved. */
  getSession(key: string): Promise<SessionRecord | undefined>;
  /** Stores a session's row; `before` is the previous one. Its entry and its head are separate records. */
  putSession(session: SessionRecord, before: SessionRecord | undefined): Promise<void>;
  removeSession(key: string): Promise<void>;
}

interface TransactionOptions {
  clock: HybridClock;
  /** Epoch from `takeEpoch`; without it writes are not fenced. */
  epoch: number | undefined;
  /** Called once, when a write finds that another owner has taken over. */
  onlost: (reason: OwnershipLostError) => void;
  /** Called when the browser has cleared the data, before the first write to the empty database. */
  oncleared: () => void;
  /** If storage is full, a deletion asks for reserved space: resolves with false if none is reserved. */
  onfull: () => Promise<boolean>;
}

/** Receiver of changes besides this database. */
export interface ChangeSink {
  /** The newest clock value among local changes that the journal has. */
  readonly pushed: string;
  /** The reason why nothing may be written. */
  readonly refusal: VaultReadOnlyError | undefined;
  /** Pending while lost data is being read again. Resolves when that has ended, or is impossible now; never rejects. */
  readonly refilling: Promise<void> | undefined;
  /** The reason why only deletions may be written. */
  readonly diskFull: StorageFullError | undefined;
  /**
   * Called when a write's requests have been made, while it commits. Resolves when the changes are safe elsewhere too, or cannot be now;
   * never rejects.
   */
  handleChanges(changes: readonly Change[]): Promise<void>;
  /**
   * Called if changes passed to `handleChanges` could not be committed here. Resolves when they are reverted elsewhere, or cannot be at present;
   * never rejects.
   */
  handleReverted(changes: readonly Change[]): Promise<void>;
}

/** Committed changes to data that is cached in memory. */
export interface CommittedChanges {
  /** Current rows of sessions; undefined for deleted ones. */
  sessions: ReadonlyMap<string, SessionRecord | undefined>;
  /** Number of messages that were stored or removed. */
  messages: number;
}

/** A queued write, with the resolvers of its promise. */
interface QueuedWrite {
  stores: StoreName[];
  body: (write: VaultWrite) => Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Maximum number of writes per transaction. */
const MAX_GROUP_WRITES = 64;

/** Creates the vault's transactions: fenced by the owner's epoch, and recorded in the change log. */
export class Transactions {
  /** Set once changes are also sent elsewhere. */
  sink: ChangeSink | undefined;
  /** Called for each committed transaction, in order and before its caller resumes. */
  oncommitted: (committed: CommittedChanges) => void = () => {};
  readonly #database: Database;
  readonly #options: TransactionOptions;
  readonly #queue: QueuedWrite[] = [];
  /** Whether the browser may have lost the data since the last write. */
  #isUnsure = false;
  #activeWork: Promise<void> | undefined;

  constructor(database: Database, options: TransactionOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** See `Database.read`. */
  read<T>(stores: StoreName[], body: (tx: ReadTransaction) => Promise<T>): Promise<T> {
    return this.#database.read(stores, body);
  }

  /**
   * Writes to `stores`, all or nothing; strict by default, and then also in the journal. Strict writes that arrive while another one
   * commits share the next transaction, in order. `body` may run twice (see `Database`, and if another write of its group failed) and
   * awaits only IndexedDB. Rejects with `StorageFullError`, `OwnershipLostError` or `VaultReadOnlyError`; then nothing was stored.
   */
  async write<T>(stores: StoreName[], body: (write: VaultWrite) => Promise<T>, durability: 'strict' | 'relaxed' = 'strict'): Promise<T> {
    if (durability === 'relaxed') return (await this.#commit([{ stores, body }], durability)).values[0] as T;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({ stores, body, resolve: resolve as (value: unknown) => void, reject });
    this.#activeWork ??= this.#drainQueue();
    return promise;
  }

  /** Resolves when no strict write is queued. */
  async waitUntilIdle(): Promise<void> {
    await this.#activeWork;
  }

  async #drainQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      if (this.#isUnsure) await this.#awaitRefill();
      await this.#commitGroup(this.#queue.splice(0, MAX_GROUP_WRITES));
    }
    this.#activeWork = undefined;
  }

  /** After a full disk Chromium may start with an empty database: its content is read again before anything is written. */
  async #awaitRefill(): Promise<void> {
    try {
      await this.writeLocal([], async () => {});
      this.#isUnsure = false;
      await this.sink?.refilling;
    } catch {
      // The waiting write fails for the same reason.
    }
  }

  /** Never rejects: each write gets its own result. */
  async #commitGroup(group: QueuedWrite[]): Promise<void> {
    try {
      const { values, sent } = await this.#commit(group, 'strict');
      void sent.then(() => group.forEach(({ resolve }, index) => resolve(values[index])));
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      // The failure may concern only one write of the group.
      else for (const job of group) await this.#commitGroup([job]);
    }
  }

  async #commit(
    writes: readonly Pick<QueuedWrite, 'stores' | 'body'>[],
    durability: 'strict' | 'relaxed',
  ): Promise<{ values: unknown[]; sent: Promise<void> }> {
    const { sink } = this;
    if (sink?.refusal) throw sink.refusal;
    const stores = new Set(writes.flatMap((write) => write.stores));
    if (stores.has('messages')) stores.add('searchPending');
    let committed: CommittedChanges | undefined;
    let elsewhere: Promise<void> | undefined;
    let changes: Change[] = [];
    const body = async (tx: WriteTransaction): Promise<unknown[]> => {
      const done: unknown[] = [];
      changes = [];
      const sessions = new Map<string, SessionRecord | undefined>();
      for (const write of writes) {
        const recorder = new ChangeRecorder(tx, this.#options.clock, sink?.pushed ?? '');
        done.push(await write.body(openWrite(tx, recorder, sessions)));
        changes.push(...recorder.changes);
      }
      const messages = changes.filter(({ row }) => row.store === 'messages').map(({ row }) => row.key);
      if (messages.length > 0) putInStore(tx, 'searchPending', { ids: messages });
      committed = { sessions, messages: messages.length };
      if (sink?.diskFull && changes.some(({ row }) => !row.deleted)) throw sink.diskFull;
      if (changes.length > 0) elsewhere = sink?.handleChanges(changes);
      return done;
    };
    try {
      const values = await this.writeLocal([...stores, 'changes'], body, durability);
      if (committed) this.oncommitted(committed);
      return { values, sent: elsewhere ?? Promise.resolve() };
    } catch (error) {
      // A caller that gets an error can rely on it: no part of the write comes back from elsewhere.
      if (elsewhere) await sink?.handleReverted(changes);
      const deletes = changes.length > 0 && changes.every(({ row }) => row.deleted);
      if (deletes && error instanceof StorageFullError && (await this.#options.onfull())) return this.#commit(writes, durability);
      throw error;
    }
  }

  /** Writes without the change log. */
  async writeLocal<T>(
    stores: StoreName[],
    body: (tx: WriteTransaction) => Promise<T>,
    durability: 'strict' | 'relaxed' = 'relaxed',
  ): Promise<T> {
    const { epoch, onlost, oncleared } = this.#options;
    try {
      return await this.#database.write([...stores, 'local'], durability, async (tx) => {
        // This request also ensures that bodies run, and clocks tick, in the order in which the transactions commit.
        if (await checkEpoch(tx, epoch)) oncleared();
        return body(tx);
      });
    } catch (error) {
      if (error instanceof OwnershipLostError) onlost(error);
      if (error instanceof StorageFullError) this.#isUnsure = true;
      throw error;
    }
  }
}

/** The writers are asynchronous, so that a synchronous throw rejects too, and `Promise.all` handles each of them. */
function openWrite(tx: WriteTransaction, recorder: ChangeRecorder, sessions: Map<string, SessionRecord | undefined>): VaultWrite {
  return {
    tx,
    async put(store, key, value, fence) {
      putInStore(tx, store, value);
      await recorder.record(store, key, value, fence);
    },
    async remove(store, key, fence) {
      removeFromStore(tx, store, key);
      await recorder.record(store, key, undefined, fence);
    },
    getSession(key) {
      recorder.prefetch('heads', key);
      return tx.objectStore('sessions').get(key);
    },
    async putSession(session, before) {
      const entry = toSessionFields(session);
      const head = toSessionHead(session);
      putInStore(tx, 'sessions', session);
      sessions.set(session.key, session);
      await Promise.all([
        (!before || !isSameJson(entry, toSessionFields(before))) && recorder.record('sessions', session.key, entry),
        (!before || !isSameJson(head, toSessionHead(before))) && recorder.record('heads', session.key, head),
      ]);
    },
    async removeSession(key) {
      removeFromStore(tx, 'sessions', key);
      sessions.set(key, undefined);
      await Promise.all([recorder.record('sessions', key, undefined), recorder.record('heads', key, undefined)]);
    },
  };
}
