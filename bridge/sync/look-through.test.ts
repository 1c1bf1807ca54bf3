import { describe, expect, test } from 'vitest';
import { lookAgain, lookThrough } from '#shared/sync/nats/look-through.ts';
import { verifies } from '../../tests/requirements.ts';
import { KEY, versions } from '../journal/fixture.ts';
import { openCluster } from './connection.ts';
import { RecordSeal } from './record-seal.ts';
import { agreed, machine, settings } from './tests/machine.ts';
import { hasNats, natsServer } from './tests/nats-server.ts';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('rereading a stream', () => {
  verifies('vault.cluster/faults', 'reads in batches, and ends even if the newest message was deleted', async () => {
    await using nats = await natsServer();
    const cluster = await openCluster(settings(nats.url), new RecordSeal(KEY), async (text) => text);
    const { signal } = new AbortController();
    let sizes: number[] = [];
    const take = async (batch: readonly unknown[]): Promise<void> => void sizes.push(batch.length);
    await lookThrough(cluster, signal, take);
    expect(sizes).toEqual([]);
    {
      await using one = await machine(settings(nats.url));
      await one.journal.push(versions(250), 'a');
      await using two = await machine(settings(nats.url));
      await agreed([one, two], 250);
    }
    await lookThrough(cluster, signal, take);
    expect(sizes).toEqual([200, 50]);
    await cluster.jsm.streams.deleteMessage(cluster.stream, 250);
    sizes = [];
    await lookThrough(cluster, signal, take);
    expect(sizes).toEqual([200, 49]);

    // A single server is consistent with itself; a cluster is asked twice.
    sizes = [];
    await lookAgain(cluster, { signal }, take);
    expect(sizes).toEqual([200, 49]);
    const config = { ...cluster.info.config, num_replicas: 3 };
    sizes = [];
    await lookAgain({ ...cluster, info: { ...cluster.info, config } }, { signal, agreedMs: 1 }, take);
    expect(sizes).toEqual([200, 49, 200, 49]);
    await cluster.nc.close();
  });
});
