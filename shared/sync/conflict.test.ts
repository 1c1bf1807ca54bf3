import { expect } from 'vitest';
import { createVersion } from '../../bridge/journal/fixture.ts';
import { verifies } from '../../tests/requirements.ts';
import { getAncestors, mergeRecord, rebaseRecord } from './conflict.ts';
import type { SyncRecord } from './record.ts';

const createRecord = (wall: number, origin: string, base?: string): SyncRecord =>
  createVersion('x', wall, origin, { store: 'config', base: base ?? null });
const rebaseOn = (existing: SyncRecord, record: SyncRecord): SyncRecord =>
  rebaseRecord(record, { clock: existing.clock, included: getAncestors(existing) });
const createsCopy = (current: SyncRecord, incoming: SyncRecord): boolean => mergeRecord(current, incoming).copy !== null;

verifies('vault.merge/copies', 'a version does not conflict with its ancestors, even those the replica has not seen', () => {
  const first = createRecord(1, 'a');
  const apart = createRecord(2, 'z', first.clock);
  const chain = [first];
  for (const [at, origin] of ['b', 'c', 'b', 'c', 'd'].entries()) {
    const before = chain[at] ?? first;
    chain.push(rebaseOn(before, createRecord(at + 3, origin, before.clock)));
  }
  const last = chain.at(-1) ?? first;
  for (const earlier of chain.slice(0, -1)) {
    expect(createsCopy(earlier, last), earlier.clock).toBe(false);
    expect(createsCopy(last, earlier), earlier.clock).toBe(false);
  }
  expect(createsCopy(apart, last)).toBe(true);
  expect(createsCopy(last, apart)).toBe(true);
  // Neither the merged version nor the versions before it are conflicts any longer.
  const merged = rebaseOn(apart, last);
  expect([apart, ...chain].map((earlier) => createsCopy(earlier, rebaseOn(merged, createRecord(9, 'e'))))).not.toContain(true);
});

verifies('vault.merge/copies', 'nine other writers are remembered; a version of a tenth is kept, one copy too many', () => {
  let last = createRecord(1, 'w0');
  const chain = [last];
  for (let at = 1; at <= 10; at++) chain.push((last = rebaseOn(last, createRecord(at + 1, `w${at}`, last.clock))));
  expect(chain.slice(0, -1).map((earlier) => createsCopy(earlier, last))).toEqual([true, ...Array<boolean>(9).fill(false)]);
});
