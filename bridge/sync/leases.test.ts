import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { computeFence } from '#shared/sync/nats/shared-leases.ts';
import { createVersions } from '../journal/fixture.ts';
import { startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';

verifies(
  'vault.cluster/leases',
  'the holder keeps a lease while it is valid or the holder is present, and each new lease has a higher fence',
  () => {
    const leaseRequest = { name: 'run', holder: 'a', ttlMs: 1000, present: ['a', 'b'] };
    const lease = { holder: 'b', fence: 4, until: 500 };
    expect(computeFence(undefined, leaseRequest, 0)).toBe(1);
    expect(computeFence(undefined, { ...leaseRequest, presumed: 'b' }, 0)).toBeNull();
    expect(computeFence(undefined, { ...leaseRequest, presumed: 'z' }, 0)).toBe(2);
    expect(computeFence(lease, { ...leaseRequest, present: ['a'] }, 400)).toBeNull();
    expect(computeFence(lease, leaseRequest, 600)).toBeNull();
    expect(computeFence(lease, { ...leaseRequest, present: null }, 600)).toBeNull();
    expect(computeFence(lease, { ...leaseRequest, present: ['a'] }, 600)).toBe(5);
    expect(computeFence({ ...lease, holder: 'a' }, leaseRequest, 600)).toBe(4);
    expect(computeFence({ ...lease, holder: null, until: 0 }, leaseRequest, 600)).toBe(5);
  },
);

if (!hasNats) test.skip('vault.cluster/leases: nats-server is not installed here', () => {});
describe.runIf(hasNats)('leases of two machines', () => {
  verifies(
    'vault.cluster/leases',
    'requested by all hosts at once, one gets it; once released, the next has a higher fence; none without the server',
    async () => {
      await using nats = await createNatsServer();
      await using a = await startMachine(createSettings(nats.url));
      await using b = await startMachine(createSettings(nats.url));
      for (const machine of [a, b]) await waitFor(() => machine.journal.cluster.state === 'shared');
      const takeLease = (takeLease: typeof a, holder: string, name: string): Promise<number | null> =>
        takeLease.journal.takeLease({ name, holder, ttlMs: 60_000, present: [holder] });
      for (let round = 0; round < 10; round++) {
        const name = `cron:job-${round}`;
        const fences = await Promise.all([
          takeLease(a, 'a1', name),
          takeLease(b, 'b1', name),
          takeLease(a, 'a2', name),
          takeLease(b, 'b2', name),
        ]);
        expect(fences.filter((fence) => fence !== null)).toEqual([1]);
      }
      expect(await takeLease(a, 'a1', 'run:1')).toBe(1);
      await b.journal.releaseLease('run:1', 'a1', 2);
      expect(await takeLease(b, 'b1', 'run:1')).toBeNull();
      await a.journal.releaseLease('run:1', 'a1', 1);
      expect(await takeLease(b, 'b1', 'run:1')).toBe(2);
      // Everything stored earlier has reached the others by the time such a lease is granted.
      await a.journal.push(createVersions(500), 'a1');
      expect(await a.journal.takeLease({ name: 'cron:settled', holder: 'a1', ttlMs: 1000, present: ['a1'], settled: true })).toBe(1);
      expect((await a.journal.examine()).unsent).toBe(0);
      // A connected host of another machine owns the run it started, though it never asked for a lease.
      a.journal.tellHosts(() => ['a1']);
      const claim = { name: 'run:2', holder: 'b1', presumed: 'a1', ttlMs: 1000, present: ['b1'] };
      expect(await b.journal.takeLease(claim)).toBeNull();
      await nats.stop();
      await waitFor(() => a.journal.cluster.state === 'apart');
      expect(await takeLease(a, 'a1', 'run:3')).toBeNull();
    },
  );
});
