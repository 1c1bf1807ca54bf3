import fc from 'fast-check';
import { describe, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { WriteHistory, write } from './tests/write-history.ts';
import { awaitAgreement, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';

const MACHINES = 3;
const ROUNDS = process.env.PERCH_LONG ? 200 : 20;

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ at: fc.nat(MACHINES - 1), write }) },
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
          await using nats = await createNatsServer();
          await using stack = new AsyncDisposableStack();
          const machines = await Promise.all(Array.from({ length: MACHINES }, () => startMachine(createSettings(nats.url))));
          for (const machine of machines) stack.use(machine);
          const history = new WriteHistory();
          let isUp = true;
          for (const step of steps) {
            if ('pause' in step) await new Promise((resolve) => setTimeout(resolve, step.pause));
            else if ('restart' in step) await machines[step.restart]?.restart();
            else if ('server' in step) {
              await (isUp ? nats.stop() : nats.start());
              isUp = !isUp;
            } else await history.write(machines[step.at]!, `w${step.at}`, step.write);
          }
          if (!isUp) await nats.start();
          // Once nothing changes any more, every machine has the newest version of every record.
          history.check(await awaitAgreement(machines, (all) => history.isIn(all)));
        }),
        { numRuns: ROUNDS, endOnFailure: true },
      );
    },
    900_000,
  );
});
