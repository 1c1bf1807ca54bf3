import { setTimeout as sleep } from 'node:timers/promises';
import { rawFrame, rawSocket, connectFrame } from '../../bridge/server/tests/raw-socket.ts';
import type { Perch } from '../e2e/harness.ts';
import { Caller } from './caller.ts';
import { type Child, startChild } from './child.ts';
import type { Attack } from './children/attacker.ts';
import { atLeast, atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { pacedStreams } from './paced-streams.ts';
import { inTurns, median, percentile, ratioOf } from './stats.ts';

const SILENT = { open: 2_000, perSecond: 500 };
const MANY = 500;
/** Requests that a connection may make in a minute, and how many times as many it makes here. */
const LIMIT = { perMinute: 600, burst: 100 };
const OVERLOAD = 10;
const OVERLOADING = 50;

/** Load and faults (docs/promises.md): silent sockets, slow HTTP, many clients and streams, overload, stalled readers, floods. */
export async function load({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using attacker = await startChild('attacker');
  await using perch = await startGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  const seconds = quick ? 4 : 15;
  return [
    ...(await underAttack(perch, attacker, seconds)),
    ...(await manyClients(perch, seconds)),
    ...(await pacedStreams(perch, upstream, seconds)),
    ...(await overload(perch, seconds)),
    ...(await stalledReader(perch, quick ? 3 : 9)),
    ...(await floods(perch)),
  ];
}

const row = (what: string, samples: readonly number[], limit: number, before?: readonly number[]): Figure => {
  const ours = percentile(samples, 0.99);
  return {
    what: `${what}, p99`,
    unit: 'ms',
    ours,
    ...(before && { floor: { name: 'before', value: percentile(before, 0.99) } }),
    bar: atMost(ours, limit, 'ms'),
  };
};

/** Milliseconds that each of some calls took, one every `everyMs`, whether or not those before are answered. */
async function paced(seconds: number, everyMs: number, call: (i: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  const calls: Promise<void>[] = [];
  const start = performance.now();
  for (let i = 0; performance.now() - start < seconds * 1_000; i++) {
    const due = start + i * everyMs;
    if (due > performance.now()) await sleep(due - performance.now());
    const began = performance.now();
    calls.push(call(i).then(() => void samples.push(performance.now() - began)));
  }
  await Promise.all(calls);
  return samples;
}

/** The owner comes and goes. */
async function connectOnce(perch: Perch): Promise<void> {
  using _ = await Caller.connect(perch.wsUrl, perch.token);
}

async function health(perch: Perch): Promise<void> {
  const response = await fetch(`${perch.url}/health`);
  if (!response.ok) throw new Error(`/health answered ${response.status}`);
  await response.arrayBuffer();
}

/** The owner's `connect`, and `/health`, while sockets come that say nothing, or nothing whole. */
async function underAttack(perch: Perch, attacker: Child, seconds: number): Promise<Figure[]> {
  const port = Number(new URL(perch.url).port);
  const figures: Figure[] = [];
  const before = { connect: await paced(seconds, 50, () => connectOnce(perch)), health: await paced(seconds, 50, () => health(perch)) };
  for (const [kind, what] of [
    ['silent', `connect with ${SILENT.open} silent sockets and ${SILENT.perSecond} new a second`],
    ['heads', `health with ${SILENT.open} slow heads and ${SILENT.perSecond} new a second`],
  ] as const) {
    const filled = attacker.message(isFilled);
    attacker.process.send({ kind, port, ...SILENT } satisfies Attack);
    await filled;
    const call = kind === 'silent' ? connectOnce : health;
    const samples = await paced(seconds, 50, () => call(perch));
    const ended = attacker.message(isEnded);
    attacker.process.send({ stop: true });
    const { opened } = await ended;
    figures.push(row(what, samples, kind === 'silent' ? 100 : 250, kind === 'silent' ? before.connect : before.health));
    figures.push({ what: '  opened by the attacker', unit: '', ours: opened });
  }
  return figures;
}

const isFilled = (message: unknown): message is { filled: number } =>
  typeof message === 'object' && message !== null && 'filled' in message;
const isEnded = (message: unknown): message is { opened: number } => typeof message === 'object' && message !== null && 'opened' in message;

async function callers(perch: Perch, count: number): Promise<Caller[] & Disposable> {
  const made: Caller[] = [];
  while (made.length < count)
    made.push(
      ...(await Promise.all(Array.from({ length: Math.min(50, count - made.length) }, () => Caller.connect(perch.wsUrl, perch.token)))),
    );
  return Object.assign(made, {
    [Symbol.dispose]: () => {
      for (const caller of made) caller[Symbol.dispose]();
    },
  });
}

/** 500 clients, each a call a second, evenly spread. */
async function manyClients(perch: Perch, seconds: number): Promise<Figure[]> {
  using clients = await callers(perch, MANY);
  const samples = await paced(seconds, 1_000 / MANY, (i) => clients[i % MANY]?.call('sessions.list', { limit: 20 }) ?? Promise.reject());
  return [row(`${MANY} clients, each a call a second`, samples, 100)];
}

/** Clients that call ten times as often as they may, while another calls and `/health` is asked. */
async function overload(perch: Perch, seconds: number): Promise<Figure[]> {
  using owner = await Caller.connect(perch.wsUrl, perch.token);
  const usual = (): Promise<number[]> => paced(seconds, 20, () => owner.call('sessions.list', { limit: 20 }));
  const before = await usual();
  await owner.call('config.set', { key: 'gateway.rateLimit', value: LIMIT });
  const refused: number[] = [];
  let answered = 0;
  const calls: Promise<number[]>[] = [];
  const healthy: Promise<number[]>[] = [];
  {
    using clients = await callers(perch, OVERLOADING);
    await owner.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
    const everyMs = 60_000 / LIMIT.perMinute / OVERLOAD / OVERLOADING;
    calls.push(
      paced(seconds, everyMs, async (i) => {
        const began = performance.now();
        const answer = await clients[i % OVERLOADING]?.ask(`{"type":"req","id":"${i}","method":"sessions.list","params":{"limit":20}}`);
        if (answer?.includes('RATE_LIMITED')) refused.push(performance.now() - began);
        else answered++;
      }),
    );
    healthy.push(
      paced(seconds, 20, () => owner.call('health', {})),
      paced(seconds, 50, () => health(perch)),
    );
    await Promise.all([...calls, ...healthy]);
  }
  const [rpc = [], http = []] = await Promise.all(healthy);
  await sleep(5_000);
  const after = await usual();
  const ratio = percentile(after, 0.5) / percentile(before, 0.5);
  return [
    row('10× overload, refused', refused, 50),
    { what: '  answered of those calls', unit: '%', ours: (100 * answered) / (answered + refused.length) },
    row('  health meanwhile, RPC', rpc, 250),
    row('  health meanwhile, HTTP', http, 250),
    {
      what: '  a call 5 s after, p50',
      unit: 'ms',
      ours: median(after),
      floor: { name: 'before', value: median(before) },
      ratio,
      bar: atMost(ratio, 1.5, '×'),
    },
  ];
}

/** Cost of other clients' calls while a reply streams, with a client that reads none of it and with one that reads it. */
async function stalledReader(perch: Perch, rounds: number): Promise<Figure[]> {
  using caller = await Caller.connect(perch.wsUrl, perch.token);
  using other = await Caller.connect(perch.wsUrl, perch.token);
  const samples = async (): Promise<number[]> => {
    let done = false;
    const reply = caller
      .call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: 'bench/singles-4000' })
      .finally(() => (done = true));
    const took: number[] = [];
    while (!done) {
      const began = performance.now();
      await other.call('health', {});
      took.push(performance.now() - began);
    }
    await reply;
    return took;
  };
  const stalled = async (isReading: boolean): Promise<number[]> => {
    const socket = await rawSocket(perch.url);
    socket.write(rawFrame(1, Buffer.from(connectFrame({ auth: { token: perch.token }, events: 'all' }))));
    if (isReading) socket.resume();
    else socket.pause();
    try {
      return await samples();
    } finally {
      socket.destroy();
    }
  };
  await samples();
  const results = await inTurns(rounds, { reading: () => stalled(true), stalled: () => stalled(false) });
  const p99 = (name: keyof typeof results): number[] => results[name].map((took) => percentile(took, 0.99));
  const ratio = ratioOf(p99('stalled'), p99('reading'));
  return [
    {
      what: 'a call beside a stalled reader, p99',
      unit: 'ms',
      ours: median(p99('stalled')),
      floor: { name: 'reading', value: median(p99('reading')) },
      ratio,
      bar: atMost(ratio, 1.1, '×'),
    },
  ];
}

/** Three models that write as fast as they can, to one client that reads. */
async function floods(perch: Perch): Promise<Figure[]> {
  using caller = await Caller.connect(perch.wsUrl, perch.token);
  let chars = 0;
  caller.onevent = (event) => {
    if (event.startsWith('{"type":"event","event":"chat.delta"'))
      chars += (JSON.parse(event) as { payload: { delta: string } }).payload.delta.length;
  };
  const began = performance.now();
  const replies = [1, 2, 3].map(() =>
    caller.call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: 'bench/flood-3000' }),
  );
  const outcomes = await Promise.allSettled(replies);
  const whole = outcomes.filter(({ status }) => status === 'fulfilled').length;
  return [
    { what: 'three floods to one reader, whole replies', unit: '', ours: whole, bar: atLeast(whole, 3, '') },
    { what: '  text', unit: 'MB/s', ours: chars / 1_000 / (performance.now() - began) },
  ];
}
