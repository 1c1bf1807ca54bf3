import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readMessages, REPEATED_SILENCE_MS, SILENCE_MS } from '#shared/sync/nats/stream-messages.ts';
import { verifies } from '../../tests/requirements.ts';
import { FakeClock } from '../../tests/support/fake-clock.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, createVersion } from '../journal/fixture.ts';
import { openCluster } from './cluster-connection.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './sync-state.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a server that sends less than its stream has', () => {
  verifies('vault.cluster/faults', 'is bypassed while it is silent, until it sends again', async () => {
    await using nats = await createNatsServer();
    const cluster = await openCluster(createSettings(nats.url), new RecordSeal(KEY), async (text) => text);
    const publish = (text: string): Promise<unknown> => cluster.js.publish(`${cluster.prefix}${text}`, text);
    const consumer = await cluster.js.consumers.get(cluster.stream);
    const mute = vi.spyOn(consumer, 'consume').mockImplementation(async () => {
      const end = Promise.withResolvers<void>();
      async function* nothing(): AsyncGenerator<never> {
        await end.promise;
      }
      return Object.assign(nothing(), { close: async () => end.resolve() }) as never;
    });
    const get = vi.spyOn(cluster.js.consumers, 'get').mockResolvedValue(consumer);
    const stop = new AbortController();
    const came: number[] = [];
    const clock = new FakeClock();
    const after = clock.after.bind(clock);
    try {
      for (const text of ['one', 'two', 'three']) await publish(text);
      const reading = (async () => {
        const options = { ahead: 10, lastSeq: 3, onunsure: () => {}, signal: stop.signal, after };
        for await (const { seq } of await readMessages(cluster, 2, options)) came.push(seq);
      })();
      await clock.waitForTimer(SILENCE_MS);
      clock.advance(SILENCE_MS - 1_000);
      expect(came).toEqual([]);
      clock.advance(1_000);
      await vi.waitFor(() => expect(came).toEqual([2, 3]), 30_000);
      // After silence, data arrives: the next request comes sooner than before.
      await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2), 30_000);
      await clock.waitForTimer(REPEATED_SILENCE_MS);
      clock.advance(REPEATED_SILENCE_MS);
      await publish('four');
      await clock.waitForTimer(REPEATED_SILENCE_MS);
      get.mockRestore();
      mute.mockRestore();
      clock.advance(REPEATED_SILENCE_MS);
      await vi.waitFor(() => expect(came).toEqual([2, 3, 4]), 30_000);
      await publish('five');
      await vi.waitFor(() => expect(came).toEqual([2, 3, 4, 5]), 30_000);
      stop.abort();
      await reading;
    } finally {
      await cluster.nc.close();
    }
  });

  verifies(
    'vault.cluster/faults',
    'if the sending server skips numbers, the leader is asked: always for later messages, up to a hundred times for earlier ones',
    async () => {
      await using nats = await createNatsServer();
      const cluster = await openCluster(createSettings(nats.url), new RecordSeal(KEY), async (text) => text);
      const publish = async (text: string): Promise<number> => (await cluster.js.publish(`${cluster.prefix}${text}`, text)).seq;
      // Simulates servers that lost contact with each other: this one misses the first of every three messages.
      const consumer = await cluster.js.consumers.get(cluster.stream, { filter_subjects: `${cluster.prefix}>` });
      const consume = consumer.consume.bind(consumer);
      vi.spyOn(consumer, 'consume').mockImplementation(async (options) => {
        const messages = await consume(options);
        async function* holed(): AsyncGenerator<unknown> {
          for await (const message of messages) if (message.seq % 3 !== 1) yield message;
        }
        return Object.assign(holed(), { close: () => messages.close() }) as never;
      });
      vi.spyOn(cluster.js.consumers, 'get').mockResolvedValue(consumer);
      const ofThree = { ...cluster, info: { ...cluster.info, config: { ...cluster.info.config, num_replicas: 3 } } };
      const stop = new AbortController();
      const onunsure = vi.fn();
      const came: number[] = [];
      let lastSeq = 0;
      while (lastSeq < 330) lastSeq = await publish(`old.${lastSeq}`);
      const reading = (async () => {
        const options = { ahead: 10, lastSeq, onunsure, signal: stop.signal };
        for await (const { seq } of await readMessages(ofThree, 1, options)) came.push(seq);
      })();
      await waitFor(() => came.at(-1) === lastSeq, 'what was there');
      const all = Array.from({ length: lastSeq }, (_, at) => at + 1);
      expect(came).toEqual(all.filter((seq) => seq <= 300 || seq % 3 !== 1));
      expect(onunsure).toHaveBeenCalledTimes(1);
      came.length = 0;
      // The first is left out, the second is replaced by the fourth.
      for (const text of ['one', 'two', 'three', 'two', 'five']) await publish(text);
      await waitFor(() => came.at(-1) === lastSeq + 5, 'what came later');
      expect(came.map((seq) => seq - lastSeq).filter((at) => at !== 2)).toEqual([1, 3, 4, 5]);
      stop.abort();
      await reading;
      await cluster.nc.close();
    },
  );

  verifies('vault.cluster/faults', 'is looked through for subjects that were passed over while the connection stood', async () => {
    await using nats = await createNatsServer();
    await using one = await startMachine(createSettings(nats.url));
    await using two = await startMachine(createSettings(nats.url));
    for (const each of [one, two]) await hasRecords(each, 'shared');
    await one.journal.push([createVersion('first', 1000, 'a')], 'a');
    await awaitAgreement([one, two], 1);
    const restart = await one.disconnect();
    await two.journal.push([createVersion('passed over', 2000, 'b'), createVersion('that too', 2000, 'b')], 'b');
    await waitFor(async () => (await two.journal.examine()).unsent === 0, 'what the other one wrote');
    // Simulates a server that had other messages under these numbers.
    const state = new SyncState(join(one.dir, 'sync-state.sqlite'));
    state.recordMarks([], { read: 3 });
    state.close();
    await restart.reconnect();
    await awaitAgreement([one, two], 3);
  });
});
