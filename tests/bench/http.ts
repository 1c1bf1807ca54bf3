import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type Child, startChild } from './child.ts';
import { atLeast, atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { startPeer } from './peer.ts';
import { concurrent, inTurns, type Load, median, monotonic, percentile, ratioOf } from './stats.ts';

const CALLERS = [1, 16, 64];
/** Deltas of a stream, and by how many callers at once such streams are asked for. */
const STREAMS = [
  [200, 1],
  [200, 16],
  [200, 64],
  [1000, 1],
  [1000, 16],
] as const;
/** By the upstream's own rate. */
const STREAMED_LEAST = 0.4;
const FEW = 20;
/** How a stream is written: a hundred deltas at once, one per write, or one per packet. */
export const KINDS = { deltas: 'deltas, a hundred a write', writes: 'deltas, each a write', singles: 'deltas one by one' } as const;
type Kind = keyof typeof KINDS;

/** An endpoint for completions. */
export interface Target {
  url: string;
  headers?: Record<string, string>;
  model: (name: string) => string;
}

/** `/v1/chat/completions` of `<provider>/<model>`, compared with the upstream itself and the well-known gateway in Node. */
export async function http({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using peer = await startPeer(upstream.port);
  await using perch = await startGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  const targets: Record<'direct' | 'peer' | 'ours', Target> = {
    direct: { url: `http://127.0.0.1:${upstream.port}/v1/chat/completions`, model: (name) => name },
    peer: { url: peer.url, headers: peer.headers, model: (name) => name },
    ours: {
      url: `${perch.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${perch.token}` },
      model: (name) => `bench/${name}`,
    },
  };
  const rounds = quick ? 3 : 7;
  const figures: Figure[] = [];
  for (const callers of CALLERS) {
    const count = (quick ? 200 : 600) * (callers === 1 ? 1 : 3);
    const load = (target: Target) => whole(target, callers, count);
    await Promise.all(Object.values(targets).map((target) => whole(target, callers, count)));
    const runs = await inTurns(rounds, {
      direct: () => load(targets.direct),
      peer: () => load(targets.peer),
      ours: () => load(targets.ours),
    });
    figures.push(...notStreamed(callers, runs));
  }
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for (const [deltas, callers] of STREAMS) {
      const count = Math.ceil(((quick ? 20 : 100) * (callers === 1 ? 1 : 3) * 200) / deltas);
      const load = (target: Target): Promise<Load> => streamed(target, `${kind}-${deltas}`, callers, count);
      await load(targets.ours);
      const runs = await inTurns(rounds, { direct: () => load(targets.direct), ours: () => load(targets.ours) });
      figures.push(...besideDirect(`${deltas} ${KINDS[kind]}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`, runs));
    }
  }
  const firsts = await inTurns(quick ? 30 : 200, {
    direct: () => sinceUpstream(upstream, targets.direct),
    ours: () => sinceUpstream(upstream, targets.ours),
  });
  figures.push({
    what: "/v1 streamed, first event after the upstream's first byte, p50",
    unit: 'ms',
    ours: median(firsts.ours),
    floor: { name: 'direct', value: median(firsts.direct) },
    bar: atMost(median(firsts.ours), 5, 'ms'),
  });
  for (const [model, when] of [
    ['never', 'before the answer'],
    ['first', 'within a stream'],
  ] as const) {
    const took = await inTurns(quick ? 20 : 100, {
      direct: () => hangUp(upstream, targets.direct, model),
      ours: () => hangUp(upstream, targets.ours, model),
    });
    const p99 = percentile(took.ours, 0.99);
    figures.push(
      {
        what: `/v1, hang-up ${when} until the upstream sees it, p50`,
        unit: 'ms',
        ours: median(took.ours),
        floor: { name: 'direct', value: median(took.direct) },
      },
      {
        what: '  p99',
        unit: 'ms',
        ours: p99,
        floor: { name: 'direct', value: percentile(took.direct, 0.99) },
        bar: atMost(p99, 100, 'ms'),
      },
    );
  }
  return figures;
}

const waits = (message: unknown): message is object => typeof message === 'object' && message !== null && 'waits' in message;
const hasLeft = (message: unknown): message is { leftAt: number } => typeof message === 'object' && message !== null && 'leftAt' in message;

/** Milliseconds from the caller's closing of its socket until the upstream sees its own closed. */
async function hangUp(upstream: Child, { url, headers, model }: Target, name: 'never' | 'first'): Promise<number> {
  const asked = upstream.message(waits);
  const left = upstream.message(hasLeft);
  const stream = name === 'first';
  const body = JSON.stringify({ model: model(name), stream, messages: [{ role: 'user', content: 'go' }] });
  const call = request(url, { method: 'POST', agent: false, headers: { 'content-type': 'application/json', ...headers } });
  call.on('error', () => {});
  const begun = stream ? once(call, 'response').then(([response]) => once(response as IncomingMessage, 'data')) : undefined;
  call.end(body);
  await Promise.all([asked, begun]);
  const at = monotonic();
  call.destroy();
  return (await left).leftAt - at;
}

