import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { defaultEnvironment } from './journal-file.ts';
import {
  changeFileDirectly,
  readContents,
  KEY,
  openCore,
  pullAll,
  pushRecords,
  temporaryFolder,
  createVersion,
  createVersions,
} from './fixture.ts';
import { JournalFullError } from './journal.ts';
import { openJournal } from './open-journal.ts';

const big = (key: string, kilobytes: number) => createVersion(key, 1, 'a', { payload: 'x'.repeat(kilobytes * 1024) });

/** Fills all remaining space. */
function fillUp(path: string): void {
  for (const block of [64 * 1024, 4096]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(block));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** Creates a separate file system, if permitted. */
function smallDisk(megabytes = 1): ({ dir: string } & Disposable) | undefined {
  const folder = temporaryFolder();
  const dir = join(folder.dir, 'disk');
  mkdirSync(dir);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', dir]).status === 0;
  const end = (): void => {
    if (mounted) spawnSync('umount', [dir]);
    folder[Symbol.dispose]();
  };
  if (mounted) return { dir, [Symbol.dispose]: end };
  end();
  return undefined;
}

test('a real disk that is full: nothing is stored, and pushing works once there is room', ({ skip }) => {
  using disk = smallDisk();
  if (!disk) return skip('no file system can be mounted here');
  const { dir } = disk;
  using journal = openCore({ dir });
  pushRecords(journal, createVersions(5));
  const ballast = join(dir, 'ballast');
  writeFileSync(ballast, Buffer.alloc(650 * 1024));
  const before = readContents(pullAll(journal));
  for (let round = 0; round < 3; round++)
    expect(() => pushRecords(journal, [createVersion('small', 1), big('big', 400)])).toThrow(JournalFullError);
  expect(readContents(pullAll(journal))).toEqual(before);
  // A task that fits is not affected by one that does not.
  const outcomes = journal.commit([() => journal.push([big('big', 400)], 'a'), () => journal.push([createVersion('fits', 1)], 'a')]);
  expect(outcomes).toEqual([{ error: expect.any(JournalFullError) }, { value: { before: 5, last: 6, conflicts: 0 } }]);
  rmSync(ballast);
  pushRecords(journal, [createVersion('small', 1), big('big', 100)]);
  journal.close();
  using again = openCore({ dir });
  expect(again.received.replaced).toEqual([]);
  expect(pullAll(again).map(({ key }) => key)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'fits', 'small', 'big']);
});

test('a real disk that is full, through the thread', async ({ skip }) => {
  using disk = smallDisk();
  if (!disk) return skip('no file system can be mounted here');
  const { dir } = disk;
  await using journal = await openJournal({ dir, vaultKey: KEY });
  const outcomes = await Promise.allSettled([journal.push([big('big', 1100)], 'a'), journal.push([createVersion('fits', 1)], 'a')]);
  expect(outcomes).toMatchObject([{ reason: expect.any(JournalFullError) }, { value: { before: 0, last: 1, conflicts: 0 } }]);
  expect((await journal.pull(0, 10)).records).toMatchObject([{ key: 'fits' }]);
  expect(await journal.push([big('smaller', 100)], 'a')).toMatchObject({ last: 2 });
});

verifies('vault.journal/reserve', 'on a full disk the space set aside is used, said so, and set aside again', ({ skip }) => {
  using disk = smallDisk(24);
  if (!disk) return skip('no file system can be mounted here');
  const { dir } = disk;
  using journal = openCore({ dir });
  journal.prune();
  const reserve = join(dir, 'journal.reserve');
  expect(statSync(reserve).size).toBe(4 * 1024 * 1024);
  expect(pushRecords(journal, [createVersion('before', 1)])).not.toHaveProperty('low');
  const ballast = join(dir, 'ballast');
  fillUp(ballast);
  const stored: string[] = [];
  let used = false;
  for (let i = 0; !used; i++) {
    const { low } = pushRecords(journal, [big(`k${i}`, 100)]);
    stored.push(`k${i}`);
    used = low === true;
  }
  expect(existsSync(reserve)).toBe(false);
  expect(pushRecords(journal, [createVersion('more', 1)])).toMatchObject({ low: true });
  journal.poll();
  expect(existsSync(reserve)).toBe(false);
  rmSync(ballast);
  journal.poll();
  expect(existsSync(reserve)).toBe(true);
  expect(pushRecords(journal, [createVersion('after', 1)])).not.toHaveProperty('low');
  expect(pullAll(journal).map(({ key }) => key)).toEqual(['before', ...stored, 'more', 'after']);
});

test('a damaged journal on a full disk stays as it is until there is room to save it', ({ skip }) => {
  using disk = smallDisk();
  if (!disk) return skip('no file system can be mounted here');
  const { dir } = disk;
  {
    using journal = openCore({ dir });
    pushRecords(journal, [big('a', 200), createVersion('b', 1)]);
  }
  const ballast = join(dir, 'ballast');
  changeFileDirectly(join(dir, 'journal.sqlite'), (db) => db.exec("DELETE FROM meta WHERE name = 'head'"));
  writeFileSync(ballast, Buffer.alloc(600 * 1024));
  expect(() => openCore({ dir })).toThrow(JournalFullError);
  rmSync(ballast);
  using journal = openCore({ dir });
  expect(pullAll(journal).map(({ key }) => key)).toEqual(['a', 'b']);
});

verifies('vault.journal/full', 'a file that may not grow: nothing is stored, and pushing works once it may', () => {
  using folder = temporaryFolder();
  const connections: ReturnType<typeof defaultEnvironment.connect>[] = [];
  const connect = (path: string) => {
    const db = defaultEnvironment.connect(path);
    connections.push(db);
    return db;
  };
  using journal = openCore({ ...folder, surroundings: { ...defaultEnvironment, connect } });
  const mayGrow = (pages: number): void => connections[0]?.exec(`PRAGMA max_page_count = ${pages}`);
  pushRecords(journal, createVersions(5));
  mayGrow(40);
  const before = readContents(pullAll(journal));
  for (let round = 0; round < 3; round++)
    expect(() => pushRecords(journal, [createVersion('small', 1), big('big', 400)])).toThrow(JournalFullError);
  expect(readContents(pullAll(journal))).toEqual(before);
  const outcomes = journal.commit([() => journal.push([big('big', 400)], 'a'), () => journal.push([createVersion('fits', 1)], 'a')]);
  expect(outcomes).toEqual([{ error: expect.any(JournalFullError) }, { value: { before: 5, last: 6, conflicts: 0 } }]);
  mayGrow(100_000);
  pushRecords(journal, [createVersion('small', 1), big('big', 400)]);
  expect(pullAll(journal)).toHaveLength(8);
  expect(journal.received.replaced).toEqual([]);
});
