import { describe, expect } from 'vitest';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { JobRunRecord } from '../../storage/vault-interface.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createCronHosts, advanceUntil, HOUR, MINUTE, createCronApi } from '../../../../tests/support/cron-hosts.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { createScript, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';

const START = new FakeClock().now();
const halfScript = createScript(['half', { wait: new Promise(() => {}) }]);
const createLostRun = (jobId: string, tick: number, change: Partial<JobRunRecord> = {}): JobRunRecord => ({
  id: `${jobId}@${tick}`,
  jobId,
  scheduledAt: tick,
  startedAt: tick,
  status: 'running',
  agentId: 'main',
  sessionId: `cron-${jobId}-${tick}`,
  executor: 'gone',
  replica: 'other',
  ...change,
});

describe('a dead host', () => {
  verifies('cron/crash', 'between the tick and the run: the run comes on return', async () => {
    const hosts = createCronHosts();
    const tick = START + MINUTE;
    {
      await using gw = await hosts.open();
      const jobId = await gw.add({ schedule: { kind: 'at', at: tick } });
      await gw.vault.collection('jobRuns').put(createLostRun(jobId, tick));
    }
    hosts.clock.advance(MINUTE + 1000);
    await using gw = await hosts.open();
    expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'completed', scheduledAt: tick }]);
    expect(gw.calls).toHaveLength(1);
  });

  verifies(['cron/crash', 'cron/missed'], 'between the tick and the run, long ago: it was missed', async () => {
    const hosts = createCronHosts();
    {
      await using gw = await hosts.open();
      const jobId = await gw.add({ schedule: { kind: 'at', at: START + MINUTE } });
      await gw.vault.collection('jobRuns').put(createLostRun(jobId, START + MINUTE));
    }
    hosts.clock.advance(HOUR);
    await using gw = await hosts.open();
    expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'skipped', scheduledAt: START + MINUTE }]);
    expect(gw.calls).toHaveLength(0);
  });

  verifies('cron/crash', 'in the middle of a run: it is ended, and not begun again', async () => {
    const hosts = createCronHosts();
    {
      await using gw = await hosts.open(halfScript);
      await gw.add({ schedule: { kind: 'at', at: START + MINUTE } });
      await advanceUntil(gw.clock, () => gw.calls.length === 1);
    }
    await using gw = await hosts.open();
    expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'failed', error: 'Interrupted: the gateway that ran it was closed' }]);
    await gw.advance(2 * MINUTE);
    expect(gw.calls).toHaveLength(0);
    expect(await gw.history()).toHaveLength(1);
  });

  verifies('cron/crash', 'with the answer stored, and its record not: it was completed', async () => {
    const hosts = createCronHosts();
    {
      await using gw = await hosts.open();
      await gw.add({ schedule: { kind: 'at', at: START + MINUTE } });
      const [run] = await gw.waitForRuns(1);
      const jobRuns = gw.vault.collection('jobRuns');
      await jobRuns.update(run?.id ?? '', (before) => before && { ...before, status: 'running', executor: 'gone' });
    }
    await using gw = await hosts.open();
    expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'completed' }]);
    expect(gw.calls).toHaveLength(0);
  });

  verifies('cron/crash', 'with a run by hand, or one of a job that was removed: it is ended', async () => {
    const hosts = createCronHosts();
    let jobId: string;
    {
      await using gw = await hosts.open();
      jobId = await gw.add({ schedule: { kind: 'every', everyMs: HOUR } });
      const jobRuns = gw.vault.collection('jobRuns');
      await jobRuns.put(createLostRun(jobId, START + 7, { manual: true }));
      await jobRuns.put(createLostRun('removed', START + 5));
      await jobRuns.put({ ...createLostRun('removed', START - 800 * HOUR), status: 'completed' });
    }
    await using gw = await hosts.open();
    await waitFor(async () => (await gw.history()).length === 1);
    expect(await gw.history()).toMatchObject([{ jobId, status: 'failed', error: 'The gateway was closed before it started' }]);
    expect(gw.faults).toEqual([]);
  });
});

/** A gateway with a job each minute, and a given sync state. */
async function createStandbyGateway(state: Partial<SyncState> = {}) {
  const clock = new FakeClock();
  const sync = new FakeSync(state);
  const gw = await createTestGateway({ clock, sync });
  const api = await createCronApi(gw, clock);
  const jobId = await api.add();
  const lease = (tick: number) => `cron:${jobId}@${START + tick * MINUTE}`;
  return { ...gw, ...api, clock, sync, jobId, lease };
}

