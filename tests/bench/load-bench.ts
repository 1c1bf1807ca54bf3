import { setTimeout as sleep } from 'node:timers/promises';
import { createRawFrame, createRawSocket, connectFrame } from '../../bridge/server/tests/raw-socket.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { SocketCaller } from './caller.ts';
import { type BenchProcess, startChild } from './child-process.ts';
import type { SocketAttack } from './children/attacker.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { measurePacedStreams } from './paced-streams.ts';
import { measureInTurns, computeMedian, computePercentile, computeMedianRatio } from './stats.ts';

const SILENT_SOCKETS = { open: 2_000, perSecond: 500 };
const CLIENT_COUNT = 500;
/** Request limit of a connection per minute, and the factor by which it is exceeded here. */
const RATE_LIMIT = { perMinute: 600, burst: 100 };
const OVERLOAD_FACTOR = 10;
const OVERLOADING_CLIENTS = 50;

/** Load and faults (docs/promises.md): silent sockets, slow HTTP, many clients and streams, overload, stalled readers, floods. */
export async function benchLoad({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using attacker = await startChild('attacker');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  const seconds = quick ? 4 : 15;
  return [
    ...(await benchUnderAttack(perch, attacker, seconds)),
    ...(await benchManyClients(perch, seconds)),
    ...(await measurePacedStreams(perch, upstream, seconds)),
    ...(await benchOverload(perch, seconds)),
    ...(await benchStalledReader(perch, quick ? 3 : 9)),
    ...(await benchFloods(perch)),
  ];
}

const toFigure = (what: string, samples: readonly number[], limit: number, before?: readonly number[]): Figure => {
  const ours = computePercentile(samples, 0.99);
  return {
    what: `${what}, p99`,
    unit: 'ms',
    ours,
    ...(before && { floor: { name: 'before', value: computePercentile(before, 0.99) } }),
    bar: toMaxBar(ours, limit, 'ms'),
  };
};

/** Measures the milliseconds of calls started every `everyMs`, whether or not earlier calls were answered. */
async function measurePaced(seconds: number, everyMs: number, call: (i: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  const calls: Promise<void>[] = [];
  const start = performance.now();
  for (let i = 0; performance.now() - start < seconds * 1_000; i++) {
    const due = start + i * everyMs;
    if (due > performance.now()) await sleep(due - performance.now());
    const startedAt = performance.now();
    calls.push(call(i).then(() => void samples.push(performance.now() - startedAt)));
  }
  await Promise.all(calls);
  return samples;
}

/** The owner comes and goes. */
async function measureConnect(perch: Perch): Promise<void> {
  using _ = await SocketCaller.connect(perch.wsUrl, perch.token);
}

async function measureHealth(perch: Perch): Promise<void> {
  const response = await fetch(`${perch.url}/health`);
  if (!response.ok) throw new Error(`/health answered ${response.status}`);
  await response.arrayBuffer();
}

/** Latency of the owner's `connect` and of `/health` under a flood of sockets that send nothing or incomplete requests. */
async function benchUnderAttack(perch: Perch, attacker: BenchProcess, seconds: number): Promise<Figure[]> {
  const port = Number(new URL(perch.url).port);
  const figures: Figure[] = [];
  const before = {
    connect: await measurePaced(seconds, 50, () => measureConnect(perch)),
    health: await measurePaced(seconds, 50, () => measureHealth(perch)),
  };
  for (const [kind, what] of [
    ['silent', `connect with ${SILENT_SOCKETS.open} silent sockets and ${SILENT_SOCKETS.perSecond} new a second`],
    ['heads', `health with ${SILENT_SOCKETS.open} slow heads and ${SILENT_SOCKETS.perSecond} new a second`],
  ] as const) {
    const filled = attacker.message(isFilled);
    attacker.process.send({ kind, port, ...SILENT_SOCKETS } satisfies SocketAttack);
    await filled;
    const call = kind === 'silent' ? measureConnect : measureHealth;
    const samples = await measurePaced(seconds, 50, () => call(perch));
    const ended = attacker.message(isEnded);
    attacker.process.send({ stop: true });
    const { opened } = await ended;
    figures.push(toFigure(what, samples, kind === 'silent' ? 100 : 250, kind === 'silent' ? before.connect : before.health));
    figures.push({ what: '  opened by the attacker', unit: '', ours: opened });
  }
  return figures;
}

const isFilled = (message: unknown): message is { filled: number } =>
  typeof message === 'object' && message !== null && 'filled' in message;
const isEnded = (message: unknown): message is { opened: number } => typeof message === 'object' && message !== null && 'opened' in message;

async function connectCallers(perch: Perch, count: number): Promise<SocketCaller[] & Disposable> {
  const callers: SocketCaller[] = [];
  while (callers.length < count)
    callers.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - callers.length) }, () => SocketCaller.connect(perch.wsUrl, perch.token)),
      )),
    );
  return Object.assign(callers, {
    [Symbol.dispose]: () => {
      for (const caller of callers) caller[Symbol.dispose]();
    },
  });
}

