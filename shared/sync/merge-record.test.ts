import fc from 'fast-check';
import { expect } from 'vitest';
import { mergeRecord } from './conflict.ts';
import { type SyncRecord, SYNC_STORES, type SyncStore, wins } from './record.ts';
import { verifies } from '../../tests/requirements.ts';

const clock = fc
  .tuple(fc.nat({ max: 3 }), fc.nat({ max: 1 }), fc.constantFrom('a', 'b', 'c'))
  .map(([wall, count, origin]) => `${String(wall).padStart(15, '0')}-000${count}-${origin}`);
const version = fc.record({ clock, fence: fc.nat({ max: 2 }), gone: fc.boolean() });

/** A version's content is derived from its clock reading, since a reading is never issued twice. */
const createRecord = (
  store: SyncStore,
  { clock, fence, gone: isDeleted }: { clock: string; fence: number; gone: boolean },
): SyncRecord => ({
  store,
  key: 'k',
  clock,
  seal: 'none',
  ...(store === 'runs' ? { fence } : {}),
  ...(isDeleted ? { deleted: true, payload: null } : { payload: JSON.stringify({ of: clock }) }),
});

/** The record of a replica after it received these versions in this order. */
function mergeAll(records: readonly SyncRecord[]): SyncRecord | undefined {
  let current: SyncRecord | undefined;
  for (const record of records) current = mergeRecord(current, record).stored ?? current;
  return current;
}

verifies('vault.merge/laws', 'whatever the order, the grouping and the repetitions, the same version stands', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(SYNC_STORES) as SyncStore[])),
      fc.uniqueArray(version, { selector: (v) => v.clock, minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      (store, versions, dice) => {
        const records = versions.map((v) => createRecord(store, v));
        const roll = (): number => dice.next().value ?? 0;
        const shuffled = [...records, ...records].map((record) => ({ record, at: roll() })).sort((a, b) => a.at - b.at);
        const straight = mergeAll(records);
        expect(mergeAll(shuffled.map(({ record }) => record))).toEqual(straight);
        // Two replicas that heard a part each, and then of each other.
        const cut = roll() % (records.length + 1);
        const [left, right] = [mergeAll(records.slice(0, cut)), mergeAll(records.slice(cut))];
        const both = [left, right].filter((record) => record !== undefined);
        expect(mergeAll(both)).toEqual(straight);
        expect(mergeAll(both.toReversed())).toEqual(straight);
        expect(records.every((record) => record === straight || wins(straight as SyncRecord, record))).toBe(true);
      },
    ),
    { numRuns: 2_000 },
  );
});

const at = (wall: number, origin: string): string => `${String(wall).padStart(15, '0')}-0000-${origin}`;
const text = (clock: string, base: string | null, payload: string | null = JSON.stringify(clock)): SyncRecord => ({
  store: 'memories',
  key: 'm',
  clock,
  base,
  seal: 'none',
  payload,
  ...(payload === null ? { deleted: true as const } : {}),
});

verifies(
  'vault.merge/copies',
  'a copy is made of the loser, the same one whoever comes first, and only where neither had seen the other',
  () => {
    const first = text(at(1, 'a'), null);
    const ours = text(at(2, 'a'), first.clock);
    const theirs = text(at(3, 'b'), first.clock);
    expect(mergeRecord(first, ours)).toEqual({ stored: ours, copy: null });
    const { stored, copy } = mergeRecord(ours, theirs);
    expect(stored).toEqual(theirs);
    expect(copy).toMatchObject({ store: 'conflicts', key: `memories/m/${ours.clock}`, clock: ours.clock });
    expect(JSON.parse(copy?.payload ?? '')).toMatchObject({ store: 'memories', key: 'm', payload: ours.payload });
    expect(mergeRecord(theirs, ours)).toEqual({ stored: null, copy });
    // One writer's versions follow one another, also where only the last of them was sent.
    expect(mergeRecord(ours, text(at(9, 'a'), first.clock)).copy).toBeNull();
    // The same text is no conflict, a deletion leaves nothing to keep, and a text that was deleted elsewhere is kept.
    expect(mergeRecord(ours, text(at(4, 'b'), null, ours.payload)).copy).toBeNull();
    const deletedVersion = text(at(5, 'b'), first.clock, null);
    expect(mergeRecord(deletedVersion, text(at(6, 'c'), first.clock)).copy).toBeNull();
    expect(mergeRecord(ours, deletedVersion).copy).toMatchObject({ key: `memories/m/${ours.clock}` });
  },
);

verifies('vault.merge/copies', 'two hosts that end a branch at the same message, at their own times, are no conflict', () => {
  const head = (clock: string, headId: string, updatedAt: number): SyncRecord => ({
    ...{ store: 'heads', key: 'main/main', clock, base: at(1, 'a'), seal: 'none' as const },
    payload: JSON.stringify({ headId, updatedAt }),
  });
  const ours = head(at(2, 'a'), 'reply', 2);
  expect(mergeRecord(ours, head(at(3, 'b'), 'reply', 3)).copy).toBeNull();
  expect(mergeRecord(ours, head(at(3, 'b'), 'other', 3)).copy).not.toBeNull();
});