describe('among hosts', () => {
  verifies('cron/one-executor', 'a tick that another host has the lease of is left to it; the next is taken', async () => {
    await using gw = await createStandbyGateway();
    gw.sync.leases.set(gw.lease(1), null);
    await gw.advance(MINUTE + 30_000);
    expect(gw.calls).toHaveLength(0);
    expect(await gw.history()).toEqual([]);
    // Its record comes in.
    await gw.vault.collection('jobRuns').put({ ...createLostRun(gw.jobId, START + MINUTE), status: 'completed' });
    await advanceUntil(gw.clock, () => gw.calls.length === 1);
    expect((await gw.history()).map(({ scheduledAt }) => scheduledAt)).toEqual([START + MINUTE, START + 2 * MINUTE]);
    expect(gw.sync.leaseCalls).toContain(gw.lease(2));
  });

  verifies('cron/one-executor', 'an unclaimed tick is taken once the lease is free; one that stays leased counts as missed', async () => {
    await using gw = await createStandbyGateway();
    gw.sync.leases.set(gw.lease(1), null);
    await gw.advance(MINUTE + 20_000);
    gw.sync.leases.delete(gw.lease(1));
    expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'completed', scheduledAt: START + MINUTE }]);
    for (const tick of [2, 3, 4]) gw.sync.leases.set(gw.lease(tick), null);
    await advanceUntil(gw.clock, () => gw.calls.length === 2);
    expect((await gw.history()).slice(1)).toMatchObject([{ status: 'skipped', ticks: 3 }, { scheduledAt: START + 5 * MINUTE }]);
  });

  verifies('cron/one-executor', 'waits for the records of the previous lease holder', async () => {
    await using gw = await createStandbyGateway();
    gw.sync.leases.set(gw.lease(1), 2);
    gw.sync.leases.set(gw.lease(2), 2);
    await advanceUntil(gw.clock, () => gw.sync.leaseCalls.includes(gw.lease(1)));
    expect(gw.calls).toHaveLength(0);
    expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'completed' }]);
    await advanceUntil(gw.clock, () => gw.sync.leaseCalls.includes(gw.lease(2)));
    await gw.vault.collection('jobRuns').put({ ...createLostRun(gw.jobId, START + 2 * MINUTE), status: 'completed' });
    await gw.advance(30_000);
    expect(gw.calls).toHaveLength(1);
  });

  verifies(
    'cron/one-executor',
    'does not start a job whose claim cannot reach the other machines in time; it runs once it can',
    async () => {
      await using gw = await createStandbyGateway();
      gw.sync.isSettled = false;
      await gw.advance(MINUTE + 20_000);
      expect([gw.calls.length, await gw.history()]).toEqual([0, []]);
      gw.sync.isSettled = true;
      expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'completed', scheduledAt: START + MINUTE }]);
      expect(gw.calls).toHaveLength(1);
    },
  );

  verifies(
    ['cron/one-executor', 'cron/crash'],
    'does not repeat a job that another machine may still be running; takes over that of another host on this machine',
    async () => {
      await using gw = await createStandbyGateway();
      gw.sync.fence = 2;
      gw.sync.sharedState = true;
      const jobRuns = gw.vault.collection('jobRuns');
      await jobRuns.put(createLostRun(gw.jobId, START + MINUTE));
      expect(await gw.waitForRuns(1)).toMatchObject([{ status: 'failed', error: 'The gateway was closed before it started' }]);
      expect(gw.calls).toHaveLength(0);
      gw.sync.sharedState = undefined;
      await jobRuns.put(createLostRun(gw.jobId, START + 2 * MINUTE));
      expect((await gw.waitForRuns(2)).map(({ status }) => status)).toEqual(['failed', 'failed']);
      gw.sync.sharedState = false;
      await jobRuns.put(createLostRun(gw.jobId, START + 3 * MINUTE));
      await advanceUntil(gw.clock, () => gw.calls.length === 1);
      expect((await gw.waitForRuns(3)).map(({ status }) => status)).toEqual(['failed', 'failed', 'completed']);
    },
  );

  verifies('cron/one-executor', 'a replica runs nothing, nor one that catches up, nor a replica that is cut off', async () => {
    await using gw = await createStandbyGateway({ role: 'replica' });
    await gw.advance(90_000);
    gw.sync.setState({ role: 'none', state: 'away' });
    await gw.advance(3 * MINUTE, 5000);
    gw.sync.setState({ state: 'catching-up' });
    await gw.advance(90_000);
    gw.sync.setState({ state: 'outdated' });
    await gw.advance(90_000);
    expect([gw.calls.length, (await gw.history()).length]).toEqual([0, 0]);
    gw.sync.setState({ state: 'synced', role: 'holder' });
    await advanceUntil(gw.clock, () => gw.calls.length === 1);
    expect((await gw.history()).map(({ ticks }) => ticks ?? 1)).toEqual([expect.any(Number), 1]);
    expect((await gw.history())[0]?.status).toBe('skipped');
  });

  verifies('cron/one-executor', 'the one that served and is cut off waits for the line, then is on its own', async () => {
    await using gw = await createStandbyGateway();
    await gw.advance(50_000);
    gw.sync.setState({ role: 'none', state: 'away' });
    await gw.advance(50_000);
    expect(gw.calls).toHaveLength(0);
    await advanceUntil(gw.clock, () => gw.calls.length === 1);
    expect(gw.sync.leaseCalls).toEqual([]);
    gw.sync.setState({ role: 'holder', state: 'failing' });
    await advanceUntil(gw.clock, () => gw.calls.length === 2);
  });

  verifies('cron/one-executor', 'on a shared vault, a machine that cannot reach the others runs nothing', async () => {
    await using gw = await createStandbyGateway();
    gw.sync.sharedState = true;
    gw.sync.setState({ state: 'failing' });
    await gw.advance(3 * MINUTE, 5000);
    gw.sync.setState({ role: 'none', state: 'away' });
    await gw.advance(3 * MINUTE, 5000);
    expect([gw.calls.length, (await gw.history()).length]).toEqual([0, 0]);
    gw.sync.setState({ role: 'holder', state: 'synced' });
    await advanceUntil(gw.clock, () => gw.calls.length === 1);
  });
});

