import { describe, expect, test } from 'vitest';
import { hasNats } from '../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { SEED } from '../support/seed.ts';
import { ClusterChaosRun } from './cluster-chaos-run.ts';
import { SeededRandom } from './seeded-random.ts';

/** Of each of the two. */
const ROUNDS = Number(process.env.PERCH_ROUNDS) || (process.env.PERCH_LONG ? 100 : 4);

if (!hasNats) test.skip('vault.cluster/converges: nats-server is not installed here', () => {});
describe.runIf(hasNats)('three gateways, three NATS nodes and three writers', () => {
  for (const [how, isCluster] of [
    ['each gateway with a host of its own', false],
    ['one of them with the host that serves', true],
  ] as const)
    verifies(
      ['vault.cluster/converges', 'vault.cluster/leases', 'vault.runs/recovers', 'cluster.serving/acknowledged'],
      `workers, bridges and nodes killed, paused and parted, ${how}: all are equal, nothing acknowledged is lost, and no job ran twice`,
      async () => {
        await using chaos = await ClusterChaosRun.start({ random: new SeededRandom(SEED), isCluster });
        let round = 0;
        try {
          for (round = 1; round <= ROUNDS; round++) {
            chaos.log.push(`round ${round}`);
            await chaos.runRound();
            await chaos.heal();
          }
          // Somebody looks for what a killed host has left after a minute and more.
          if (process.env.PERCH_LONG || process.env.PERCH_ROUNDS) await chaos.end();
        } catch (error) {
          throw new Error(`PERCH_SEED=${SEED}, round ${round} of ${ROUNDS}: ${String(error)}\n${await chaos.toReport()}`, { cause: error });
        } finally {
          if (process.env.PERCH_DEBUG)
            console.log(chaos.log.join('\n'), chaos.ledger.acknowledged, chaos.ledger.failed, chaos.ticks.countRequests.size);
        }
        // Jobs did run, and writers were told so.
        await waitFor(() => chaos.ticks.countRequests.size > 0, 'a job that runs', 120_000);
        expect(chaos.ledger.acknowledged).toBeGreaterThan(ROUNDS);
      },
      300_000 + 150_000 * ROUNDS,
    );
});
