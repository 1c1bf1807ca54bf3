import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, createVersion, createVersions } from '../journal/fixture.ts';
import { createNatsConfiguration } from './permissions.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';
import { startThreeNodes } from './tests/three-nodes.ts';

const { vault } = new RecordSeal(KEY);

if (!hasNats) test.skip('vault.cluster/doctor: nats-server is not installed here', () => {});
describe.runIf(hasNats)('the cluster report', () => {
  verifies('vault.cluster/doctor', 'of a server with no limits: all that is there, and that the user may hear everything', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await a.journal.push(createVersions(3), 'a');
    await awaitAgreement([a], 3);
    await waitFor(async () => (await a.journal.examine()).unsent === 0 && a.journal.cluster.state === 'shared');
    await waitFor(async () => (await a.journal.examine()).seen?.behind === 0, 'its own records, read');
    const { seen, ...said } = await a.journal.examine();
    expect(said).toEqual({ servers: [nats.url], state: 'shared', problem: null, unsent: 0 });
    expect(seen).toMatchObject({ cluster: null, wantedReplicas: 1, hearsAll: true, othersStreams: 0, storage: { limit: null } });
    expect(seen?.skew).toBeLessThan(1000);
    expect(seen?.streams.map(({ name, replicas, followers }) => [name, replicas, followers])).toEqual([
      [`PERCH_${vault}`, 1, []],
      [`OBJ_PERCH_${vault}_blobs`, 1, []],
      [`KV_PERCH_${vault}_leases`, 1, []],
      [`KV_PERCH_${vault}_here`, 1, []],
    ]);
    expect(seen?.streams[0]).toMatchObject({ messages: 3, maxBytes: null });
    const operator = await nats.operator();
    await (await jetstreamManager(operator)).streams.add({ name: 'others', subjects: ['others.>'] });
    await operator.close();
    expect((await a.journal.examine()).seen?.othersStreams).toBe(1);
    await nats.stop();
    await hasRecords(a, 'apart');
    await a.journal.push([createVersion('later', 1)], 'a');
    expect(await a.journal.examine()).toMatchObject({ state: 'apart', problem: { code: 'unreachable' }, unsent: 1, seen: null });
  });

  verifies(
    'vault.cluster/doctor',
    'reports an account with the printed permissions: its limit, and that nothing else can be read or listed',
    async () => {
      const account = createNatsConfiguration({ vault, user: 'u', ownAccount: true, forCluster: false, storage: '10MB' });
      await using nats = await createNatsServer({ config: `accounts { ${account.replace(/\$PERCH_\w+/, 'p1')} }` });
      await using a = await startMachine(createSettings(nats.url, { user: 'u', password: 'p1' }));
      await a.journal.push(createVersions(3), 'a');
      await hasRecords(a, 'shared');
      const { seen } = await a.journal.examine();
      expect(seen).toMatchObject({ hearsAll: false, othersStreams: null, storage: { limit: 10 * 1024 ** 2 } });
      expect(seen?.storage.used).toBeGreaterThan(0);
    },
  );

  verifies(
    'vault.cluster/doctor',
    'reports which follower of three servers is missing',
    async () => {
      await using nats = await startThreeNodes();
      await using a = await startMachine(createSettings(nats.urls));
      await a.journal.push(createVersions(3), 'a');
      await hasRecords(a, 'shared');
      await waitFor(
        async () => {
          const { seen } = await a.journal.examine();
          return seen?.streams.every(({ followers }) => followers.length === 2 && followers.every(({ current }) => current)) ?? false;
        },
        'all copies current',
        60_000,
      );
      const { seen } = await a.journal.examine();
      expect(seen).toMatchObject({ cluster: 'perch', wantedReplicas: 3, server: expect.stringMatching(/^n[012]$/) });
      const { leader, followers = [] } = seen?.streams[0] ?? {};
      expect([leader, ...followers.map(({ name }) => name)].sort()).toEqual(['n0', 'n1', 'n2']);
      const stopped = nats.nodes.find((_, at) => `n${at}` !== leader && `n${at}` !== seen?.server);
      const name = `n${stopped ? nats.nodes.indexOf(stopped) : ''}`;
      await stopped?.stop();
      await waitFor(
        async () => {
          const records = (await a.journal.examine()).seen?.streams[0];
          return records?.followers.some((machine) => machine.name === name && (machine.offline || !machine.current)) ?? false;
        },
        'the follower that is missing',
        60_000,
      );
    },
    180_000,
  );
});
