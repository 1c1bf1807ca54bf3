import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import {
  changeFileDirectly,
  readContents,
  readMode,
  runTask,
  openCore,
  pullAll,
  pushRecords,
  temporaryFolder,
  createVersion,
  createVersions,
} from './fixture.ts';
import { JournalError } from './journal.ts';
import type { SqliteJournal } from './sqlite-journal.ts';

const PAGE = 4096;
const MANY = createVersions(2000, 'a', { payload: JSON.stringify('x'.repeat(300)) });
const bytes = Buffer.from('attached');
const hash = createHash('sha256').update(bytes).digest('hex');

/** Fills a journal: records, an attachment, a lease with fence 3. */
function fill(journal: SqliteJournal): void {
  pushRecords(journal, MANY, 'a', 4);
  runTask(journal, () => journal.putBlob(hash, bytes));
  for (const holder of ['x', 'y', 'z']) runTask(journal, () => journal.takeLease({ name: 'run', holder, ttlMs: 0, present: [] }));
}

/** Overwrites some pages with garbage, but not the first one. */
function scribble(file: string, { from, pages }: { from: number; pages: number }): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(pages * PAGE, 0xa5), 0, pages * PAGE, from * PAGE);
  closeSync(fd);
}

const damagedFiles = (dir: string): string[] => readdirSync(dir).filter((name) => /^journal\.damaged-[\dTZ-]+\.sqlite$/.test(name));
const known = new Set(MANY.map((record) => JSON.stringify(readContents([{ ...record, seq: 1 }]))));

/** Checks that all records were written before, and that there are at least `least` of them. */
function expectSaved(journal: SqliteJournal, least: number): void {
  const records = pullAll(journal);
  expect(records.filter((record) => !known.has(JSON.stringify(readContents([record]))))).toEqual([]);
  expect(records.length).toBeGreaterThanOrEqual(least);
}

verifies('vault.journal/damaged', 'damaged pages in the middle: readable data is saved under another id, and the file is kept', () => {
  using folder = temporaryFolder();
  let id;
  {
    using journal = openCore(folder);
    fill(journal);
    id = journal.info().id;
  }
  scribble(folder.file, { from: 60, pages: 20 });
  using journal = openCore(folder);
  const { id: newId, notices, schema } = journal.info();
  expect(newId).not.toBe(id);
  expect(schema).toBe(4);
  expectSaved(journal, 1000);
  expect(pullAll(journal).length).toBeLessThan(2000);
  expect(Buffer.from(journal.getBlob(hash) ?? [])).toEqual(bytes);
  expect(runTask(journal, () => journal.takeLease({ name: 'run', holder: 'new', ttlMs: 1, present: [] }))).toBe(4);
  const [damaged = ''] = damagedFiles(folder.dir);
  expect(notices.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^The journal was damaged \(.+\)\. \d+ records were recovered/),
  ]);
  expect(notices[0]?.message).toContain(damaged);
  expect(journal.received.replaced).toEqual([notices[0]?.message]);
  expect([damaged, 'journal.sqlite'].map((name) => readMode(join(folder.dir, name)))).toEqual(['600', '600']);
  expect(readdirSync(folder.dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  // The hosts restore the rest.
  pushRecords(journal, MANY);
  expect(pullAll(journal)).toHaveLength(2000);
});

verifies('vault.journal/damaged', 'while it is in use', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  fill(journal);
  // Forces pages to be read from the file, not from the log or the cache.
  changeFileDirectly(folder.file, (db) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  scribble(folder.file, { from: 20, pages: statSync(folder.file).size / PAGE - 40 });
  changeFileDirectly(folder.file, (db) => db.exec("INSERT INTO notices (at, message) VALUES (1, 'written by another process')"));
  expect(pullAll(journal).length).toBeLessThan(2000);
  expect(journal.received.replaced).toEqual([expect.stringContaining('The journal was damaged')]);
  expect(pushRecords(journal, MANY).last).toBe(journal.head);
  expectSaved(journal, 2000);
});

verifies('vault.journal/damaged', 'cut off in the middle', () => {
  using folder = temporaryFolder();
  {
    using journal = openCore(folder);
    fill(journal);
  }
  truncateSync(folder.file, 100 * PAGE);
  using journal = openCore(folder);
  expectSaved(journal, 300);
  expect(damagedFiles(folder.dir)).toHaveLength(1);
});

