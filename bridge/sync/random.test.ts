import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SyncRecord } from '#shared/sync/record.ts';
import { verifies } from '../../tests/requirements.ts';
import { clockOf, version } from '../journal/fixture.ts';
import { agreed, machine, settings } from './tests/machine.ts';
import { hasNats, natsServer } from './tests/nats-server.ts';

const MACHINES = 3;
const ROUNDS = process.env.PERCH_LONG ? 200 : 20;

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ at: fc.nat(MACHINES - 1), key: fc.nat(5), kind: fc.constantFrom('write', 'delete', 'session') }) },
  { weight: 1, arbitrary: fc.record({ restart: fc.nat(MACHINES - 1) }) },
  { weight: 1, arbitrary: fc.constant({ server: true as const }) },
  { weight: 3, arbitrary: fc.record({ pause: fc.integer({ min: 1, max: 60 }) }) },
);

if (!hasNats) test.skip('vault.cluster/converges: nats-server is not installed here', () => {});
describe.runIf(hasNats)('random writers on three machines', () => {
  verifies(
    'vault.cluster/converges',
    'whatever is written, with machines and the server stopped in between: all are equal, and nothing acknowledged is lost',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 50 }), async (steps) => {
          await using nats = await natsServer();
          await using stack = new AsyncDisposableStack();
          const machines = await Promise.all(Array.from({ length: MACHINES }, () => machine(settings(nats.url))));
          for (const one of machines) stack.use(one);
          const origins = machines.map((_, index) => `w${index}`);
          /** The newest version of each record that was acknowledged. */
          const newest = new Map<string, string>();
          const written = new Set<string>();
          let wall = 1000;
          let isUp = true;
          for (const what of steps) {
            if ('pause' in what) await new Promise((resolve) => setTimeout(resolve, what.pause));
            else if ('restart' in what) await machines[what.restart]?.restart();
            else if ('server' in what) {
              await (isUp ? nats.stop() : nats.start());
              isUp = !isUp;
            } else {
              const one = machines[what.at];
              const origin = origins[what.at] ?? '';
              const store = what.kind === 'session' ? 'sessions' : 'messages';
              const key = `${store[0]}${what.key}`;
              const current = (await one?.contents())?.find((record) => record.store === store && record.key === key);
              const base = store === 'sessions' ? { base: current?.clock ?? null } : {};
              const gone: Partial<SyncRecord> = what.kind === 'delete' ? { payload: null, deleted: true } : {};
              await one?.journal.push([version(key, ++wall, origin, { store, ...base, ...gone })], origin);
              newest.set(`${store}/${key}`, clockOf(wall, origin));
              if (store === 'sessions') written.add(clockOf(wall, origin));
            }
          }
          if (!isUp) await nats.start();
          // Everything is equal once nothing changes any more: each record's newest version is on all machines.
          const records = await agreed(machines, (all) => {
            const found = new Map(all.map(({ store, key, clock }) => [`${store}/${key}`, clock]));
            return [...newest].every(([id, clock]) => found.get(id) === clock);
          });
          for (const { store, clock } of records) if (store === 'conflicts') expect(written.has(clock)).toBe(true);
        }),
        { numRuns: ROUNDS, endOnFailure: true },
      );
    },
    900_000,
  );
});
