import type { StoreKey, StoreValue } from 'idb';
import { OwnershipLost } from '../core/vault.ts';
import { ChangeNotes } from './change-log.ts';
import type { Database } from './database.ts';
import type { HybridClock } from './hybrid-clock.ts';
import { checkEpoch } from './epoch.ts';
import type { LoggedStore, ReadTransaction, Schema, StoreName, WriteTransaction } from './schema.ts';

/** A write under way. What goes to a logged store goes through here, so that no change misses the change log. */
export interface Write {
  /** For reading, and for the stores that are not logged. */
  tx: WriteTransaction;
  put<Name extends LoggedStore>(store: Name, key: StoreKey<Schema, Name>, value: StoreValue<Schema, Name>): Promise<void>;
  remove<Name extends LoggedStore>(store: Name, key: StoreKey<Schema, Name>): Promise<void>;
}

export interface TransactionOptions {
  clock: HybridClock;
  origin: string;
  /** What `takeEpoch` gave; without it writes are not fenced. */
  epoch: number | undefined;
  /** Called once, when a write finds that another owner took over. */
  onlost: (reason: OwnershipLost) => void;
}

/** Transactions as the vault makes them: fenced by the owner's epoch, and noted in the change log. */
export class Transactions {
  readonly #database: Database;
  readonly #options: TransactionOptions;

  constructor(database: Database, options: TransactionOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** See `Database.read`. */
  read<T>(stores: StoreName[], body: (tx: ReadTransaction) => Promise<T>): Promise<T> {
    return this.#database.read(stores, body);
  }

  /**
   * Writes to `stores`, all or nothing; strict unless told otherwise. `body` may run twice (see `Database`) and awaits nothing but
   * IndexedDB. Rejects with `StorageFull` or `OwnershipLost`; then nothing was stored.
   */
  async write<T>(stores: StoreName[], body: (write: Write) => Promise<T>, durability: 'strict' | 'relaxed' = 'strict'): Promise<T> {
    const { clock, origin, epoch, onlost } = this.#options;
    try {
      return await this.#database.write([...stores, 'changes', 'local'], durability, async (tx) => {
        // This request also makes bodies run, and so the clock tick, in the order in which the transactions commit.
        await checkEpoch(tx, epoch);
        return body(openWrite(tx, new ChangeNotes(tx, clock, origin)));
      });
    } catch (error) {
      if (error instanceof OwnershipLost) onlost(error);
      throw error;
    }
  }
}

/** Both functions are asynchronous so that one that throws at once rejects too, and `Promise.all` sees to every one of them. */
function openWrite(tx: WriteTransaction, notes: ChangeNotes): Write {
  return {
    tx,
    async put(store, key, value) {
      await Promise.all([putInto(tx, store, value), notes.changed(store, key)]);
    },
    async remove(store, key) {
      await Promise.all([removeFrom(tx, store, key), notes.removed(store, key)]);
    },
  };
}

async function putInto<Name extends LoggedStore>(tx: WriteTransaction, store: Name, value: StoreValue<Schema, Name>): Promise<void> {
  await tx.objectStore(store).put(value);
}

async function removeFrom<Name extends LoggedStore>(tx: WriteTransaction, store: Name, key: StoreKey<Schema, Name>): Promise<void> {
  await tx.objectStore(store).delete(key);
}