verifies('vault.journal/damaged', 'no database at all, another program’s, or of another vault key', () => {
  using folder = temporaryFolder();
  const spoil: (() => void)[] = [
    () => writeFileSync(folder.file, Buffer.alloc(20_000, 7)),
    () => {
      rmSync(folder.file);
      changeFileDirectly(folder.file, (db) => db.exec('CREATE TABLE theirs (a)'));
    },
    () => {
      rmSync(folder.file);
      using other = openCore({ ...folder, vaultKey: 'o'.repeat(43) });
      fill(other);
    },
    () => changeFileDirectly(folder.file, (db) => db.exec("DELETE FROM meta WHERE name = 'head'")),
  ];
  for (const [index, damage] of spoil.entries()) {
    {
      using journal = openCore(folder);
      pushRecords(journal, createVersions(3));
    }
    damage();
    using journal = openCore(folder);
    expect(pullAll(journal), `case ${index}`).toHaveLength(index === 3 ? 4 : 0);
    expect(damagedFiles(folder.dir)).toHaveLength(index + 1);
    expect(pushRecords(journal, createVersions(1, 'z')).last).toBe(journal.head);
  }
});

it('leaves the file of a newer build alone', () => {
  using folder = temporaryFolder();
  openCore(folder).close();
  changeFileDirectly(folder.file, (db) => db.exec('PRAGMA user_version = 99'));
  expect(() => openCore(folder)).toThrow(JournalError);
  expect(damagedFiles(folder.dir)).toEqual([]);
});

verifies('vault.journal/damaged', 'deleted while it is in use: nothing is lost', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  fill(journal);
  const { id } = journal.info();
  rmSync(folder.file);
  expect(pushRecords(journal, [createVersion('next', 1)]).last).toBe(2001);
  expect(pullAll(journal)).toHaveLength(2001);
  expect(journal.info().id).not.toBe(id);
  expect(journal.received.replaced).toEqual([expect.stringContaining('The journal’s file was deleted. 2000 records were recovered')]);
  expect(['', '-wal', '-shm'].map((end) => readMode(folder.file + end))).toEqual(['600', '600', '600']);
  journal.close();
  using again = openCore(folder);
  expect(pullAll(again)).toHaveLength(2001);
});

verifies('vault.journal/damaged', 'deleted while nobody looks: noticed without a push', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  pushRecords(journal, createVersions(2));
  for (const end of ['', '-wal', '-shm']) rmSync(folder.file + end);
  journal.poll();
  expect(journal.received.replaced).toHaveLength(1);
  expect(pullAll(journal)).toHaveLength(2);
});

verifies('vault.journal/older-copy', 'replaced by an older file between two openings: replicas that had read more push everything', () => {
  using folder = temporaryFolder();
  const copy = join(folder.dir, 'copy');
  const positions: { journal: string; era: string; seq: number }[] = [];
  const read = (journal: SqliteJournal, seq: number): void => {
    positions.push({ ...runTask(journal, () => journal.open({ origin: 'r', schema: 1, position: null })).position, seq });
  };
  {
    using journal = openCore(folder);
    pushRecords(journal, createVersions(5));
    read(journal, 5);
    changeFileDirectly(folder.file, (db) => db.exec(`VACUUM INTO '${copy}'`));
    // The same era continues.
    pushRecords(journal, createVersions(1, 'n'));
    positions.push(...positions.map((position) => ({ ...position, seq: 6 })));
  }
  {
    using journal = openCore(folder);
    pushRecords(journal, createVersions(5, 'b'));
    read(journal, 5);
    read(journal, 11);
  }
  copyFileSync(copy, folder.file);
  {
    // Another process writes before any host connects, so sequence numbers alone say nothing.
    using journal = openCore(folder);
    pushRecords(journal, createVersions(50, 'c'));
  }
  using journal = openCore(folder);
  const wantsAll = positions.map((position) => runTask(journal, () => journal.open({ origin: 'r', schema: 1, position })).wantsAll);
  expect(wantsAll).toEqual([false, true, true, true]);
  expect(journal.info().notices.map(({ message }) => message)).toEqual([
    expect.stringContaining('The journal was replaced by an older copy'),
  ]);
});

