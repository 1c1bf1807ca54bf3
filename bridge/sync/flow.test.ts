import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { messagesFrom } from '#shared/sync/nats/flow.ts';
import { verifies } from '../../tests/requirements.ts';
import { until } from '../../tests/support/gateway.ts';
import { KEY, version } from '../journal/fixture.ts';
import { openCluster } from './connection.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './state.ts';
import { agreed, is, machine, settings } from './tests/machine.ts';
import { hasNats, natsServer } from './tests/nats-server.ts';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a stream that has more than comes', () => {
  verifies('vault.cluster/faults', 'is asked for what the server that sends has not, until that one has something again', async () => {
    await using nats = await natsServer();
    const cluster = await openCluster(settings(nats.url), new RecordSeal(KEY), async (text) => text);
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
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const text of ['one', 'two', 'three']) await publish(text);
      const reading = (async () => {
        for await (const { seq } of await messagesFrom(cluster, 2, { ahead: 10, signal: stop.signal })) came.push(seq);
      })();
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
      vi.advanceTimersByTime(14_000);
      expect(came).toEqual([]);
      vi.advanceTimersByTime(1_000);
      await vi.waitFor(() => expect(came).toEqual([2, 3]));
      // Nothing yet, and then something: it is asked sooner than before.
      await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2));
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
      vi.advanceTimersByTime(3_000);
      await publish('four');
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
      get.mockRestore();
      mute.mockRestore();
      vi.advanceTimersByTime(3_000);
      await vi.waitFor(() => expect(came).toEqual([2, 3, 4]));
      await publish('five');
      await vi.waitFor(() => expect(came).toEqual([2, 3, 4, 5]));
      stop.abort();
      await reading;
    } finally {
      vi.useRealTimers();
      await cluster.nc.close();
    }
  });

  verifies('vault.cluster/faults', 'is looked through for subjects that were passed over while the connection stood', async () => {
    await using nats = await natsServer();
    await using one = await machine(settings(nats.url));
    await using two = await machine(settings(nats.url));
    for (const each of [one, two]) await is(each, 'shared');
    await one.journal.push([version('first', 1000, 'a')], 'a');
    await agreed([one, two], 1);
    const away = await one.away();
    await two.journal.push([version('passed over', 2000, 'b'), version('that too', 2000, 'b')], 'b');
    await until(async () => (await two.journal.examine()).unsent === 0, 'what the other one wrote');
    // As if the server that sends had had something else under these numbers.
    const state = new SyncState(join(one.dir, 'sync-state.sqlite'));
    state.note([], { read: 3 });
    state.close();
    await away.back();
    await agreed([one, two], 3);
  });
});
