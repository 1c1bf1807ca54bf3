import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, createVersions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats } from './tests/nats-server.ts';
import { NODES, startThreeNodes } from './tests/three-nodes.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;

if (!hasNats) test.skip('vault.cluster/replicas: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a cluster of three nodes', () => {
  verifies(
    'vault.cluster/replicas',
    'a vault lies on three nodes where there are three, and goes on without the one that led',
    async () => {
      await using nats = await startThreeNodes();
      await using a = await startMachine(createSettings(nats.urls));
      await using b = await startMachine(createSettings(nats.urls.toReversed()));
      await a.journal.push(createVersions(50, 'a'), 'a');
      await awaitAgreement([a, b], 50);
      const operator = await nats.nodes[0].operator();
      const streams = await (await jetstreamManager(operator)).streams.list().next();
      await operator.close();
      expect(streams.map(({ config }) => [config.name, config.num_replicas]).sort()).toEqual([
        [`KV_${STREAM}_here`, 3],
        [`KV_${STREAM}_leases`, 3],
        [`OBJ_${STREAM}_blobs`, 3],
        [STREAM, 3],
      ]);
      const leader = await nats.leader(STREAM);
      expect(NODES).toContain(leader);
      await nats.nodes[leader ?? 0].stop();
      await b.journal.push(createVersions(50, 'b'), 'b');
      await waitFor(async () => (await a.contents()).length === 100, 'the records, without the node that led', 60_000);
      await nats.heal();
      await awaitAgreement([a, b], 100);
    },
    120_000,
  );
});
