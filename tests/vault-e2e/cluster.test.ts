import { describe, expect, test } from 'vitest';
import { hasNats, createNatsServer } from '../../bridge/sync/tests/nats-server.ts';
import { startThreeNodes } from '../../bridge/sync/tests/three-nodes.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startCluster, GUIDE_MODEL, getUserMessages, sendAndWait, findActiveGateway } from './cluster-gateways.ts';

const MINUTES = 5 * 60_000;
/** Due one after the other, before and after the host is killed. */
const JOB_COUNT = 6;

/** The raw events of a streamed completion. */
async function streamCompletion(perch: Perch): Promise<string> {
  const body = JSON.stringify({ model: GUIDE_MODEL, stream: true, messages: [{ role: 'user', content: 'Hello' }] });
  const response = await perch.fetch('/v1/chat/completions', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.text();
}

/** Tries again, at one gateway after the other, as a client of several does. */
async function retryOnGateways(gateways: () => readonly Perch[], work: (perch: Perch) => Promise<void>): Promise<void> {
  let at = 0;
  let last: unknown;
  await waitFor(
    async () => {
      const all = gateways();
      const perch = all[at++ % all.length];
      try {
        if (perch) await work(perch);
        return true;
      } catch (error) {
        last = error;
        return false;
      }
    },
    'an answer',
    60_000,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${String(last)}`);
  });
}

if (!hasNats) test.skip('cluster: nats-server is not installed here', () => {});
describe.runIf(hasNats)('gateways that share a vault, as commands with managed Chromiums', () => {
  verifies(
    ['cluster.routes/anywhere', 'cluster.serving/bridge-lost', 'cluster.serving/acknowledged'],
    'any of three answers; killed is the one that serves: another one does, nothing that was acknowledged is lost, no job runs twice',
    async () => {
      await using nats = await startThreeNodes();
      await using gateways = await startCluster(3, nats.urls);
      const first = await findActiveGateway(gateways);
      const others = gateways.filter((perch) => perch !== first);
      const [b, c] = others;
      if (!b || !c) throw new Error('there are three');
      const sentTexts: string[] = [];
      for (const [at, perch] of [first, b, c].entries()) {
        await sendAndWait(perch, 'all', `before ${at}`);
        sentTexts.push(`before ${at}`);
        expect(await streamCompletion(perch)).toMatch(/"delta":\{"content"[^]*\[DONE\]/);
      }
      expect(await getUserMessages(b, 'all')).toEqual(sentTexts);
      const planning = await b.client();
      for (let at = 1; at <= JOB_COUNT; at++)
        await planning.call('cron.add', {
          schedule: { kind: 'at', at: Date.now() + 1500 * at },
          message: `tick ${at}`,
          name: `ticks ${at}`,
        });
      planning.close();

      const killed = performance.now();
      void first.kill('SIGKILL');
      await retryOnGateways(
        () => [b],
        (perch) => sendAndWait(perch, 'all', 'after'),
      );
      const ms = performance.now() - killed;
      process.stdout.write(`killed; a message is answered again after ${Math.round(ms)} ms\n`);
      sentTexts.push('after');
      expect(ms).toBeLessThan(30_000);
      await findActiveGateway([b, c]);
      expect(await getUserMessages(c, 'all')).toEqual(sentTexts);
      const client = await c.client();
      const due = async () => (await client.call('cron.history', {})).records;
      await waitFor(
        async () => (await due()).filter(({ status }) => status !== 'running').length === JOB_COUNT,
        'the end of all jobs',
        60_000,
      );
      const runs = await due();
      client.close();
      expect(new Set(runs.map(({ jobId }) => jobId)).size).toBe(JOB_COUNT);
      for (const { sessionId } of runs) if (sessionId !== undefined) expect(await getUserMessages(c, sessionId)).toHaveLength(1);
    },
    MINUTES,
  );

  verifies(
    ['cluster.serving/leaves', 'cluster.serving/acknowledged'],
    'all are restarted one after another while a client sends messages: every acknowledged message exists, once',
    async () => {
      await using nats = await createNatsServer();
      await using gateways = await startCluster(3, [nats.url]);
      await findActiveGateway(gateways);
      let resting: Perch | undefined;
      const sentTexts: string[] = [];
      let isOver = false;
      const saying = (async () => {
        for (let at = 0; !isOver; at++) {
          await retryOnGateways(
            () => gateways.filter((perch) => perch !== resting),
            (perch) => sendAndWait(perch, 'rolling', `message ${at}`),
          );
          sentTexts.push(`message ${at}`);
        }
      })();
      saying.catch(() => {});
      for (const perch of gateways) {
        const before = sentTexts.length;
        resting = perch;
        await perch.restart();
        resting = undefined;
        await waitFor(() => sentTexts.length > before + 1, 'more that is said', 60_000);
      }
      isOver = true;
      await saying;
      await findActiveGateway(gateways);
      for (const perch of gateways) expect((await getUserMessages(perch, 'rolling')).toSorted()).toEqual(sentTexts.toSorted());
    },
    MINUTES,
  );
});
