import { randomBytes } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { SyncRecord } from '#shared/sync/record.ts';
import { KEY, createVersion } from '../../bridge/journal/fixture.ts';
import { RecordSeal } from '../../bridge/sync/record-seal.ts';
import { startMachine, type TestMachine, createSettings } from '../../bridge/sync/tests/test-machine.ts';
import { hasNats, createNatsServer, type TestNats } from '../../bridge/sync/tests/nats-server.ts';
import { waitFor } from '../support/test-gateway.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { computeMedian, computePercentile } from './stats.ts';

const STREAM_NAME = `PERCH_${new RecordSeal(KEY).vault}`;
const PUSH_BATCH_SIZE = 500;
const MINUTES = 10 * 60_000;

/** A vault over JetStream with one server on loopback: full sync to a new device, and the lag of a change. Baseline: the server's plain stream. */
export async function benchSync({ quick }: { quick: boolean }): Promise<Figure[]> {
  if (!hasNats) throw new Error('nats-server is not installed here');
  const count = quick ? 10_000 : 100_000;
  await using nats = await createNatsServer();
  await using a = await startMachine(createSettings(nats.url));
  await waitFor(() => a.journal.cluster.state === 'shared');
  const sent = await measureMs(async () => {
    for (let at = 0; at < count; at += PUSH_BATCH_SIZE) await a.journal.push(createPage(at, Math.min(PUSH_BATCH_SIZE, count - at)), 'a');
    await waitFor(async () => (await countStored(nats)) === count, 'all of it in the stream', MINUTES);
  });
  const bare = await measureMs(() => measureConsume(nats, count));
  await using b = await startMachine(createSettings(nats.url));
  const received = await measureMs(() => waitFor(() => b.journal.cluster.state === 'shared', 'a new device that has all', MINUTES));
  const { records } = await b.journal.info();
  if (records !== count) throw new Error(`the new device has ${records} records of ${count}`);
  const lags = await measureLags(a, b, quick ? 50 : 300);
  const floor = await measureBareLags(nats, quick ? 50 : 300);
  return [
    {
      ...{ what: `${count.toLocaleString('en')} records to a new device`, unit: 's', ours: received / 1000 },
      floor: { name: 'stream alone', value: bare / 1000 },
      ratio: received / bare,
      bar: toMaxBar(received / 1000, 60, 's'),
    },
    { what: '  from the first device, written one after the other', unit: 's', ours: sent / 1000 },
    {
      ...{ what: 'from acknowledged here to stored there, p50', unit: 'ms', ours: computeMedian(lags) },
      floor: { name: 'publish to consume', value: computeMedian(floor) },
      ratio: computeMedian(lags) / computeMedian(floor),
      bar: toMaxBar(computeMedian(lags), 300, 'ms'),
    },
    {
      what: '  p99',
      unit: 'ms',
      ours: computePercentile(lags, 0.99),
      floor: { name: 'publish to consume', value: computePercentile(floor, 0.99) },
    },
  ];
}

const createPage = (from: number, count: number): SyncRecord[] =>
  Array.from({ length: count }, (_, at) =>
    createVersion(`m${from + at}`, 1000 + from + at, 'a', { payload: JSON.stringify({ text: randomBytes(200).toString('hex') }) }),
  );

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

async function countStored(nats: TestNats): Promise<number> {
  const nc = await nats.operator();
  try {
    const manager = await jetstream(nc).jetstreamManager();
    return (await manager.streams.info(STREAM_NAME)).state.messages;
  } finally {
    await nc.close();
  }
}

async function measureConsume(nats: TestNats, count: number): Promise<void> {
  const nc = await nats.operator();
  const consumer = await jetstream(nc).consumers.get(STREAM_NAME);
  let left = count;
  for await (const _ of await consumer.consume({ max_messages: 1000 })) if (--left === 0) break;
  await nc.close();
}

/** Measures the lag of single changes until the other machine has stored them. */
async function measureLags(a: TestMachine, b: TestMachine, count: number): Promise<number[]> {
  const lags: number[] = [];
  for (let at = 0; at < count; at++) {
    const { head } = b.journal;
    const received = new Promise<void>((resolve) => {
      const changed = (now: number): void => {
        if (now <= head) return;
        b.journal.off('changed', changed);
        resolve();
      };
      b.journal.on('changed', changed);
    });
    await a.journal.push([createVersion(`m${at}`, 10_000_000 + at, 'a')], 'a');
    lags.push(await measureMs(() => received));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return lags;
}

async function measureBareLags(nats: TestNats, count: number): Promise<number[]> {
  const nc = await nats.operator();
  const js = jetstream(nc);
  const manager = await js.jetstreamManager();
  await manager.streams.add({ name: 'bare', subjects: ['bare.>'] });
  const messages = await (await js.consumers.get('bare')).consume();
  const iterator = messages[Symbol.asyncIterator]();
  const lags: number[] = [];
  for (let at = 0; at < count; at++) {
    lags.push(
      await measureMs(async () => {
        await js.publish(`bare.${at}`, randomBytes(400));
        await iterator.next();
      }),
    );
  }
  messages.stop();
  await nc.close();
  return lags;
}
