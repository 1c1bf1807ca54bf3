import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { BATCH } from '#shared/ports/journal.ts';
import { verifies } from '../../tests/requirements.ts';
import { surroundings } from './file.ts';
import {
  behindItsBack,
  clockOf,
  contents,
  DAY,
  modeOf,
  one,
  openCore,
  pullAll,
  push,
  temporaryFolder,
  version,
  versions,
} from './fixture.ts';
import { JournalFailed } from './journal.ts';

const NULL_POSITION = { origin: 'r', schema: 1, position: null };

verifies('vault.journal/private', 'the file and what SQLite puts beside it are for the owner alone, whatever the umask', () => {
  using folder = temporaryFolder();
  const before = process.umask(0);
  try {
    using journal = openCore(folder);
    push(journal, versions(3));
    expect(['', '-wal', '-shm'].map((end) => modeOf(folder.file + end))).toEqual(['600', '600', '600']);
  } finally {
    process.umask(before);
  }
});

verifies('vault.journal/durable', 'each commit waits for the disk', () => {
  using folder = temporaryFolder();
  const connections: ReturnType<typeof surroundings.connect>[] = [];
  const connect = (path: string) => {
    const db = surroundings.connect(path);
    connections.push(db);
    return db;
  };
  using journal = openCore({ ...folder, surroundings: { ...surroundings, connect } });
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
      ({ position } = one(journal, () => journal.open(NULL_POSITION)));
      push(other, versions(4));
      position = { ...position, seq: journal.pull(0, 1000).next };
      expect(position.seq).toBe(4);
    }
    using journal = openCore(folder);
    expect(one(journal, () => journal.open({ ...NULL_POSITION, position }))).toMatchObject({ wantsAll: false, position: { seq: 4 } });
  },
);

verifies('vault.journal/processes', 'a write of another process is reported once, whether or not it was read before', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  using other = openCore(folder);
  push(other, versions(2));
  journal.poll();
  journal.poll();
  push(other, versions(1, 'b'));
  journal.pull(0, 10);
  journal.poll();
  journal.poll();
  expect(journal.heard.changed).toEqual([2, 3]);
});

verifies('vault.journal/merge', 'the last version stays, whatever its fields; a replayed push changes nothing', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const rich = version('rich\0key', 5, 'b', {
    store: 'runs',
    fence: 3,
    base: null,
    blobs: ['ab'.repeat(32)],
    payload: '{"text":"é 🐦\\u0000"}',
  });
  const gone = version('gone', 6, 'a', { deleted: true, payload: null, base: clockOf(1, 'b') });
  expect(push(journal, [version('one', 2), rich, gone])).toEqual({ before: 0, last: 3, conflicts: 0 });
  expect(push(journal, [version('one', 1, 'b'), rich, version('one', 2)])).toEqual({ before: 3, last: 3, conflicts: 0 });
  expect(push(journal, [version('one', 7, 'b')])).toEqual({ before: 3, last: 4, conflicts: 0 });
  expect(pullAll(journal).map(({ key, seq }) => [key, seq])).toEqual([
    ['rich\0key', 2],
    ['gone', 3],
    ['one', 4],
  ]);
  expect(contents(pullAll(journal))).toEqual(contents([gone, version('one', 7, 'b'), rich].map((record) => ({ ...record, seq: 1 }))));
  expect(journal.heard.changed).toEqual([3, 4]);
});

it('keeps halves of surrogate pairs as U+FFFD, and knows them again', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  push(journal, [version('half\ud800', 1, 'a', { payload: '"\udc00"' })]);
  push(journal, [version('half\ud800', 2, 'a', { payload: '"\udc00"' })]);
  expect(pullAll(journal)).toMatchObject([{ key: 'half\ufffd', payload: '"\ufffd"', seq: 2 }]);
  expect(journal.heard.replaced).toEqual([]);
});

