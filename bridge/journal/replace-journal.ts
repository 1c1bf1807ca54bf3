import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { SIDE_FILES, getFileIdentity, createPrivateFile, prepareConnection, type JournalEnvironment, syncFolder } from './journal-file.ts';
import { JournalError } from './journal.ts';
import type { RowSeal } from './row-seal.ts';
import { salvageRecords } from './salvage.ts';
import { JournalTables } from './journal-tables.ts';

/** A connection, and the identity of its file. */
export interface JournalConnection {
  db: DatabaseSync;
  file: string | null;
}

interface ReplaceOptions {
  path: string;
  seal: RowSeal;
  surroundings: JournalEnvironment;
  /** The connection that is no longer valid; closed once there is another. */
  live: JournalConnection;
  /** Reason, as the end of `The journal was damaged: …`. */
  reason: string;
}

/**
 * Replaces a damaged, deleted or swapped journal with an intact one with another id, including everything that could be recovered. The
 * damaged file is kept next to it. If another intact journal is there by now (an older copy, or another process did the same), the data is
 * merged into that one. Throws if writing fails; everything is unchanged then.
 */
export function replaceJournal(replacing: ReplaceOptions): JournalTables {
  const { path, live } = replacing;
  const identity = getFileIdentity(path);
  const tables = (identity !== null && identity !== live.file && adoptJournal(replacing)) || renewJournal(replacing, identity);
  closeConnection(live.db);
  return tables;
}

/** Returns undefined if the file is not an intact journal. */
function adoptJournal({ path, seal, surroundings, live }: ReplaceOptions): JournalTables | undefined {
  const db = surroundings.connect(path);
  let tables;
  try {
    prepareConnection(db, seal);
    tables = new JournalTables(db, seal);
  } catch {
    closeConnection(db);
    return undefined;
  }
  try {
    tables.begin();
    salvageRecords(live.db, tables);
    tables.meta.id = randomUUID();
    tables.note('The journal was replaced by another one. Both were merged, and hosts restore the rest.', surroundings.now());
    tables.commit();
    return tables;
  } catch (error) {
    closeConnection(db);
    throw error;
  }
}

function renewJournal({ path, seal, surroundings, live, reason }: ReplaceOptions, existing: string | null): JournalTables {
  const fresh = join(dirname(path), `journal.${randomBytes(6).toString('hex')}.tmp`);
  const asidePath = existing === null ? null : toAsidePath(path, surroundings.now());
  const sources = [live.db];
  try {
    createPrivateFile(fresh);
    const target = surroundings.connect(fresh);
    try {
      if (existing !== null && existing !== live.file) sources.push(surroundings.connect(path));
      prepareConnection(target, seal);
      const tables = new JournalTables(target, seal);
      tables.begin();
      const records = sources.reduce((sum, source) => sum + salvageRecords(source, tables), 0);
      tables.note(describeReplacement(reason, records, asidePath), surroundings.now());
      tables.commit();
    } finally {
      // Closing checkpoints everything into the one file.
      closeConnection(target);
    }
    moveIntoPlace(fresh, path, existing, asidePath);
  } finally {
    for (const file of [fresh, ...SIDE_FILES(fresh)]) rmSync(file, { force: true });
    for (const source of sources.slice(1)) closeConnection(source);
  }
  const db = surroundings.connect(path);
  prepareConnection(db, seal);
  return new JournalTables(db, seal);
}

/**
 * Moves the existing file aside with its WAL, so that SQLite does not apply that to the new file. If the file system has hard links, there
 * is a file at the path at all times.
 */
function moveIntoPlace(fresh: string, path: string, existing: string | null, asidePath: string | null): void {
  if (getFileIdentity(path) !== existing) throw new JournalError('Another process replaced the journal at the same time');
  const [wal = '', shm = ''] = SIDE_FILES(path);
  if (asidePath) {
    linkOrRename(path, asidePath);
    if (getFileIdentity(wal)) renameSync(wal, `${asidePath}-wal`);
  }
  for (const file of [wal, shm]) rmSync(file, { force: true });
  renameSync(fresh, path);
  syncFolder(path);
}

function linkOrRename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    renameSync(from, to);
  }
}

function toAsidePath(path: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (let number = 1; ; number++) {
    const asidePath = join(dirname(path), `journal.damaged-${time}${number > 1 ? `-${number}` : ''}.sqlite`);
    if (getFileIdentity(asidePath) === null) return asidePath;
  }
}

function describeReplacement(reason: string, records: number, asidePath: string | null): string {
  const savedCount = asidePath ? ` The damaged file was moved to ${basename(asidePath)}.` : '';
  return `${reason}. ${records} records were recovered, and hosts restore the rest.${savedCount}`;
}

/** Closing may fail if the file is damaged or gone. */
function closeConnection(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // No data can be lost.
  }
}
