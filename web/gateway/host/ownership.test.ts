import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { type Ownership, acquireOwnership } from './ownership.ts';

let count = 0;
let name = '';
beforeEach(() => {
  name = `lock-${process.pid}-${++count}`;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => vi.useRealTimers());

interface LockContender {
  owns: boolean;
  lost: boolean;
  waits: boolean;
  ownership: Promise<Ownership>;
}

function contend(build: string, ondrain: () => Promise<void> = async () => {}): LockContender {
  const self: LockContender = {
    owns: false,
    lost: false,
    waits: false,
    ownership: acquireOwnership({ name, build, ondrain, onwaiting: () => (self.waits = true), onlost: () => (self.lost = true) }),
  };
  void self.ownership.then(() => (self.owns = true));
  return self;
}

/** Locks and channels need real turns of the event loop, even with fake timers. */
async function waitFor(condition: () => boolean = () => false, turns = 200): Promise<void> {
  for (let i = 0; i < turns && !condition(); i++) await turn();
}

test('a lock that is free is taken at once', async () => {
  const one = contend('a');
  await waitFor(() => one.owns);
  expect(one).toMatchObject({ owns: true, lost: false });
  (await one.ownership).release();
});

verifies(['host/new-build', 'host/one-writer'], 'an owner of another build drains, and only then is the lock handed over', async () => {
  const drained = Promise.withResolvers<void>();
  const old = contend('old', () => drained.promise);
  await waitFor(() => old.owns);
  const next = contend('next');
  await waitFor();
  vi.advanceTimersByTime(29_000);
  await waitFor();
  expect(next.owns).toBe(false);
  drained.resolve();
  await waitFor(() => next.owns);
  expect(next.owns).toBe(true);
  expect(old.lost).toBe(false);
  (await next.ownership).release();
});

verifies(['host/new-build', 'host/one-writer'], 'an owner that does not answer in 2 s loses the lock', async () => {
  let stolen = false;
  const held = Promise.withResolvers<void>();
  void navigator.locks.request(name, () => (held.resolve(), new Promise(() => {}))).catch(() => (stolen = true));
  await held.promise;
  const next = contend('next');
  await waitFor();
  vi.advanceTimersByTime(1_900);
  await waitFor();
  expect(next.owns).toBe(false);
  vi.advanceTimersByTime(200);
  await waitFor(() => next.owns);
  expect({ owns: next.owns, stolen }).toEqual({ owns: true, stolen: true });
  (await next.ownership).release();
});

verifies(['host/new-build', 'host/one-writer'], 'an owner that does not finish in 30 s loses the lock, and is told', async () => {
  const old = contend('old', () => new Promise(() => {}));
  await waitFor(() => old.owns);
  const next = contend('next');
  await waitFor();
  vi.advanceTimersByTime(30_100);
  await waitFor(() => next.owns && old.lost);
  expect({ owns: next.owns, lost: old.lost }).toEqual({ owns: true, lost: true });
  (await next.ownership).release();
});

verifies('host/dedicated-worker', 'an owner of the same build is waited for, however long, and never asked to drain', async () => {
  const ondrain = vi.fn(async () => {});
  const one = contend('same', ondrain);
  await waitFor(() => one.owns);
  const two = contend('same');
  await waitFor(() => two.waits);
  vi.advanceTimersByTime(120_000);
  await waitFor();
  expect({ waits: two.waits, owns: two.owns }).toEqual({ waits: true, owns: false });
  expect(ondrain).not.toHaveBeenCalled();
  (await one.ownership).release();
  await waitFor(() => two.owns);
  expect(two.owns).toBe(true);
  (await two.ownership).release();
});
