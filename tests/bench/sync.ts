import { randomBytes } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { SyncRecord } from '#shared/sync/record.ts';
import { KEY, version } from '../../bridge/journal/fixture.ts';
import { RecordSeal } from '../../bridge/sync/record-seal.ts';
import { machine, type Machine, settings } from '../../bridge/sync/tests/machine.ts';
import { hasNats, natsServer, type TestNats } from '../../bridge/sync/tests/nats-server.ts';
import { until } from '../support/gateway.ts';
import { atMost, type Figure } from './figures.ts';
import { median, percentile } from './stats.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;
const PUSHED = 500;
const MINUTES = 10 * 60_000;

/** A vault over JetStream, one server on loopback: all of it to a new device, and how late a change is there. Beside it the server's own stream, bare. */
export async function sync({ quick }: { quick: boolean }): Promise<Figure[]> {
  if (!hasNats) throw new Error('nats-server is not installed here');
  const count = quick ? 10_000 : 100_000;
  await using nats = await natsServer();
  await using a = await machine(settings(nats.url));
  await until(() => a.journal.cluster.state === 'shared');
  const sent = await took(async () => {
    for (let at = 0; at < count; at += PUSHED) await a.journal.push(page(at, Math.min(PUSHED, count - at)), 'a');
    await until(async () => (await stored(nats)) === count, 'all of it in the stream', MINUTES);
  });
  const bare = await took(() => consume(nats, count));
  await using b = await machine(settings(nats.url));
  const received = await took(() => until(() => b.journal.cluster.state === 'shared', 'a new device that has all', MINUTES));
  const { records } = await b.journal.info();
  if (records !== count) throw new Error(`the new device has ${records} records of ${count}`);
  const lags = await lagsOf(a, b, quick ? 50 : 300);
  const floor = await bareLags(nats, quick ? 50 : 300);
  return [
    {
      ...{ what: `${count.toLocaleString('en')} records to a new device`, unit: 's', ours: received / 1000 },
      floor: { name: 'stream alone', value: bare / 1000 },
      ratio: received / bare,
      bar: atMost(received / 1000, 60, 's'),
    },
    { what: '  from the first device, written one after the other', unit: 's', ours: sent / 1000 },
    {
      ...{ what: 'from acknowledged here to stored there, p50', unit: 'ms', ours: median(lags) },
      floor: { name: 'publish to consume', value: median(floor) },
      ratio: median(lags) / median(floor),
      bar: atMost(median(lags), 300, 'ms'),
    },
    { what: '  p99', unit: 'ms', ours: percentile(lags, 0.99), floor: { name: 'publish to consume', value: percentile(floor, 0.99) } },
  ];
}

const page = (from: number, count: number): SyncRecord[] =>
  Array.from({ length: count }, (_, at) =>
    version(`m${from + at}`, 1000 + from + at, 'a', { payload: JSON.stringify({ text: randomBytes(200).toString('hex') }) }),
  );

async function took(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

async function stored(nats: TestNats): Promise<number> {
  const nc = await nats.operator();
  try {
    const manager = await jetstream(nc).jetstreamManager();
    return (await manager.streams.info(STREAM)).state.messages;
  } finally {
    await nc.close();
  }
}

async function consume(nats: TestNats, count: number): Promise<void> {
  const nc = await nats.operator();
  const consumer = await jetstream(nc).consumers.get(STREAM);
  let left = count;
  for await (const _ of await consumer.consume({ max_messages: 1000 })) if (--left === 0) break;
  await nc.close();
}

/** Changes now and then, each until the other machine has stored it. */
async function lagsOf(a: Machine, b: Machine, count: number): Promise<number[]> {
  const lags: number[] = [];
  for (let at = 0; at < count; at++) {
    const { head } = b.journal;
    const there = new Promise<void>((resolve) => {
      const changed = (now: number): void => {
        if (now <= head) return;
        b.journal.off('changed', changed);
        resolve();
      };
      b.journal.on('changed', changed);
    });
    await a.journal.push([version(`m${at}`, 10_000_000 + at, 'a')], 'a');
    lags.push(await took(() => there));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return lags;
}

async function bareLags(nats: TestNats, count: number): Promise<number[]> {
  const nc = await nats.operator();
  const js = jetstream(nc);
  const manager = await js.jetstreamManager();
  await manager.streams.add({ name: 'bare', subjects: ['bare.>'] });
  const messages = await (await js.consumers.get('bare')).consume();
  const heard = messages[Symbol.asyncIterator]();
  const lags: number[] = [];
  for (let at = 0; at < count; at++) {
    lags.push(
      await took(async () => {
        await js.publish(`bare.${at}`, randomBytes(400));
        await heard.next();
      }),
    );
  }
  messages.stop();
  await nc.close();
  return lags;
}