verifies('vault.journal/older-copy', 'put back while it is in use: both are merged, under another id', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  pushRecords(journal, createVersions(5));
  changeFileDirectly(folder.file, (db) => db.exec(`VACUUM INTO '${folder.file}.copy'`));
  const { id } = journal.info();
  pushRecords(journal, [createVersion('a0', 99_999), ...createVersions(5, 'b')]);
  const before = readContents(pullAll(journal));
  renameSync(`${folder.file}.copy`, folder.file);
  for (const end of ['-wal', '-shm']) rmSync(folder.file + end);
  expect(readContents(pullAll(journal))).toEqual(before);
  expect(journal.info().id).not.toBe(id);
  expect(journal.received.replaced).toEqual([expect.stringContaining('Both were merged')]);
  expect(damagedFiles(folder.dir)).toEqual([]);
});

verifies('vault.sync/journal-lost', 'a host that knew another journal makes this one say that it was lost', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const position = { journal: 'gone', era: 'e', seq: 7 };
  const opened = runTask(journal, () => journal.open({ origin: 'r', schema: 1, position }));
  expect(opened).toMatchObject({ wantsAll: true, stale: false, position: { seq: 0 } });
  runTask(journal, () => journal.open({ origin: 's', schema: 1, position }));
  expect(journal.info().notices.map(({ message }) => message)).toEqual([
    'The previous journal is missing. Hosts restore its data in this one.',
  ]);
});

const TAMPERINGS = [
  "UPDATE records SET payload = 'evil' WHERE key = 'a1'",
  "UPDATE records SET payload = NULL, deleted = 1 WHERE key = 'a1'",
  "UPDATE records SET clock = '999999999999999-0000-a' WHERE key = 'a1'",
  "UPDATE records SET fence = 9223372036854775807 WHERE key = 'a1'",
  "UPDATE records SET base = '' WHERE key = 'a1'",
  "UPDATE records SET blobs = '[]' WHERE key = 'a1'",
  "UPDATE records SET pusher = NULL WHERE key = 'a1'",
  "UPDATE records SET seal = 'x' WHERE key = 'a1'",
  "UPDATE records SET store = 'config' WHERE key = 'a1'",
  "UPDATE records SET at = at + 1 WHERE key = 'a1'",
  "UPDATE records SET seq = 9000000000000000000 WHERE key = 'a1'",
  "UPDATE records SET key = 'other' WHERE key = 'a1'",
  "UPDATE records SET mac = x'00' WHERE key = 'a1'",
  "UPDATE records SET mac = (SELECT mac FROM records WHERE key = 'a0') WHERE key = 'a1'",
];
for (const tampering of TAMPERINGS) {
  verifies('vault.journal/tampered', tampering, () => {
    using folder = temporaryFolder();
    using journal = openCore(folder);
    pushRecords(journal, createVersions(3));
    const { id } = journal.info();
    changeFileDirectly(folder.file, (db) => expect(db.prepare(tampering).run().changes).toBe(1));
    expect(journal.pull(0, 1000)).toMatchObject({ records: [{ key: 'a0' }, { key: 'a2' }], next: 3, head: 3 });
    const { id: newId, records, notices } = journal.info();
    expect([newId === id, records]).toEqual([false, 2]);
    expect(notices.map(({ message }) => message)).toEqual([expect.stringContaining('A record in the journal was damaged or changed')]);
    expect(journal.received.replaced).toEqual([notices[0]?.message]);
    expect(pushRecords(journal, createVersions(3)).last).toBe(4);
    expect(readContents(pullAll(journal))).toEqual(readContents(createVersions(3).map((record) => ({ ...record, seq: 1 }))));
  });
}

verifies('vault.journal/tampered', 'a record that is pushed again heals it at once, and a snapshot leaves it out', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  pushRecords(journal, createVersions(3));
  changeFileDirectly(folder.file, (db) => db.exec("UPDATE records SET clock = '999999999999999-0000-a' WHERE key = 'a1'"));
  expect(pushRecords(journal, createVersions(3)).last).toBe(4);
  expect(journal.received.replaced).toHaveLength(1);
  changeFileDirectly(folder.file, (db) => db.exec("UPDATE records SET payload = 'evil' WHERE key = 'a1'"));
  const snapshot = journal.snapshot();
  expect(journal.next(snapshot).map(({ key }) => key)).toEqual(['a0', 'a2']);
  journal.end(snapshot);
  expect(journal.received.replaced).toHaveLength(2);
});