verifies('vault.merge/copies', 'the loser becomes a record that everyone is told of, its pusher too', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const ours = version('s', 1, 'a', { store: 'sessions', base: null });
  const theirs = version('s', 2, 'b', { store: 'sessions', base: null });
  push(journal, [ours], 'a');
  expect(push(journal, [theirs], 'b')).toEqual({ before: 1, last: 3, conflicts: 1 });
  expect(pullAll(journal, { except: 'b' })).toMatchObject([{ store: 'conflicts', key: `sessions/s/${ours.clock}`, clock: ours.clock }]);
  // Once resolved, a replay does not restore the conflict.
  push(journal, [version(`sessions/s/${ours.clock}`, 9, 'b', { store: 'conflicts', deleted: true, payload: null })], 'b');
  push(journal, [ours], 'a');
  expect(pullAll(journal).filter(({ store }) => store === 'conflicts')).toMatchObject([{ deleted: true }]);
});

verifies('vault.journal/pull', 'one’s own records are left out, and passed', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  push(journal, versions(3, 'a'), 'a');
  push(journal, versions(2, 'b'), 'b');
  push(journal, versions(4, 'c'), 'a');
  expect(pullAll(journal, { except: 'a' }).map(({ seq }) => seq)).toEqual([4, 5]);
  expect(journal.pull(0, 1000, 'a').next).toBe(9);
  expect(journal.pull(5, 1000, 'a')).toEqual({ records: [], next: 9, head: 9 });
  expect(journal.pull(0, 1, 'a')).toMatchObject({ records: [{ seq: 4 }], next: 4, head: 9 });
  expect(journal.pull(9, 10)).toEqual({ records: [], next: 9, head: 9 });
});

verifies('vault.journal/pull', 'a batch ends before it has too many characters, but for a record that has them alone', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const sized = (key: string, share: number) => version(key, 1, 'a', { payload: 'x'.repeat(Math.floor(BATCH.chars * share)) });
  push(journal, [sized('a', 0.4), sized('b', 0.4), sized('c', 0.4), sized('d', 1.5), sized('e', 0.1)]);
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
    push(journal, versions(5));
    const opened = one(journal, () => journal.open(NULL_POSITION));
    expect(opened).toMatchObject({ position: { seq: 0 }, head: 5, wantsAll: true, stale: false });
    expect(one(journal, () => journal.open({ ...NULL_POSITION, position: opened.position }))).toMatchObject({
      wantsAll: false,
      stale: false,
    });
    // Writes after opening belong to the same era.
    push(journal, versions(5, 'b'));
    position = { ...opened.position, seq: journal.pull(0, 1000).next };
  }
  using journal = openCore(folder);
  const again = one(journal, () => journal.open({ ...NULL_POSITION, position }));
  expect(again).toMatchObject({ position: { journal: position.journal, seq: 10 }, wantsAll: false });
  expect(again.position.era).not.toBe(position.era);
  for (const wrong of [{ journal: 'x' }, { era: 'x' }, { seq: 11 }]) {
    const opened = one(journal, () => journal.open({ ...NULL_POSITION, position: { ...position, ...wrong } }));
    expect(opened, JSON.stringify(wrong)).toMatchObject({ position: { ...again.position, seq: 0 }, wantsAll: true, stale: false });
  }
});

verifies('vault.journal/schema', 'it is raised by who wrote, and by nobody who only opened', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const schema = () => one(journal, () => journal.open({ ...NULL_POSITION, schema: 9 })).schema;
  push(journal, versions(1), 'a', 4);
  expect(schema()).toBe(4);
  push(journal, versions(1, 'b'), 'b', 3);
  push(journal, [], 'c', 9);
  expect(schema()).toBe(4);
  push(journal, versions(1, 'c'), 'c', 5);
  expect(schema()).toBe(5);
});

verifies('vault.journal/retention', 'deletions are forgotten after 90 days, and replicas that missed them are told', () => {
  using folder = temporaryFolder();
  let now = 1000 * DAY;
  using journal = openCore({ ...folder, surroundings: { ...surroundings, now: () => now } });
  push(journal, versions(2));
  const { position } = one(journal, () => journal.open(NULL_POSITION));
  push(journal, [version('a0', 5000, 'a', { deleted: true, payload: null }), version('late', 1)]);
  const opened = (seq: number) => one(journal, () => journal.open({ ...NULL_POSITION, position: { ...position, seq } }));
  now += 90 * DAY;
  journal.prune();
  expect(journal.info()).toMatchObject({ records: 2, tombstones: 1 });
  expect(opened(2).stale).toBe(false);
  now += 1;
  journal.prune();
  expect(journal.info()).toMatchObject({ records: 2, tombstones: 0, head: 4 });
  expect(opened(2)).toMatchObject({ stale: true, wantsAll: false, position: { seq: 0 } });
  expect(opened(3)).toMatchObject({ stale: false, wantsAll: false, position: { seq: 3 } });
  expect(one(journal, () => journal.open(NULL_POSITION)).stale).toBe(false);
  // Sequence numbers of removed records are not reused.
  push(journal, [version('late', 2, 'a', { deleted: true, payload: null })]);
  now += 91 * DAY;
  journal.prune();
  expect(push(journal, [version('new', 1)])).toEqual({ before: 5, last: 6, conflicts: 0 });
});

