import { verifies } from '../../tests/requirements.ts';
import { expect } from 'vitest';
import type { SyncStore } from '#shared/sync/record.ts';
import { defaultEnvironment } from './journal-file.ts';
import { runTask, openCore, pushRecords, temporaryFolder, createVersion } from './fixture.ts';

function leases() {
  const folder = temporaryFolder();
  const time = { now: 1_000_000 };
  const open = () => openCore({ ...folder, surroundings: { ...defaultEnvironment, now: () => time.now } });
  let journal = open();
  const takeLease = (
    holder: string,
    { name = 'run', present = [], presumed }: { name?: string; present?: string[] | null; presumed?: string } = {},
  ) => runTask(journal, () => journal.takeLease({ name, holder, presumed, ttlMs: 1000, present }));
  return {
    time,
    take: takeLease,
    release: (holder: string, fence: number) => runTask(journal, () => journal.releaseLease('run', holder, fence)),
    pushFence: (fence: number, store: SyncStore = 'runs') => pushRecords(journal, [createVersion(`run${fence}`, 1, 'a', { store, fence })]),
    prune: () => journal.prune(),
    reopen() {
      journal.close();
      journal = open();
    },
    [Symbol.dispose]() {
      journal.close();
      folder[Symbol.dispose]();
    },
  };
}

verifies('vault.journal/leases', 'another one gets it when its time is over and its holder is gone', () => {
  using test = leases();
  expect(test.take('a')).toBe(1);
  expect(test.take('b')).toBeNull();
  test.time.now += 1000;
  expect(test.take('b', { present: ['a'] })).toBeNull();
  expect(test.take('b', { present: null })).toBeNull();
  expect(test.take('b', { present: ['b', 'c'] })).toBe(2);
  expect(test.take('a')).toBeNull();
});

verifies('vault.journal/leases', 'renewing a lease keeps its number; a released one cannot be renewed', () => {
  using test = leases();
  expect(test.take('a')).toBe(1);
  test.time.now += 999;
  expect(test.take('a')).toBe(1);
  test.time.now += 999;
  expect(test.take('b')).toBeNull();
  test.time.now += 1000;
  expect(test.take('a', { present: null })).toBe(1);
  test.release('a', 7);
  test.release('b', 1);
  expect(test.take('b')).toBeNull();
  test.release('a', 1);
  expect(test.take('a', { present: null })).toBe(2);
});

verifies('vault.journal/leases', 'the presumed holder has it unasked while it is there, until somebody took it', () => {
  using test = leases();
  expect(test.take('b', { presumed: 'a', present: ['a', 'b'] })).toBeNull();
  expect(test.take('b', { presumed: 'a', present: null })).toBeNull();
  expect(test.take('b', { presumed: 'a', present: ['b'] })).toBe(2);
  expect(test.take('a', { presumed: 'a', present: ['a'] })).toBeNull();
  test.release('b', 2);
  expect(test.take('c', { presumed: 'a', present: ['a', 'c'] })).toBe(3);
  expect(test.take('d', { name: 'other', presumed: 'd', present: ['d'] })).toBe(2);
});

verifies('vault.journal/leases', 'numbers grow on across openings, and above those of a journal that was lost', () => {
  using test = leases();
  expect(test.take('a')).toBe(1);
  test.release('a', 1);
  test.reopen();
  expect(test.take('b')).toBe(2);
  test.pushFence(2);
  expect(test.take('b', { name: 'fresh' })).toBe(1);
  test.pushFence(6);
  test.reopen();
  expect(test.take('b', { name: 'another', presumed: 'a' })).toBe(7);
});

verifies(['vault.journal/leases', 'cron/one-executor'], 'a device that was revoked is no sign of leases that were lost', () => {
  using test = leases();
  test.pushFence(2, 'devices');
  expect(test.take('a')).toBe(1);
});

verifies(['vault.journal/leases', 'cron/one-executor'], 'a tick that nobody had has the number 1, though a journal was lost once', () => {
  using test = leases();
  test.pushFence(6);
  expect(test.take('a', { name: 'cron:job@1' })).toBe(1);
  test.time.now += 1000;
  expect(test.take('b', { name: 'cron:job@1', present: ['b'] })).toBe(2);
  expect(test.take('b', { name: 'run:cron:job@1', presumed: 'a', present: ['b'] })).toBe(7);
});

verifies(
  ['vault.journal/leases', 'cron/one-executor'],
  'the holder of a job’s tick is forgotten after a day, the holder of a run is not',
  () => {
    using test = leases();
    const names = ['cron:job@1', 'run:cron:job@1', 'run:1'];
    for (const name of names) expect(test.take('a', { name })).toBe(1);
    test.time.now += 1000;
    for (const name of names) expect(test.take('b', { name })).toBe(2);
    test.time.now += 1000 + 24 * 3_600_000;
    test.prune();
    expect(names.map((name) => test.take('c', { name }))).toEqual([3, 3, 3]);
    test.time.now += 1001 + 24 * 3_600_000;
    test.prune();
    expect(names.map((name) => test.take('d', { name }))).toEqual([1, 1, 4]);
  },
);
