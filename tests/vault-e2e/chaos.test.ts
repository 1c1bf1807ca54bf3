import { verifies } from '../requirements.ts';
import { SEED } from '../support/seed.ts';
import { ChaosRun } from './chaos-run.ts';
import { SeededRandom } from './seeded-random.ts';

const ROUNDS = Number(process.env.PERCH_ROUNDS) || (process.env.PERCH_LONG ? 200 : 8);

verifies(
  ['vault.sync/converges', 'vault.runs/recovers'],
  `two browsers, the managed Chromium and a program write; kills, pauses and cleared data in between`,
  async () => {
    await using chaos = await ChaosRun.start(new SeededRandom(SEED));
    let round = 0;
    try {
      for (round = 1; round <= ROUNDS; round++) {
        chaos.log.push(`round ${round}`);
        await chaos.runRound();
        await chaos.heal();
      }
      await chaos.end();
    } catch (error) {
      throw new Error(`PERCH_SEED=${SEED}, round ${round} of ${ROUNDS}: ${String(error)}\n${await chaos.toReport()}`, { cause: error });
    } finally {
      if (process.env.PERCH_DEBUG) console.log(chaos.log.join('\n'), chaos.ledger.acknowledged, chaos.ledger.failed);
    }
  },
  30_000 * ROUNDS,
);