/** 500 clients with one call per second each, evenly spread. */
async function benchManyClients(perch: Perch, seconds: number): Promise<Figure[]> {
  using clients = await connectCallers(perch, CLIENT_COUNT);
  const samples = await measurePaced(
    seconds,
    1_000 / CLIENT_COUNT,
    (i) => clients[i % CLIENT_COUNT]?.call('sessions.list', { limit: 20 }) ?? Promise.reject(),
  );
  return [toFigure(`${CLIENT_COUNT} clients, each a call a second`, samples, 100)];
}

/** Latency of another client and of `/health` while clients exceed their rate limit tenfold. */
async function benchOverload(perch: Perch, seconds: number): Promise<Figure[]> {
  using owner = await SocketCaller.connect(perch.wsUrl, perch.token);
  const usual = (): Promise<number[]> => measurePaced(seconds, 20, () => owner.call('sessions.list', { limit: 20 }));
  const before = await usual();
  await owner.call('config.set', { key: 'gateway.rateLimit', value: RATE_LIMIT });
  const refused: number[] = [];
  let answered = 0;
  const calls: Promise<number[]>[] = [];
  const healthy: Promise<number[]>[] = [];
  {
    using clients = await connectCallers(perch, OVERLOADING_CLIENTS);
    await owner.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
    const everyMs = 60_000 / RATE_LIMIT.perMinute / OVERLOAD_FACTOR / OVERLOADING_CLIENTS;
    calls.push(
      measurePaced(seconds, everyMs, async (i) => {
        const startedAt = performance.now();
        const answer = await clients[i % OVERLOADING_CLIENTS]?.request(
          `{"type":"req","id":"${i}","method":"sessions.list","params":{"limit":20}}`,
        );
        if (answer?.includes('RATE_LIMITED')) refused.push(performance.now() - startedAt);
        else answered++;
      }),
    );
    healthy.push(
      measurePaced(seconds, 20, () => owner.call('health', {})),
      measurePaced(seconds, 50, () => measureHealth(perch)),
    );
    await Promise.all([...calls, ...healthy]);
  }
  const [rpc = [], http = []] = await Promise.all(healthy);
  await sleep(5_000);
  const after = await usual();
  const ratio = computePercentile(after, 0.5) / computePercentile(before, 0.5);
  return [
    toFigure('10× overload, refused', refused, 50),
    { what: '  answered of those calls', unit: '%', ours: (100 * answered) / (answered + refused.length) },
    toFigure('  health meanwhile, RPC', rpc, 250),
    toFigure('  health meanwhile, HTTP', http, 250),
    {
      what: '  a call 5 s after, p50',
      unit: 'ms',
      ours: computeMedian(after),
      floor: { name: 'before', value: computeMedian(before) },
      ratio,
      bar: toMaxBar(ratio, 1.5, '×'),
    },
  ];
}

/** Cost of other clients' calls while a reply streams, with a client that reads none of it and with one that reads it. */
async function benchStalledReader(perch: Perch, rounds: number): Promise<Figure[]> {
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
  using other = await SocketCaller.connect(perch.wsUrl, perch.token);
  const samples = async (): Promise<number[]> => {
    let done = false;
    const reply = caller
      .call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: 'bench/singles-4000' })
      .finally(() => (done = true));
    const times: number[] = [];
    while (!done) {
      const startedAt = performance.now();
      await other.call('health', {});
      times.push(performance.now() - startedAt);
    }
    await reply;
    return times;
  };
  const stalled = async (isReading: boolean): Promise<number[]> => {
    const socket = await createRawSocket(perch.url);
    socket.write(createRawFrame(1, Buffer.from(connectFrame({ auth: { token: perch.token }, events: 'all' }))));
    if (isReading) socket.resume();
    else socket.pause();
    try {
      return await samples();
    } finally {
      socket.destroy();
    }
  };
  await samples();
  const results = await measureInTurns(rounds, { reading: () => stalled(true), stalled: () => stalled(false) });
  const p99 = (name: keyof typeof results): number[] => results[name].map((took) => computePercentile(took, 0.99));
  const ratio = computeMedianRatio(p99('stalled'), p99('reading'));
  return [
    {
      what: 'a call beside a stalled reader, p99',
      unit: 'ms',
      ours: computeMedian(p99('stalled')),
      floor: { name: 'reading', value: computeMedian(p99('reading')) },
      ratio,
      bar: toMaxBar(ratio, 1.1, '×'),
    },
  ];
}

/** Three models that write as fast as possible to one client that reads. */
async function benchFloods(perch: Perch): Promise<Figure[]> {
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
  let chars = 0;
  caller.onevent = (event) => {
    if (event.startsWith('{"type":"event","event":"chat.delta"'))
      chars += (JSON.parse(event) as { payload: { delta: string } }).payload.delta.length;
  };
  const startedAt = performance.now();
  const replies = [1, 2, 3].map(() =>
    caller.call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: 'bench/flood-3000' }),
  );
  const outcomes = await Promise.allSettled(replies);
  const completedCount = outcomes.filter(({ status }) => status === 'fulfilled').length;
  return [
    { what: 'three floods to one reader, whole replies', unit: '', ours: completedCount, bar: toMinBar(completedCount, 3, '') },
    { what: '  text', unit: 'MB/s', ours: chars / 1_000 / (performance.now() - startedAt) },
  ];
}
