import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { besides, identityOf, makePrivate, prepare, type Surroundings, syncFolder } from './file.ts';
import { JournalFailed } from './journal.ts';
import type { RowSeal } from './row-seal.ts';
import { salvage } from './salvage.ts';
import { Tables } from './tables.ts';

/** A connection, and the identity of its file. */
export interface Connection {
  db: DatabaseSync;
  file: string | null;
}

export interface Replacing {
  path: string;
  seal: RowSeal;
  surroundings: Surroundings;
  /** The connection that is no longer valid; closed once there is another. */
  live: Connection;
  /** Reason, as the end of `The journal was damaged: …`. */
  reason: string;
}

/**
 * Replaces a damaged, deleted or swapped journal with an intact one with another id, including everything that could be recovered. The
 * damaged file is kept next to it. If another intact journal is there by now (an older copy, or another process did the same), the data is
 * merged into that one. Throws if writing fails; everything is unchanged then.
 */
export function replaceJournal(replacing: Replacing): Tables {
  const { path, live } = replacing;
  const there = identityOf(path);
  const tables = (there !== null && there !== live.file && adopt(replacing)) || renew(replacing, there);
  close(live.db);
  return tables;
}

/** Returns undefined if the file is not an intact journal. */
function adopt({ path, seal, surroundings, live }: Replacing): Tables | undefined {
  const db = surroundings.connect(path);
  let tables;
  try {
    prepare(db, seal);
    tables = new Tables(db, seal);
  } catch {
    close(db);
    return undefined;
  }
  try {
    tables.begin();
    salvage(live.db, tables);
    tables.meta.id = randomUUID();
    tables.note('The journal was replaced by another one. Both were merged, and hosts restore the rest.', surroundings.now());
    tables.commit();
    return tables;
  } catch (error) {
    close(db);
    throw error;
  }
}

function renew({ path, seal, surroundings, live, reason }: Replacing, there: string | null): Tables {
  const fresh = join(dirname(path), `journal.${randomBytes(6).toString('hex')}.tmp`);
  const aside = there === null ? null : asideOf(path, surroundings.now());
  const sources = [live.db];
  try {
    makePrivate(fresh);
    const target = surroundings.connect(fresh);
    try {
      if (there !== null && there !== live.file) sources.push(surroundings.connect(path));
      prepare(target, seal);
      const tables = new Tables(target, seal);
      tables.begin();
      const records = sources.reduce((sum, source) => sum + salvage(source, tables), 0);
      tables.note(sentence(reason, records, aside), surroundings.now());
      tables.commit();
    } finally {
      // Closing checkpoints everything into the one file.
      close(target);
    }
    putInPlace(fresh, path, there, aside);
  } finally {
    for (const file of [fresh, ...besides(fresh)]) rmSync(file, { force: true });
    for (const source of sources.slice(1)) close(source);
  }
  const db = surroundings.connect(path);
  prepare(db, seal);
  return new Tables(db, seal);
}

/**
 * Moves the existing file aside with its WAL, so that SQLite does not apply that to the new file. If the file system has hard links, there
 * is a file at the path at all times.
 */
function putInPlace(fresh: string, path: string, there: string | null, aside: string | null): void {
  if (identityOf(path) !== there) throw new JournalFailed('Another process replaced the journal at the same time');
  const [wal = '', shm = ''] = besides(path);
  if (aside) {
    linkOrRename(path, aside);
    if (identityOf(wal)) renameSync(wal, `${aside}-wal`);
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

function asideOf(path: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (let number = 1; ; number++) {
    const aside = join(dirname(path), `journal.damaged-${time}${number > 1 ? `-${number}` : ''}.sqlite`);
    if (identityOf(aside) === null) return aside;
  }
}

function sentence(reason: string, records: number, aside: string | null): string {
  const kept = aside ? ` The damaged file was moved to ${basename(aside)}.` : '';
  return `${reason}. ${records} records were recovered, and hosts restore the rest.${kept}`;
}

/** Closing may fail if the file is damaged or gone. */
function close(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // No data can be lost.
  }
}
