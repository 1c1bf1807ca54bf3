import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, constants, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DamagedJournalError } from './failures.ts';
import { JournalError } from './journal.ts';
import type { RowSeal } from './row-seal.ts';
import { MIGRATIONS } from './migrations.ts';

/** Maximum time that a write waits for another process's, in milliseconds. */
const BUSY_MS = 5000;
const IS_WINDOWS = process.platform === 'win32';

/** Injected dependencies of the journal. */
export interface JournalEnvironment {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Connects to an existing file. */
  connect(path: string): DatabaseSync;
}

export const defaultEnvironment: JournalEnvironment = {
  now: Date.now,
  connect: (path) => new DatabaseSync(path, { timeout: BUSY_MS }),
};

/** SQLite's files next to a database. */
export const SIDE_FILES = (path: string): string[] => [`${path}-wal`, `${path}-shm`];

/** Identifies the file at a path by device and inode; null if there is none. */
export function getFileIdentity(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : null;
}

/**
 * Creates the file with mode 0600 if it is missing, before SQLite writes to it: SQLite's own files get the same mode. Does not open an
 * existing file, since closing it would release SQLite's locks on it (sqlite.org/howtocorrupt.html, "Posix advisory locks canceled").
 */
export function createPrivateFile(path: string): void {
  if (getFileIdentity(path) === null) {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
    syncFolder(path);
  }
  if (!IS_WINDOWS) for (const file of [path, ...SIDE_FILES(path)]) if (getFileIdentity(file)) chmodSync(file, 0o600);
}

/** Names in a folder are durable only once the folder is synced. */
export function syncFolder(path: string): void {
  if (IS_WINDOWS) return;
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Makes a connection durable, and turns an empty file into a journal. Throws `DamagedJournalError` or SQLite's error if it is not a journal or has
 * another vault key; `JournalError` if a newer build wrote it.
 */
export function prepareConnection(db: DatabaseSync, seal: RowSeal): void {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216;');
  const wrong = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (wrong !== 'ok') throw new DamagedJournalError(String(wrong));
  migrateSchema(db, seal);
  const check = db.prepare("SELECT value FROM meta WHERE name = 'keyCheck'").get()?.value;
  if (check !== seal.keyCheck) throw new DamagedJournalError('it was written with a different vault key');
}

function migrateSchema(db: DatabaseSync, seal: RowSeal): void {
  const versionOf = (): number => Number(db.prepare('PRAGMA user_version').get()?.user_version);
  if (versionOf() === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf();
    if (version > MIGRATIONS.length) throw new JournalError('The journal was written by a newer version of Perch');
    const tables = Number(db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables);
    if (version === 0 && tables > 0) throw new DamagedJournalError('it is the database of another program');
    for (const step of MIGRATIONS.slice(version)) db.exec(step);
    if (version === 0) {
      const meta = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
      const values = { id: randomUUID(), keyCheck: seal.keyCheck, head: '0', schema: '0', pruned: '0', fences: '0' };
      for (const [name, value] of Object.entries(values)) meta.run(name, value);
    }
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec('COMMIT');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}
