import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { MAX_JOURNAL_BATCH } from '#shared/ports/journal-batch.ts';
import { verifies } from '../../tests/requirements.ts';
import { defaultEnvironment } from './journal-file.ts';
import {
  changeFileDirectly,
  createClock,
  readContents,
  DAY_MS,
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

const NULL_POSITION = { origin: 'r', schema: 1, position: null };

verifies('vault.journal/private', 'the file and what SQLite puts beside it are for the owner alone, whatever the umask', () => {
  using folder = temporaryFolder();
  const before = process.umask(0);
  try {
    using journal = openCore(folder);
    pushRecords(journal, createVersions(3));
    expect(['', '-wal', '-shm'].map((end) => readMode(folder.file + end))).toEqual(['600', '600', '600']);
  } finally {
    process.umask(before);
  }
});

verifies('vault.journal/durable', 'each commit waits for the disk', () => {
  using folder = temporaryFolder();
  const connections: ReturnType<typeof defaultEnvironment.connect>[] = [];
  const connect = (path: string) => {
    const db = defaultEnvironment.connect(path);
    connections.push(db);
    return db;
  };
  using journal = openCore({ ...folder, surroundings: { ...defaultEnvironment, connect } });
  const pragma = (name: string) => Object.values(connections[0]?.prepare(`PRAGMA ${name}`).get() ?? {});
  expect([pragma('synchronous'), pragma('journal_mode'), pragma('busy_timeout')]).toEqual([[2], ['wal'], [5000]]);
  expect(journal.head).toBe(0);
});

verifies(
  'vault.journal/processes',
  'a replica’s position in another process’s writes belongs to its era, even without a notification',
  () => {
    using folder = temporaryFolder();
    let position;
    {
      using journal = openCore(folder);
      using other = openCore(folder);
      ({ position } = runTask(journal, () => journal.open(NULL_POSITION)));
      pushRecords(other, createVersions(4));
      position = { ...position, seq: journal.pull(0, 1000).next };
      expect(position.seq).toBe(4);
    }
    using journal = openCore(folder);
    expect(runTask(journal, () => journal.open({ ...NULL_POSITION, position }))).toMatchObject({ wantsAll: false, position: { seq: 4 } });
  },
);

verifies('vault.journal/processes', 'a write of another process is reported once, whether or not it was read before', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  using other = openCore(folder);
  pushRecords(other, createVersions(2));
  journal.poll();
  journal.poll();
  pushRecords(other, createVersions(1, 'b'));
  journal.pull(0, 10);
  journal.poll();
  journal.poll();
  expect(journal.received.changed).toEqual([2, 3]);
});

verifies('vault.journal/merge', 'the last version stays, whatever its fields; a replayed push changes nothing', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const rich = createVersion('rich\0key', 5, 'b', {
    store: 'runs',
    fence: 3,
    base: null,
    blobs: ['ab'.repeat(32)],
    payload: '{"text":"é 🐦\\u0000"}',
  });
  const deletion = createVersion('gone', 6, 'a', { deleted: true, payload: null, base: createClock(1, 'b') });
  expect(pushRecords(journal, [createVersion('one', 2), rich, deletion])).toEqual({ before: 0, last: 3, conflicts: 0 });
  expect(pushRecords(journal, [createVersion('one', 1, 'b'), rich, createVersion('one', 2)])).toEqual({ before: 3, last: 3, conflicts: 0 });
  expect(pushRecords(journal, [createVersion('one', 7, 'b')])).toEqual({ before: 3, last: 4, conflicts: 0 });
  expect(pullAll(journal).map(({ key, seq }) => [key, seq])).toEqual([
    ['rich\0key', 2],
    ['gone', 3],
    ['one', 4],
  ]);
  expect(readContents(pullAll(journal))).toEqual(
    readContents([deletion, createVersion('one', 7, 'b'), rich].map((record) => ({ ...record, seq: 1 }))),
  );
  expect(journal.received.changed).toEqual([3, 4]);
});

it('keeps halves of surrogate pairs as U+FFFD, and knows them again', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  pushRecords(journal, [createVersion('half\ud800', 1, 'a', { payload: '"\udc00"' })]);
  pushRecords(journal, [createVersion('half\ud800', 2, 'a', { payload: '"\udc00"' })]);
  expect(pullAll(journal)).toMatchObject([{ key: 'half\ufffd', payload: '"\ufffd"', seq: 2 }]);
  expect(journal.received.replaced).toEqual([]);
});

