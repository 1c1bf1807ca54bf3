import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { until } from '../../tests/support/gateway.ts';
import { KEY, versions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { agreed, machine, settings } from './tests/machine.ts';
import { hasNats } from './tests/nats-server.ts';
import { NODES, threeNodes } from './tests/three-nodes.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;

if (!hasNats) test.skip('vault.cluster/replicas: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a cluster of three nodes', () => {
  verifies(
    'vault.cluster/replicas',
    'a vault lies on three nodes where there are three, and goes on without the one that led',
    async () => {
      await using nats = await threeNodes();
      await using a = await machine(settings(nats.urls));
      await using b = await machine(settings(nats.urls.toReversed()));
      await a.journal.push(versions(50, 'a'), 'a');
      await agreed([a, b], 50);
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
      await b.journal.push(versions(50, 'b'), 'b');
      await until(async () => (await a.contents()).length === 100, 'the records, without the node that led', 60_000);
      await nats.heal();
      await agreed([a, b], 100);
    },
    120_000,
  );
});
