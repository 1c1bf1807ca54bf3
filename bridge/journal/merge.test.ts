import fc from 'fast-check';
import { expect } from 'vitest';
import { mergeRecord } from '#shared/sync/conflict.ts';
import { SYNC_STORES, type SyncRecord, type SyncStore } from '#shared/sync/record.ts';
import { verifies } from '../../tests/requirements.ts';
import { readContents, openCore, pullAll, pushRecords, temporaryFolder, createVersion } from './fixture.ts';
import type { SqliteJournal } from './sqlite-journal.ts';

const ORIGINS = ['a', 'b', 'c'];
const STORES = Object.keys(SYNC_STORES).filter((store): store is SyncStore => store !== 'conflicts');

/** Versions of a few records by a few writers, each with its own clock. */
const history = fc
  .array(
    fc.record({
      store: fc.constantFrom(...STORES),
      key: fc.constantFrom('x', 'y', 'ключ/🐦'),
      origin: fc.constantFrom(...ORIGINS),
      fence: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      deleted: fc.boolean(),
      base: fc.option(fc.nat(40), { nil: undefined }),
    }),
    { maxLength: 40 },
  )
  .map((drawn) => {
    const made = drawn.map(({ store, key, origin, fence, deleted }, index): SyncRecord => ({
      ...createVersion(key, index, origin),
      store,
      ...(fence === undefined ? {} : { fence }),
      ...(deleted ? { deleted: true, payload: null } : {}),
    }));
    return made.map((record, index) => {
      const base = drawn[index]?.base;
      return base === undefined ? record : { ...record, base: made[base]?.clock ?? null };
    });
  });

/** In batches, some repeated. */
const pushes = history.chain((records) =>
  fc.record({
    records: fc.constant(records),
    order: fc.shuffledSubarray([...records, ...records], { minLength: records.length * 2 }),
    size: fc.integer({ min: 1, max: 7 }),
  }),
);

function pushInBatches(journal: SqliteJournal, records: readonly SyncRecord[], size: number): void {
  for (let at = 0; at < records.length; at += size) pushRecords(journal, records.slice(at, at + size), ORIGINS[at % 3]);
}

function withJournal<T>(work: (journal: SqliteJournal) => T): T {
  using folder = temporaryFolder();
  using journal = openCore(folder);
  return work(journal);
}

const isCopy = ({ store }: SyncRecord): boolean => store === 'conflicts';

verifies(
  ['vault.journal/merge', 'vault.merge/laws'],
  'whatever the order, the batches and the repetitions, the same records are kept',
  () => {
    fc.assert(
      fc.property(pushes, ({ records, order, size }) => {
        const [forward, shuffled] = [records, order].map((some) =>
          withJournal((journal) => {
            pushInBatches(journal, some, size);
            return readContents(pullAll(journal, { limit: 3 })).filter((record) => !isCopy(record));
          }),
        );
        expect(shuffled).toEqual(forward);
      }),
      { numRuns: 40 },
    );
  },
);

verifies('vault.journal/merge', 'the stored state, copies included, equals merging one after another', () => {
  fc.assert(
    fc.property(pushes, ({ order, size }) => {
      const model = new Map<string, SyncRecord>();
      const merge = (record: SyncRecord): void => {
        const id = `${record.store}/${record.key}`;
        const { stored, copy } = mergeRecord(model.get(id), record);
        if (stored) model.set(id, stored);
        if (copy) merge(copy);
      };
      order.forEach(merge);
      const contents = withJournal((journal) => {
        pushInBatches(journal, order, size);
        return readContents(pullAll(journal));
      });
      expect(contents).toEqual(readContents([...model.values()].map((record) => ({ ...record, seq: 1 }))));
    }),
    { numRuns: 40 },
  );
});

verifies('vault.journal/pull', 'a replica that reads on from wherever it was ends with what one has that reads everything', () => {
  fc.assert(
    fc.property(
      pushes,
      fc.integer({ min: 1, max: 9 }),
      fc.nat(40),
      fc.option(fc.constantFrom(...ORIGINS), { nil: undefined }),
      (drawn, limit, at, except) => {
        withJournal((journal) => {
          const half = Math.min(at, drawn.order.length);
          const mine = new Map<string, number>();
          const read = (after: number): number => {
            for (let from = after; ;) {
              const { records, next, head } = journal.pull(from, limit, except);
              expect(records.length).toBeLessThanOrEqual(limit);
              for (const { store, key, seq } of records) {
                expect(seq).toBeGreaterThan(from);
                expect(seq).toBeLessThanOrEqual(next);
                mine.set(`${store}/${key}`, seq);
              }
              if (next >= head) return next;
              expect(next).toBeGreaterThan(from);
              from = next;
            }
          };
          pushInBatches(journal, drawn.order.slice(0, half), drawn.size);
          const position = read(0);
          pushInBatches(journal, drawn.order.slice(half), drawn.size);
          read(position);
          for (const { store, key, seq } of pullAll(journal, { except })) expect(mine.get(`${store}/${key}`)).toBe(seq);
        });
      },
    ),
    { numRuns: 40 },
  );
});
