import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';
import type { VaultSchema } from './vault-schema.ts';
import { StorageFullError } from './vault-errors.ts';

const getErrorName = (error: unknown): string => (error instanceof Error || error instanceof DOMException ? error.name : '');

/**
 * Chromium's errors for a full disk. The first failing write closes the connection; until there is space, opening the database fails, even
 * for reading.
 */
const DISK_FULL_PATTERN = /FILE_ERROR_NO_SPACE|Internal error opening backing store|full disk/;

/** The connection was closed before the transaction could begin. */
const isClosedConnection = (error: unknown): boolean => getErrorName(error) === 'InvalidStateError';

/**
 * Whether an abort that was not requested here may be cured by a new connection: a forced close gives no reason, or one of these names.
 * Quota, constraint and data errors are not among them.
 */
const isLostConnection = (reason: unknown): boolean =>
  reason == null || ['AbortError', 'InvalidStateError', 'UnknownError'].includes(getErrorName(reason));

/** The database was closed by force while it was opening. */
const isInterruptedOpening = (error: unknown): boolean => getErrorName(error) === 'AbortError';

/** The database on disk was created by a newer build. */
const isVersionError = (error: unknown): boolean => getErrorName(error) === 'VersionError';

/** A transaction over stores of a database. */
export type Transaction<S extends DBSchema, Mode extends IDBTransactionMode> = IDBPTransaction<S, StoreNames<S>[], Mode>;

/** A migration. It may only await IndexedDB. */
export type Migration<S extends DBSchema> = (db: IDBPDatabase<S>, tx: Transaction<S, 'versionchange'>) => void | Promise<void>;

const MAX_OPEN_ATTEMPTS = 3;

/** The database was written by a newer build of Perch; it must not be changed. */
export class VaultTooNewError extends Error {
  override name = 'VaultTooNewError';
}

/** The vault was closed before the operation. */
export class VaultClosedError extends Error {
  override name = 'VaultClosedError';
}

interface DatabaseOptions<S extends DBSchema = VaultSchema> {
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
  migrations: readonly Migration<S>[];
}

/**
 * A database that opens (and upgrades) with the first operation, which rejects with `VaultTooNewError` if a newer build wrote it. If the browser
 * closes it by force (eviction, cleared site data), the next operation reopens it, and an interrupted one is retried once. Operations must
 * therefore be idempotent.
 */
export class Database<S extends DBSchema = VaultSchema> {
  readonly #options: DatabaseOptions<S>;
  #opening: Promise<IDBPDatabase<S>> | undefined;
  /** Why the database cannot be used any more. */
  #endReason: Error | undefined;
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
   * `body` throws, nothing changes. Rejects with `StorageFullError` if there is no space.
   */
  write<T>(stores: StoreNames<S>[], durability: 'strict' | 'relaxed', body: (tx: Transaction<S, 'readwrite'>) => Promise<T>): Promise<T> {
    return this.#track(this.#attempt((connection) => connection.transaction(stores, 'readwrite', { durability }), body));
  }

  /** Closes once pending operations have settled; later ones reject with `VaultClosedError`. */
  async close(): Promise<void> {
    this.#endReason ??= new VaultClosedError('The vault is closed.');
    await this.#release();
  }

  /** Closes for an external reason: later operations reject with `reason`. False if it had already ended. */
  end(reason: Error): boolean {
    if (this.#endReason) return false;
    this.#endReason = reason;
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
    begin: (database: IDBPDatabase<S>) => Tx,
    body: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    for (let isLastAttempt = false; ; isLastAttempt = true) {
      const opening = this.#connect();
      const connection = await opening;
      let tx: Tx;
      try {
        tx = begin(connection);
      } catch (error) {
        if (isLastAttempt || !isClosedConnection(error)) throw error;
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
        const hasEndedItself = !tryAbort(tx);
        await done.catch(() => {});
        if (!hasEndedItself) throw toStorageError(error);
        if (isLastAttempt || !isLostConnection(tx.error)) throw toStorageError(tx.error ?? error);
        this.#drop(opening);
      }
    }
  }

  #connect(): Promise<IDBPDatabase<S>> {
    if (this.#endReason) return Promise.reject(this.#endReason);
    if (this.#opening) return this.#opening;
    const opening: Promise<IDBPDatabase<S>> = this.#openWithRetry(() => {
      this.#drop(opening);
      this.#options.onterminated?.();
    });
    this.#opening = opening;
    opening.catch((error: unknown) => {
      if (this.#opening === opening) this.#opening = undefined;
      if (error instanceof VaultTooNewError) this.#onOutdated(error);
    });
    return opening;
  }

  /** A forced close may happen during opening too: then opening is repeated. */
  async #openWithRetry(onterminated: () => void): Promise<IDBPDatabase<S>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#openOnce(onterminated);
      } catch (error) {
        if (attempt === MAX_OPEN_ATTEMPTS || !isInterruptedOpening(error)) throw error;
      }
    }
  }

  async #openOnce(onterminated: () => void): Promise<IDBPDatabase<S>> {
    const { name, onblocked, migrations } = this.#options;
    let failure: unknown;
    try {
      const connection = await openDB<S>(name, migrations.length, {
        upgrade(db, from, _to, tx) {
          // idb does not wait for this function: a failed step has to abort the upgrade itself.
          const upgrading = (async () => {
            for (const migration of migrations.slice(from)) await migration(db, tx);
          })();
          upgrading.catch((error: unknown) => {
            failure = error;
            tryAbort(tx);
          });
          tx.done.catch(() => {});
        },
        blocked: () => onblocked?.(),
        blocking: (_current, next) => void this.#onBlocking(next),
        terminated: onterminated,
      });
      this.#options.onopened?.();
      return connection;
    } catch (error) {
      if (isVersionError(error)) {
        throw new VaultTooNewError('The data was written by a newer build of Perch. Reload to update.', { cause: error });
      }
      throw toStorageError(failure ?? error);
    }
  }

  /** Closes because another connection requests a newer version (a newer build), or none (to delete the database). */
  async #onBlocking(next: number | null): Promise<void> {
    const opening = this.#opening;
    if (next === null) {
      if (opening) this.#drop(opening);
      return;
    }
    await this.#options.beforeOutdated?.().catch(() => {});
    this.#onOutdated(new VaultTooNewError('A newer build of Perch has taken over the data. Reload to update.'));
  }

  #onOutdated(reason: VaultTooNewError): void {
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
function tryAbort(tx: { abort(): void }): boolean {
  try {
    tx.abort();
    return true;
  } catch {
    return false;
  }
}

/** Converts a browser's error to `StorageFullError` if a quota or the disk is full; returns any other error as it is. */
function toStorageError(error: unknown): unknown {
  const name = getErrorName(error);
  const isKnown = error instanceof Error || error instanceof DOMException;
  if (isKnown && (name === 'UnknownError' || name === 'QuotaExceededError') && DISK_FULL_PATTERN.test(error.message))
    return new StorageFullError('The disk is full, or the browser can’t open its storage. Nothing was saved.', { cause: error });
  if (name === 'QuotaExceededError') return new StorageFullError('The browser is out of storage. Nothing was saved.', { cause: error });
  return error;
}
