import { setTimeout as sleep } from 'node:timers/promises';
import type { Perch } from '../e2e/perch-process.ts';
import { SocketCaller } from './caller.ts';
import type { BenchProcess } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { getMonotonicTime, computePercentile } from './stats.ts';

const STREAM_COUNT = 100;
const DELTAS_PER_SECOND = 50;
/** Interval between the starts of streams. */
const START_INTERVAL_MS = 10;

/** Measures the milliseconds from the upstream's write of each delta to its reader. */
type Latencies = number[];

/** Added latency of a delta with 100 streams of 50 deltas per second, each to a separate client. */
export async function measurePacedStreams(perch: Perch, upstream: BenchProcess, seconds: number): Promise<Figure[]> {
  const count = seconds * DELTAS_PER_SECOND;
  const direct = await readTogether(() => readDirect(`http://127.0.0.1:${upstream.port}/v1/chat/completions`, count));
  const ours = await readTogether(() => readRun(perch, count));
  for (const [name, all] of Object.entries({ direct, ours }))
    if (all.length !== STREAM_COUNT * count) throw new Error(`${name}: ${all.length} deltas came of ${STREAM_COUNT * count}`);
  const added = computePercentile(ours, 0.99) - computePercentile(direct, 0.99);
  return [
    {
      what: `${STREAM_COUNT} streams of ${DELTAS_PER_SECOND} deltas a second, a delta, p99`,
      unit: 'ms',
      ours: computePercentile(ours, 0.99),
      floor: { name: 'direct', value: computePercentile(direct, 0.99) },
    },
    { what: '  added', unit: 'ms', ours: added, bar: toMaxBar(added, 50, 'ms') },
    { what: '  p50', unit: 'ms', ours: computePercentile(ours, 0.5), floor: { name: 'direct', value: computePercentile(direct, 0.5) } },
  ];
}

async function readTogether(read: () => Promise<Latencies>): Promise<Latencies> {
  const all = Array.from({ length: STREAM_COUNT }, async (_, index) => {
    await sleep(index * START_INTERVAL_MS);
    return read();
  });
  return (await Promise.all(all)).flat();
}

const toLatencies = (text: string): Latencies => {
  const now = getMonotonicTime();
  return [...text.matchAll(/@([\d.]+) /g)].map(([, at]) => now - Number(at));
};

/** Rejects if text is missing or duplicated. */
async function readRun(perch: Perch, count: number): Promise<Latencies> {
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
  const latencies: Latencies = [];
  let length = 0;
  let gap: Error | undefined;
  caller.onevent = (event) => {
    if (!event.startsWith('{"type":"event","event":"chat.delta"')) return;
    const { payload } = JSON.parse(event) as { payload: { delta: string; offset: number } };
    if (payload.offset !== length) gap ??= new Error(`a delta is at ${payload.offset}, not at ${length}`);
    length += payload.delta.length;
    latencies.push(...toLatencies(payload.delta));
  };
  await caller.call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: `bench/paced-${count}` });
  if (gap) throw gap;
  return latencies;
}

async function readDirect(url: string, count: number): Promise<Latencies> {
  const body = JSON.stringify({ model: `paced-${count}`, stream: true, messages: [{ role: 'user', content: 'go' }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const latencies: Latencies = [];
  let held = '';
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    held += text;
    const end = held.lastIndexOf('\n') + 1;
    latencies.push(...toLatencies(held.slice(0, end)));
    held = held.slice(end);
  }
  return latencies;
}
