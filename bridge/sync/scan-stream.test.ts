import { describe, expect, test } from 'vitest';
import { rescanStream, scanStream } from '#shared/sync/nats/scan-stream.ts';
import { verifies } from '../../tests/requirements.ts';
import { KEY, createVersions } from '../journal/fixture.ts';
import { openCluster } from './cluster-connection.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('rereading a stream', () => {
  verifies('vault.cluster/faults', 'reads in batches, and ends even if the newest message was deleted', async () => {
    await using nats = await createNatsServer();
    const cluster = await openCluster(createSettings(nats.url), new RecordSeal(KEY), async (text) => text);
    const { signal } = new AbortController();
    let sizes: number[] = [];
    const recordSize = async (batch: readonly unknown[]): Promise<void> => void sizes.push(batch.length);
    await scanStream(cluster, signal, recordSize);
    expect(sizes).toEqual([]);
    {
      await using one = await startMachine(createSettings(nats.url));
      await one.journal.push(createVersions(250), 'a');
      await using two = await startMachine(createSettings(nats.url));
      await awaitAgreement([one, two], 250);
    }
    await scanStream(cluster, signal, recordSize);
    expect(sizes).toEqual([200, 50]);
    await cluster.jsm.streams.deleteMessage(cluster.stream, 250);
    sizes = [];
    await scanStream(cluster, signal, recordSize);
    expect(sizes).toEqual([200, 49]);

    // A single server is consistent with itself; a cluster is asked twice.
    sizes = [];
    await rescanStream(cluster, { signal }, recordSize);
    expect(sizes).toEqual([200, 49]);
    const config = { ...cluster.info.config, num_replicas: 3 };
    sizes = [];
    await rescanStream({ ...cluster, info: { ...cluster.info, config } }, { signal, agreedMs: 1 }, recordSize);
    expect(sizes).toEqual([200, 49, 200, 49]);
    await cluster.nc.close();
  });
});