describe('two gateways over one journal', () => {
  verifies('cron/one-executor', 'each tick runs once, on the one that serves, and both know of it', async () => {
    const clock = new FakeClock();
    const hosts = new TestHosts();
    await using one = await hosts.host({ clock });
    await using two = await hosts.host({ clock });
    const [a, b] = [await createCronApi(one, clock), await createCronApi(two, clock)];
    await a.add();
    await advanceUntil(clock, () => one.calls.length === 2);
    hosts.activate(two);
    await advanceUntil(clock, () => two.calls.length === 2);
    await waitFor(async () => (await a.history()).filter(({ status }) => status === 'completed').length === 4);
    expect(await a.history()).toEqual(await b.history());
    expect((await a.history()).map(({ scheduledAt }) => (scheduledAt - START) / MINUTE)).toEqual([1, 2, 3, 4]);
    expect([one.calls.length, two.calls.length]).toEqual([2, 2]);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies(['cron/one-executor', 'cron/crash'], 'the run of a dead gateway is ended by the other, and not repeated', async () => {
    const clock = new FakeClock();
    const hosts = new TestHosts();
    await using one = await hosts.host({ clock, model: halfScript });
    await using two = await hosts.host({ clock });
    const [a, b] = [await createCronApi(one, clock), await createCronApi(two, clock)];
    await a.add({ schedule: { kind: 'at', at: START + MINUTE } });
    await advanceUntil(clock, () => one.calls.length === 1);
    await one.waitForSync();
    await two.waitForSync();
    one.crash();
    await waitFor(() => one.replicator.state().state === 'away');
    hosts.activate(two);
    await advanceUntil(clock, async () => (await b.history())[0]?.status === 'failed');
    expect((await b.history())[0]?.error).toBe('Interrupted: the gateway that ran it was closed');
    await b.advance(2 * MINUTE);
    expect(two.calls).toHaveLength(0);
  });

  verifies('cron/one-executor', 'both believe that they serve: one of them runs the tick', async () => {
    const clock = new FakeClock();
    const hosts = new TestHosts();
    hosts.isEveryHostActive = true;
    await using one = await hosts.host({ clock });
    await using two = await hosts.host({ clock });
    const [a, b] = [await createCronApi(one, clock), await createCronApi(two, clock)];
    await a.add();
    await two.waitForSync();
    await advanceUntil(clock, () => one.calls.length + two.calls.length >= 5);
    await waitFor(async () => (await b.history()).filter(({ status }) => status === 'completed').length === 5);
    expect((await b.history()).map(({ scheduledAt }) => (scheduledAt - START) / MINUTE)).toEqual([1, 2, 3, 4, 5]);
    expect(one.calls.length + two.calls.length).toBe(5);
  });
});

verifies('cron/one-executor', 'a host that had no job runs the first one that another host adds', async () => {
  const clock = new FakeClock();
  const hosts = new TestHosts();
  await using one = await hosts.host({ clock });
  await using two = await hosts.host({ clock });
  hosts.activate(two);
  await (await createCronApi(one, clock)).add();
  await advanceUntil(clock, () => two.calls.length === 1);
  expect(one.calls).toHaveLength(0);
});
