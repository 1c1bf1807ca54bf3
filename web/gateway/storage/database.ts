import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import { isClosedConnection, isCutOpening, isLostConnection, isVersionError, storageFailure } from './failure.ts';
import type { Schema } from './schema.ts';

/** A transaction over stores of a database. */
export type Transaction<S extends DBSchema, Mode extends IDBTransactionMode> = IDBPTransaction<S, StoreNames<S>[], Mode>;

/** A migration. It may only await IndexedDB. */
export type StepOf<S extends DBSchema> = (db: IDBPDatabase<S>, tx: Transaction<S, 'versionchange'>) => void | Promise<void>;

const OPEN_TRIES = 3;

/** The database was written by a newer build of Perch; it must not be changed. */
export class VaultTooNew extends Error {
  override name = 'VaultTooNew';
}

/** The vault was closed before the operation. */
export class VaultClosed extends Error {
  override name = 'VaultClosed';
}

export interface DatabaseOptions<S extends DBSchema = Schema> {
  /** Name of the database. */
  name: string;
  /** Called if another connection of an older build is still open; this one opens when that one closes. */
  onblocked?: (() => void) | undefined;
  /** Called if a newer build has upgraded the database, or waits to: this connection cannot be used any more. */
  onoutdated?: (() => void) | undefined;
  /** Called if the browser has closed the database by force, as it does before it deletes the data. */
  onterminated?: () => void;
  /** Called when a connection was opened: the data may differ from that of the previous connection. */
  onopened?: () => void;
  /** Writes pending data before the database closes for a newer build. */
  beforeOutdated?: () => Promise<void>;
  /** Migrations; their number is the version. */
  steps: readonly StepOf<S>[];
}

/**
 * A database that opens (and upgrades) with the first operation, which rejects with `VaultTooNew` if a newer build wrote it. If the browser
 * closes it by force (eviction, cleared site data), the next operation reopens it, and an interrupted one is retried once. Operations must
 * therefore be idempotent.
 */
export class Database<S extends DBSchema = Schema> {
  readonly #options: DatabaseOptions<S>;
  #opening: Promise<IDBPDatabase<S>> | undefined;
  /** Why the database cannot be used any more. */
  #ended: Error | undefined;
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: DatabaseOptions<S>) {
    this.#options = options;
  }

  /** Runs `body` in a read-only transaction over `stores`. It may only await IndexedDB. */
  read<T>(stores: StoreNames<S>[], body: (tx: Transaction<S, 'readonly'>) => Promise<T>): Promise<T> {
    return this.#track(this.#attempt((connection) => connection.transaction(stores, 'readonly'), body));
  }

  /**
   * Runs `body` in a read-write transaction and resolves once it is committed; with `strict`, once it is on disk. If
   * `body` throws, nothing changes. Rejects with `StorageFull` if there is no space.
   */
  write<T>(stores: StoreNames<S>[], durability: 'strict' | 'relaxed', body: (tx: Transaction<S, 'readwrite'>) => Promise<T>): Promise<T> {
    return this.#track(this.#attempt((connection) => connection.transaction(stores, 'readwrite', { durability }), body));
  }

  /** Closes once pending operations have settled; later ones reject with `VaultClosed`. */
  async close(): Promise<void> {
    this.#ended ??= new VaultClosed('The vault is closed.');
    await this.#release();
  }

  /** Closes for an external reason: later operations reject with `reason`. False if it had already ended. */
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
        // If the abort is refused, the transaction had ended on its own.
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

  /** A forced close may happen during opening too: then opening is repeated. */
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

  /** Closes because another connection requests a newer version (a newer build), or none (to delete the database). */
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

/** False if the transaction had already ended. */
function abort(tx: { abort(): void }): boolean {
  try {
    tx.abort();
    return true;
  } catch {
    return false;
  }
}