verifies('vault.merge/copies', 'the loser becomes a record that everyone is told of, its pusher too', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const ours = createVersion('s', 1, 'a', { store: 'sessions', base: null });
  const theirs = createVersion('s', 2, 'b', { store: 'sessions', base: null });
  pushRecords(journal, [ours], 'a');
  expect(pushRecords(journal, [theirs], 'b')).toEqual({ before: 1, last: 3, conflicts: 1 });
  expect(pullAll(journal, { except: 'b' })).toMatchObject([{ store: 'conflicts', key: `sessions/s/${ours.clock}`, clock: ours.clock }]);
  // Once resolved, a replay does not restore the conflict.
  pushRecords(journal, [createVersion(`sessions/s/${ours.clock}`, 9, 'b', { store: 'conflicts', deleted: true, payload: null })], 'b');
  pushRecords(journal, [ours], 'a');
  expect(pullAll(journal).filter(({ store }) => store === 'conflicts')).toMatchObject([{ deleted: true }]);
});

verifies('vault.journal/pull', 'one’s own records are left out, and passed', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  pushRecords(journal, createVersions(3, 'a'), 'a');
  pushRecords(journal, createVersions(2, 'b'), 'b');
  pushRecords(journal, createVersions(4, 'c'), 'a');
  expect(pullAll(journal, { except: 'a' }).map(({ seq }) => seq)).toEqual([4, 5]);
  expect(journal.pull(0, 1000, 'a').next).toBe(9);
  expect(journal.pull(5, 1000, 'a')).toEqual({ records: [], next: 9, head: 9 });
  expect(journal.pull(0, 1, 'a')).toMatchObject({ records: [{ seq: 4 }], next: 4, head: 9 });
  expect(journal.pull(9, 10)).toEqual({ records: [], next: 9, head: 9 });
});

verifies('vault.journal/pull', 'a batch ends before it has too many characters, but for a record that has them alone', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const sized = (key: string, share: number) =>
    createVersion(key, 1, 'a', { payload: 'x'.repeat(Math.floor(MAX_JOURNAL_BATCH.chars * share)) });
  pushRecords(journal, [sized('a', 0.4), sized('b', 0.4), sized('c', 0.4), sized('d', 1.5), sized('e', 0.1)]);
  const batches: string[][] = [];
  for (let after = 0; after < 5;) {
    const { records, next } = journal.pull(after, 1000);
    batches.push(records.map(({ key }) => key));
    after = next;
  }
  expect(batches).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
});

it('tells a new replica to read and push everything, and a returning one to continue', () => {
  using folder = temporaryFolder();
  let position;
  {
    using journal = openCore(folder);
    pushRecords(journal, createVersions(5));
    const opened = runTask(journal, () => journal.open(NULL_POSITION));
    expect(opened).toMatchObject({ position: { seq: 0 }, head: 5, wantsAll: true, stale: false });
    expect(runTask(journal, () => journal.open({ ...NULL_POSITION, position: opened.position }))).toMatchObject({
      wantsAll: false,
      stale: false,
    });
    // Writes after opening belong to the same era.
    pushRecords(journal, createVersions(5, 'b'));
    position = { ...opened.position, seq: journal.pull(0, 1000).next };
  }
  using journal = openCore(folder);
  const again = runTask(journal, () => journal.open({ ...NULL_POSITION, position }));
  expect(again).toMatchObject({ position: { journal: position.journal, seq: 10 }, wantsAll: false });
  expect(again.position.era).not.toBe(position.era);
  for (const wrong of [{ journal: 'x' }, { era: 'x' }, { seq: 11 }]) {
    const opened = runTask(journal, () => journal.open({ ...NULL_POSITION, position: { ...position, ...wrong } }));
    expect(opened, JSON.stringify(wrong)).toMatchObject({ position: { ...again.position, seq: 0 }, wantsAll: true, stale: false });
  }
});

verifies('vault.journal/schema', 'it is raised by who wrote, and by nobody who only opened', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const schema = () => runTask(journal, () => journal.open({ ...NULL_POSITION, schema: 9 })).schema;
  pushRecords(journal, createVersions(1), 'a', 4);
  expect(schema()).toBe(4);
  pushRecords(journal, createVersions(1, 'b'), 'b', 3);
  pushRecords(journal, [], 'c', 9);
  expect(schema()).toBe(4);
  pushRecords(journal, createVersions(1, 'c'), 'c', 5);
  expect(schema()).toBe(5);
});

