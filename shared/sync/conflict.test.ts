import { expect } from 'vitest';
import { version } from '../../bridge/journal/fixture.ts';
import { verifies } from '../../tests/requirements.ts';
import { included, mergeInto, onTop } from './conflict.ts';
import type { SyncRecord } from './record.ts';

const written = (wall: number, origin: string, base?: string): SyncRecord =>
  version('x', wall, origin, { store: 'config', base: base ?? null });
const over = (there: SyncRecord, record: SyncRecord): SyncRecord => onTop(record, { clock: there.clock, included: included(there) });
const keepsCopy = (current: SyncRecord, incoming: SyncRecord): boolean => mergeInto(current, incoming).copy !== null;

verifies('vault.merge/copies', 'a version does not conflict with its ancestors, even those the replica has not seen', () => {
  const first = written(1, 'a');
  const apart = written(2, 'z', first.clock);
  const chain = [first];
  for (const [at, origin] of ['b', 'c', 'b', 'c', 'd'].entries()) {
    const before = chain[at] ?? first;
    chain.push(over(before, written(at + 3, origin, before.clock)));
  }
  const last = chain.at(-1) ?? first;
  for (const seen of chain.slice(0, -1)) {
    expect(keepsCopy(seen, last), seen.clock).toBe(false);
    expect(keepsCopy(last, seen), seen.clock).toBe(false);
  }
  expect(keepsCopy(apart, last)).toBe(true);
  expect(keepsCopy(last, apart)).toBe(true);
  // Neither the merged version nor the versions before it are conflicts any longer.
  const merged = over(apart, last);
  expect([apart, ...chain].map((seen) => keepsCopy(seen, over(merged, written(9, 'e'))))).not.toContain(true);
});

verifies('vault.merge/copies', 'nine other writers are remembered; a version of a tenth is kept, one copy too many', () => {
  let last = written(1, 'w0');
  const chain = [last];
  for (let at = 1; at <= 10; at++) chain.push((last = over(last, written(at + 1, `w${at}`, last.clock))));
  expect(chain.slice(0, -1).map((seen) => keepsCopy(seen, last))).toEqual([true, ...Array<boolean>(9).fill(false)]);
});