verifies('vault.sync/attachments', 'bytes lie under their hash, and go a day after nothing refers to them', () => {
  using folder = temporaryFolder();
  let now = 1000 * DAY;
  using journal = openCore({ ...folder, surroundings: { ...surroundings, now: () => now } });
  const [used = '', unused = ''] = ['used', 'unused'].map((text) => {
    const bytes = Buffer.from(text);
    const hash = createHash('sha256').update(bytes).digest('hex');
    one(journal, () => journal.putBlob(hash, bytes));
    return hash;
  });
  expect(() => one(journal, () => journal.putBlob(used, Buffer.from('other')))).toThrow(JournalFailed);
  push(journal, [version('m', 1, 'a', { blobs: [used] })]);
  now += DAY;
  journal.prune();
  expect(journal.info()).toMatchObject({ blobs: 2, blobBytes: 10 });
  now += 1;
  journal.prune();
  expect([journal.getBlob(used), journal.getBlob(unused)].map((bytes) => bytes && Buffer.from(bytes).toString())).toEqual([
    'used',
    undefined,
  ]);
  behindItsBack(folder.file, (db) => db.exec("UPDATE blobs SET bytes = x'00'"));
  expect(journal.getBlob(used)).toBeUndefined();
  expect(journal.heard.replaced).toEqual([expect.stringContaining('An attachment in the journal was damaged')]);
  expect(journal.info().blobs).toBe(0);
});

verifies('vault.journal/snapshot', 'does not include concurrent writes', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  push(journal, versions(2500));
  const snapshot = journal.snapshot();
  const first = journal.next(snapshot);
  push(journal, [version('a2499', 9999), version('zzz', 1), ...versions(3, 'b')]);
  const read = [...first];
  for (let page = journal.next(snapshot); page.length > 0; page = journal.next(snapshot)) read.push(...page);
  journal.end(snapshot);
  expect(first).toHaveLength(1000);
  expect(contents(read)).toEqual(contents(versions(2500).map((record) => ({ ...record, seq: 1 }))));
  expect(pullAll(journal)).toHaveLength(2504);
});

verifies('vault.journal/grouped', 'a push that fails leaves nothing behind, and the others are kept', () => {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  const bad = { ...version('bad', 1), payload: Symbol('no text') as never };
  const outcomes = journal.commit([
    () => journal.push(versions(2), 'a', 1),
    () => journal.push([version('good', 1), bad], 'b', 9),
    () => journal.push(versions(1, 'c'), 'c', 2),
  ]);
  expect(outcomes).toEqual([
    { value: { before: 0, last: 2, conflicts: 0 } },
    { error: expect.any(JournalFailed) },
    { value: { before: 2, last: 3, conflicts: 0 } },
  ]);
  expect(pullAll(journal).map(({ key }) => key)).toEqual(['a0', 'a1', 'c0']);
  expect(journal.info()).toMatchObject({ schema: 2, head: 3 });
  expect(journal.heard.changed).toEqual([3]);
});

it('reports the content on disk', () => {
  using folder = temporaryFolder();
  using journal = openCore({ ...folder, surroundings: { ...surroundings, now: () => 77 } });
  expect(journal.info()).toMatchObject({ head: 0, records: 0, tombstones: 0, blobs: 0, blobBytes: 0, changedAt: null, notices: [] });
  push(journal, [version('a', 1), version('b', 1, 'a', { deleted: true, payload: null })]);
  const { bytes, free, ...info } = journal.info();
  expect(info).toMatchObject({ path: folder.file, head: 2, records: 1, tombstones: 1, changedAt: 77 });
  expect(bytes).toBeGreaterThan(4096);
  expect(free).toBeGreaterThan(0);
});