verifies('vault.journal/retention', 'deletions are forgotten after 90 days, and replicas that missed them are told', () => {
  using folder = temporaryFolder();
  let now = 1000 * DAY_MS;
  using journal = openCore({ ...folder, surroundings: { ...defaultEnvironment, now: () => now } });
  pushRecords(journal, createVersions(2));
  const { position } = runTask(journal, () => journal.open(NULL_POSITION));
  pushRecords(journal, [createVersion('a0', 5000, 'a', { deleted: true, payload: null }), createVersion('late', 1)]);
  const opened = (seq: number) => runTask(journal, () => journal.open({ ...NULL_POSITION, position: { ...position, seq } }));
  now += 90 * DAY_MS;
  journal.prune();
  expect(journal.info()).toMatchObject({ records: 2, tombstones: 1 });
  expect(opened(2).stale).toBe(false);
  now += 1;
  journal.prune();
  expect(journal.info()).toMatchObject({ records: 2, tombstones: 0, head: 4 });
  expect(opened(2)).toMatchObject({ stale: true, wantsAll: false, position: { seq: 0 } });
  expect(opened(3)).toMatchObject({ stale: false, wantsAll: false, position: { seq: 3 } });
  expect(runTask(journal, () => journal.open(NULL_POSITION)).stale).toBe(false);
  // Sequence numbers of removed records are not reused.
  pushRecords(journal, [createVersion('late', 2, 'a', { deleted: true, payload: null })]);
  now += 91 * DAY_MS;
  journal.prune();
  expect(pushRecords(journal, [createVersion('new', 1)])).toEqual({ before: 5, last: 6, conflicts: 0 });
});

verifies('vault.sync/attachments', 'bytes lie under their hash, and go a day after nothing refers to them', () => {
  using folder = temporaryFolder();
  let now = 1000 * DAY_MS;
  using journal = openCore({ ...folder, surroundings: { ...defaultEnvironment, now: () => now } });
  const [used = '', unused = ''] = ['used', 'unused'].map((text) => {
    const bytes = Buffer.from(text);
    const hash = createHash('sha256').update(bytes).digest('hex');
    runTask(journal, () => journal.putBlob(hash, bytes));
    return hash;
  });
  expect(() => runTask(journal, () => journal.putBlob(used, Buffer.from('other')))).toThrow(JournalError);
  pushRecords(journal, [createVersion('m', 1, 'a', { blobs: [used] })]);
  now += DAY_MS;
  journal.prune();
  expect(journal.info()).toMatchObject({ blobs: 2, blobBytes: 10 });
  now += 1;
  journal.prune();
  expect([journal.getBlob(used), journal.getBlob(unused)].map((bytes) => bytes && Buffer.from(bytes).toString())).toEqual([
    'used',
    undefined,
  ]);
  changeFileDirectly(folder.file, (db) => db.exec("UPDATE blobs SET bytes = x'00'"));
  expect(journal.getBlob(used)).toBeUndefined();
  expect(journal.received.replaced).toEqual([expect.stringContaining('An attachment in the journal was damaged')]);
  expect(journal.info().blobs).toBe(0);
});

verifies('vault.journal/snapshot', 'does not include concurrent writes', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  pushRecords(journal, createVersions(2500));
  const snapshot = journal.snapshot();
  const first = journal.next(snapshot);
  pushRecords(journal, [createVersion('a2499', 9999), createVersion('zzz', 1), ...createVersions(3, 'b')]);
  const read = [...first];
  for (let page = journal.next(snapshot); page.length > 0; page = journal.next(snapshot)) read.push(...page);
  journal.end(snapshot);
  expect(first).toHaveLength(1000);
  expect(readContents(read)).toEqual(readContents(createVersions(2500).map((record) => ({ ...record, seq: 1 }))));
  expect(pullAll(journal)).toHaveLength(2504);
});

verifies('vault.journal/grouped', 'a push that fails leaves nothing behind, and the others are kept', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const bad = { ...createVersion('bad', 1), payload: Symbol('no text') as never };
  const outcomes = journal.commit([
    () => journal.push(createVersions(2), 'a', 1),
    () => journal.push([createVersion('good', 1), bad], 'b', 9),
    () => journal.push(createVersions(1, 'c'), 'c', 2),
  ]);
  expect(outcomes).toEqual([
    { value: { before: 0, last: 2, conflicts: 0 } },
    { error: expect.any(JournalError) },
    { value: { before: 2, last: 3, conflicts: 0 } },
  ]);
  expect(pullAll(journal).map(({ key }) => key)).toEqual(['a0', 'a1', 'c0']);
  expect(journal.info()).toMatchObject({ schema: 2, head: 3 });
  expect(journal.received.changed).toEqual([3]);
});

it('reports the content on disk', () => {
  using folder = temporaryFolder();
  using journal = openCore({ ...folder, surroundings: { ...defaultEnvironment, now: () => 77 } });
  expect(journal.info()).toMatchObject({ head: 0, records: 0, tombstones: 0, blobs: 0, blobBytes: 0, changedAt: null, notices: [] });
  pushRecords(journal, [createVersion('a', 1), createVersion('b', 1, 'a', { deleted: true, payload: null })]);
  const { bytes, free, ...info } = journal.info();
  expect(info).toMatchObject({ path: folder.file, head: 2, records: 1, tombstones: 1, changedAt: 77 });
  expect(bytes).toBeGreaterThan(4096);
  expect(free).toBeGreaterThan(0);
});