const isFirstByte = (message: unknown): message is { count: number; at: number } =>
  typeof message === 'object' && message !== null && 'count' in message && message.count === FEW;

/** Milliseconds from the upstream's first byte to the first that its caller gets. */
async function sinceUpstream(upstream: Child, { url, headers, model }: Target): Promise<number> {
  const firstByte = upstream.message(isFirstByte);
  const body = JSON.stringify({ model: model(`deltas-${FEW}`), stream: true, messages: [{ role: 'user', content: 'go' }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const reader = response.body?.getReader();
  await reader?.read();
  const at = monotonic();
  while (reader && !(await reader.read()).done);
  return at - (await firstByte).at;
}

function notStreamed(callers: number, runs: Record<'direct' | 'peer' | 'ours', Load[]>): Figure[] {
  const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
  const at = (name: keyof typeof runs, share: number): number[] => runs[name].map(({ samples }) => percentile(samples, share));
  const added = (name: keyof typeof runs, share: number): number[] =>
    at(name, share).map((value, round) => value - (at('direct', share)[round] ?? NaN));
  const [ours, peer] = [added('ours', 0.5), added('peer', 0.5)];
  const ratio = ratioOf(rates('ours'), rates('peer'));
  const slower = ratioOf(ours, peer);
  const who = `/v1, ${callers} ${callers === 1 ? 'caller' : 'callers'}`;
  return [
    {
      what: `${who}, requests`,
      unit: '/s',
      ours: median(rates('ours')),
      floor: { name: 'peer', value: median(rates('peer')) },
      ratio,
      bar: atLeast(ratio, 3, '×'),
    },
    {
      what: '  by the upstream itself',
      unit: '/s',
      ours: median(rates('ours')),
      floor: { name: 'direct', value: median(rates('direct')) },
      ratio: ratioOf(rates('ours'), rates('direct')),
    },
    {
      what: '  added p50',
      unit: 'ms',
      ours: median(ours),
      floor: { name: 'peer', value: median(peer) },
      ratio: slower,
      bar: atMost(slower, 1, '×'),
    },
    { what: '  added p99', unit: 'ms', ours: median(added('ours', 0.99)), floor: { name: 'peer', value: median(added('peer', 0.99)) } },
  ];
}

function besideDirect(what: string, runs: Record<'direct' | 'ours', Load[]>): Figure[] {
  const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
  const p50 = (name: keyof typeof runs): number[] => runs[name].map(({ samples }) => median(samples));
  const [ours, direct] = [rates('ours'), rates('direct')];
  const ratio = ratioOf(ours, direct);
  return [
    {
      what: `/v1 streamed, ${what}, requests`,
      unit: '/s',
      ours: median(ours),
      floor: { name: 'direct', value: median(direct) },
      ratio,
      bar: atLeast(ratio, STREAMED_LEAST, '×'),
    },
    {
      what: '  whole answer, p50',
      unit: 'ms',
      ours: median(p50('ours')),
      floor: { name: 'direct', value: median(p50('direct')) },
      ratio: ratioOf(p50('ours'), p50('direct')),
    },
  ];
}

export async function whole(target: Target, callers: number, count: number): Promise<Load> {
  const body = Buffer.from(
    JSON.stringify({ model: target.model('whole'), messages: [{ role: 'user', content: 'Say something about a fox.' }] }),
  );
  return run(target, body, callers, count, (text) => text.includes('quick brown fox'));
}

/** `name`: of the upstream's model, with the number of its deltas at the end. */
export async function streamed(target: Target, name: string, callers: number, count: number): Promise<Load> {
  const body = Buffer.from(JSON.stringify({ model: target.model(name), stream: true, messages: [{ role: 'user', content: 'go' }] }));
  const last = `"w${Number(name.slice(name.lastIndexOf('-') + 1)) - 1} "`;
  return run(target, body, callers, count, (text) => text.includes(last) && END.test(text));
}

const END = /data: (?:\[DONE\]|\{"type":"message_stop"\})\n\n$/;

/** Callers over connections that stay open, as a client library keeps them; every answer is read to its end and checked. */
async function run(
  { url, headers }: Target,
  body: Buffer,
  callers: number,
  count: number,
  isRight: (text: string) => boolean,
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const options = { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': body.byteLength, ...headers } };
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const asked = request(url, options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200 && isRight(text)) resolve();
          else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 300)}`));
        });
      });
      asked.on('error', reject);
      asked.end(body);
    });
  try {
    return await concurrent(
      count,
      Array.from({ length: callers }, () => ask),
    );
  } finally {
    agent.destroy();
  }
}
