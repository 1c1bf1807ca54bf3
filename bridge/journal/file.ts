import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, constants, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Damaged } from './failures.ts';
import { JournalFailed } from './journal.ts';
import type { RowSeal } from './row-seal.ts';
import { STEPS } from './schema.ts';

/** How long a write waits for another process's, in milliseconds. */
const BUSY_MS = 5000;
const WINDOWS = process.platform === 'win32';

/** What the journal takes from its surroundings. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now(): number;
  /** A connection to the file at a path, which is there. */
  connect(path: string): DatabaseSync;
}

export const surroundings: Surroundings = {
  now: Date.now,
  connect: (path) => new DatabaseSync(path, { timeout: BUSY_MS }),
};

/** What SQLite keeps beside its file. */
export const besides = (path: string): string[] => [`${path}-wal`, `${path}-shm`];

/** Which file lies at a path, whatever its name; null: none. */
export function identityOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : null;
}

/**
 * Makes the file where there is none, for the owner alone, before SQLite writes to it: what SQLite puts beside it is given the same mode. A file that is
 * there is not opened, since closing it would end SQLite's locks on it (sqlite.org/howtocorrupt.html, "Posix advisory locks canceled").
 */
export function makePrivate(path: string): void {
  if (identityOf(path) === null) {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
    syncFolder(path);
  }
  if (!WINDOWS) for (const file of [path, ...besides(path)]) if (identityOf(file)) chmodSync(file, 0o600);
}

/** Names in a folder are on disk only once the folder is. */
export function syncFolder(path: string): void {
  if (WINDOWS) return;
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Makes a connection durable, and the file a journal where it is empty. Throws `Damaged` or SQLite's error where it is none, or not of this vault key;
 * `JournalFailed` where a newer build wrote it.
 */
export function prepare(db: DatabaseSync, seal: RowSeal): void {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216;');
  const wrong = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (wrong !== 'ok') throw new Damaged(String(wrong));
  migrate(db, seal);
  const check = db.prepare("SELECT value FROM meta WHERE name = 'keyCheck'").get()?.value;
  if (check !== seal.keyCheck) throw new Damaged('it was written with a different vault key');
}

function migrate(db: DatabaseSync, seal: RowSeal): void {
  const versionOf = (): number => Number(db.prepare('PRAGMA user_version').get()?.user_version);
  if (versionOf() === STEPS.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf();
    if (version > STEPS.length) throw new JournalFailed('The journal was written by a newer version of Perch');
    const tables = Number(db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables);
    if (version === 0 && tables > 0) throw new Damaged('it is the database of another program');
    for (const step of STEPS.slice(version)) db.exec(step);
    if (version === 0) {
      const meta = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
      const values = { id: randomUUID(), keyCheck: seal.keyCheck, head: '0', schema: '0', pruned: '0', fences: '0' };
      for (const [name, value] of Object.entries(values)) meta.run(name, value);
    }
    db.exec(`PRAGMA user_version = ${STEPS.length}`);
    db.exec('COMMIT');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}
