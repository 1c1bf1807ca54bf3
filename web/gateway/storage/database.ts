import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import { isClosedConnection, isCutOpening, isLostConnection, isVersionError, storageFailure } from './failure.ts';
import type { Schema } from './schema.ts';

/** A transaction over stores of a database. */
export type Transaction<S extends DBSchema, Mode extends IDBTransactionMode> = IDBPTransaction<S, StoreNames<S>[], Mode>;

/** A migration. It awaits nothing but IndexedDB. */
export type StepOf<S extends DBSchema> = (db: IDBPDatabase<S>, tx: Transaction<S, 'versionchange'>) => void | Promise<void>;

const OPEN_TRIES = 3;

/** The database was written by a newer build of Perch than this one; it must not be touched. */
export class VaultTooNew extends Error {
  override name = 'VaultTooNew';
}

/** The vault was closed: an operation came too late. */
export class VaultClosed extends Error {
  override name = 'VaultClosed';
}

export interface DatabaseOptions<S extends DBSchema = Schema> {
  /** The database's name. */
  name: string;
  /** Another connection of an older build is still open and keeps this one waiting; it opens when that one closes. */
  onblocked?: (() => void) | undefined;
  /** A newer build has upgraded the database, or waits to: this connection is of no use any more. */
  onoutdated?: (() => void) | undefined;
  /** The browser has closed the database by force, as it does before it throws the data away. */
  onterminated?: () => void;
  /** A connection was opened: the data may be another than with the one before. */
  onopened?: () => void;
  /** Writes pending data before the database closes for a newer build. */
  beforeOutdated?: () => Promise<void>;
  /** The migrations: the version is their number. */
  steps: readonly StepOf<S>[];
}

/**
 * A database that opens (and upgrades) with the first operation, which rejects with `VaultTooNew` where a newer build wrote it. It heals: where the browser closes it by force (eviction, cleared site data), the next operation
 * opens the database again, and one that was cut is tried once more. So bodies must be such that running twice does no harm.
 */
export class Database<S extends DBSchema = Schema> {
  readonly #options: DatabaseOptions<S>;
  #opening: Promise<IDBPDatabase<S>> | undefined;
  /** Why nothing more is possible. */
  #ended: Error | undefined;
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: DatabaseOptions<S>) {
    this.#options = options;
  }

  /** Runs `body` in a read-only transaction over `stores`. It must await nothing but IndexedDB. */
  read<T>(stores: StoreNames<S>[], body: (tx: Transaction<S, 'readonly'>) => Promise<T>): Promise<T> {
    return this.#track(this.#attempt((connection) => connection.transaction(stores, 'readonly'), body));
  }

  /**
   * Runs `body` in a read-write transaction and resolves once it is committed; with `strict`, once it is on disk. A
   * throw in `body` leaves everything as it was. Rejects with `StorageFull` where there is no room.
   */
  write<T>(stores: StoreNames<S>[], durability: 'strict' | 'relaxed', body: (tx: Transaction<S, 'readwrite'>) => Promise<T>): Promise<T> {
    return this.#track(this.#attempt((connection) => connection.transaction(stores, 'readwrite', { durability }), body));
  }

  /** Closes once what is under way has settled; later operations reject with `VaultClosed`. */
  async close(): Promise<void> {
    this.#ended ??= new VaultClosed('The vault is closed.');
    await this.#release();
  }

  /** Closes because it has to: later operations reject with `reason`. False where it had ended before. */
  end(reason: Error): boolean {
    if (this.#ended) return false;
    this.#ended = reason;
    void this.#release();
    return true;
  }

  async #release(): Promise<void> {
    await Promise.allSettled(this.#running);
    const opening = this.#opening;
    this.#opening = undefined;
    (await opening?.catch(() => undefined))?.close();
  }

  async #attempt<Tx extends Transaction<S, 'readonly'> | Transaction<S, 'readwrite'>, T>(
    begin: (on: IDBPDatabase<S>) => Tx,
    body: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    for (let last = false; ; last = true) {
      const opening = this.#connect();
      const connection = await opening;
      let tx: Tx;
      try {
        tx = begin(connection);
      } catch (error) {
        if (last || !isClosedConnection(error)) throw error;
        this.#drop(opening);
        continue;
      }
      const done = tx.done;
      done.catch(() => {});
      try {
        const result = await body(tx);
        await done;
        return result;
      } catch (error) {
        // An abort that is refused means that the transaction had ended by itself.
        const byItself = !abort(tx);
        await done.catch(() => {});
        if (!byItself) throw storageFailure(error);
        if (last || !isLostConnection(tx.error)) throw storageFailure(tx.error ?? error);
        this.#drop(opening);
      }
    }
  }

  #connect(): Promise<IDBPDatabase<S>> {
    if (this.#ended) return Promise.reject(this.#ended);
    if (this.#opening) return this.#opening;
    const opening: Promise<IDBPDatabase<S>> = this.#open(() => {
      this.#drop(opening);
      this.#options.onterminated?.();
    });
    this.#opening = opening;
    opening.catch((error: unknown) => {
      if (this.#opening === opening) this.#opening = undefined;
      if (error instanceof VaultTooNew) this.#outdate(error);
    });
    return opening;
  }

  /** A forced close may meet the opening too: then it is begun again. */
  async #open(onterminated: () => void): Promise<IDBPDatabase<S>> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#openOnce(onterminated);
      } catch (error) {
        if (tries === OPEN_TRIES || !isCutOpening(error)) throw error;
      }
    }
  }

  async #openOnce(onterminated: () => void): Promise<IDBPDatabase<S>> {
    const { name, onblocked, steps } = this.#options;
    let failure: unknown;
    try {
      const connection = await openDB<S>(name, steps.length, {
        upgrade(db, from, _to, tx) {
          // idb does not wait for this function: a failed step has to abort the upgrade itself.
          const upgrading = (async () => {
            for (const step of steps.slice(from)) await step(db, tx);
          })();
          upgrading.catch((error: unknown) => {
            failure = error;
            abort(tx);
          });
          tx.done.catch(() => {});
        },
        blocked: () => onblocked?.(),
        blocking: (_current, next) => void this.#giveWay(next),
        terminated: onterminated,
      });
      this.#options.onopened?.();
      return connection;
    } catch (error) {
      if (isVersionError(error)) {
        throw new VaultTooNew('The data was written by a newer build of Perch. Reload to update.', { cause: error });
      }
      throw storageFailure(failure ?? error);
    }
  }

  /** Another connection asks for a newer version (a newer build), or for none (the database is to be deleted). */
  async #giveWay(next: number | null): Promise<void> {
    const opening = this.#opening;
    if (next === null) {
      if (opening) this.#drop(opening);
      return;
    }
    await this.#options.beforeOutdated?.().catch(() => {});
    this.#outdate(new VaultTooNew('A newer build of Perch has taken over the data. Reload to update.'));
  }

  #outdate(reason: VaultTooNew): void {
    if (this.end(reason)) this.#options.onoutdated?.();
  }

  #drop(opening: Promise<IDBPDatabase<S>>): void {
    if (this.#opening === opening) this.#opening = undefined;
    opening.then(
      (connection) => connection.close(),
      () => {},
    );
  }

  #track<T>(operation: Promise<T>): Promise<T> {
    this.#running.add(operation);
    const settled = (): void => void this.#running.delete(operation);
    operation.then(settled, settled);
    return operation;
  }
}

/** False where the transaction had ended already. */
function abort(tx: { abort(): void }): boolean {
  try {
    tx.abort();
    return true;
  } catch {
    return false;
  }
}
