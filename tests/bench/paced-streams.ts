import { setTimeout as sleep } from 'node:timers/promises';
import type { Perch } from '../e2e/harness.ts';
import { Caller } from './caller.ts';
import type { Child } from './child.ts';
import { atMost, type Figure } from './figures.ts';
import { monotonic, percentile } from './stats.ts';

const STREAMS = 100;
const PER_SECOND = 50;
/** Interval between the starts of streams. */
const APART_MS = 10;

/** Milliseconds from the upstream's write of each delta to its reader. */
type Latencies = number[];

/** Added time of a delta with 100 streams of 50 deltas a second, each to a client of its own. */
export async function pacedStreams(perch: Perch, upstream: Child, seconds: number): Promise<Figure[]> {
  const count = seconds * PER_SECOND;
  const direct = await together(() => readDirect(`http://127.0.0.1:${upstream.port}/v1/chat/completions`, count));
  const ours = await together(() => readRun(perch, count));
  for (const [name, all] of Object.entries({ direct, ours }))
    if (all.length !== STREAMS * count) throw new Error(`${name}: ${all.length} deltas came of ${STREAMS * count}`);
  const added = percentile(ours, 0.99) - percentile(direct, 0.99);
  return [
    {
      what: `${STREAMS} streams of ${PER_SECOND} deltas a second, a delta, p99`,
      unit: 'ms',
      ours: percentile(ours, 0.99),
      floor: { name: 'direct', value: percentile(direct, 0.99) },
    },
    { what: '  added', unit: 'ms', ours: added, bar: atMost(added, 50, 'ms') },
    { what: '  p50', unit: 'ms', ours: percentile(ours, 0.5), floor: { name: 'direct', value: percentile(direct, 0.5) } },
  ];
}

async function together(read: () => Promise<Latencies>): Promise<Latencies> {
  const all = Array.from({ length: STREAMS }, async (_, index) => {
    await sleep(index * APART_MS);
    return read();
  });
  return (await Promise.all(all)).flat();
}

const latenciesIn = (text: string): Latencies => {
  const now = monotonic();
  return [...text.matchAll(/@([\d.]+) /g)].map(([, at]) => now - Number(at));
};

/** Rejects if text is missing or comes twice. */
async function readRun(perch: Perch, count: number): Promise<Latencies> {
  using caller = await Caller.connect(perch.wsUrl, perch.token);
  const latencies: Latencies = [];
  let length = 0;
  let gap: Error | undefined;
  caller.onevent = (event) => {
    if (!event.startsWith('{"type":"event","event":"chat.delta"')) return;
    const { payload } = JSON.parse(event) as { payload: { delta: string; offset: number } };
    if (payload.offset !== length) gap ??= new Error(`a delta is at ${payload.offset}, not at ${length}`);
    length += payload.delta.length;
    latencies.push(...latenciesIn(payload.delta));
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
    latencies.push(...latenciesIn(held.slice(0, end)));
    held = held.slice(end);
  }
  return latencies;
}
