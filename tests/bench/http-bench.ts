import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type BenchProcess, startChild } from './child-process.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { startPeer } from './peer-gateway.ts';
import {
  measureConcurrent,
  measureInTurns,
  type LoadResult,
  computeMedian,
  getMonotonicTime,
  computePercentile,
  computeMedianRatio,
} from './stats.ts';

const CALLER_COUNT = [1, 16, 64];
/** Number of deltas of a stream, and of concurrent callers that request such streams. */
const STREAMS = [
  [200, 1],
  [200, 16],
  [200, 64],
  [1000, 1],
  [1000, 16],
] as const;
/** Requests by the peer's rate: with one caller a request's own way counts most, and is nearly that of any proxy. */
const MIN_PEER_RATIO_ALONE = 2;
const MIN_PEER_RATIO = 3;
/** Requests by the upstream's own rate. */
const MIN_STREAMED_RATIO = 0.4;
const SHORT_STREAM_DELTAS = 20;
/** Ways to write a stream: a hundred deltas at once, one per write, or one per packet. */
export const STREAM_KINDS = { deltas: 'deltas, a hundred a write', writes: 'deltas, each a write', singles: 'deltas one by one' } as const;
type StreamKind = keyof typeof STREAM_KINDS;

/** An endpoint for completions. */
export interface CompletionTarget {
  url: string;
  headers?: Record<string, string>;
  model: (name: string) => string;
}

/** `/v1/chat/completions` of `<provider>/<model>`, compared with the upstream itself and a well-known gateway in Node. */
export async function benchHttp({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using peer = await startPeer(upstream.port);
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  const targets: Record<'direct' | 'peer' | 'ours', CompletionTarget> = {
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
  for (const callers of CALLER_COUNT) {
    const count = (quick ? 200 : 600) * (callers === 1 ? 1 : 3);
    const load = (target: CompletionTarget) => requestCompletions(target, callers, count);
    await Promise.all(Object.values(targets).map((target) => requestCompletions(target, callers, count)));
    const runs = await measureInTurns(rounds, {
      direct: () => load(targets.direct),
      peer: () => load(targets.peer),
      ours: () => load(targets.ours),
    });
    figures.push(...benchUnstreamed(callers, runs));
  }
  for (const kind of Object.keys(STREAM_KINDS) as StreamKind[]) {
    for (const [deltas, callers] of STREAMS) {
      const count = Math.ceil(((quick ? 20 : 100) * (callers === 1 ? 1 : 3) * 200) / deltas);
      const load = (target: CompletionTarget): Promise<LoadResult> => requestStreams(target, `${kind}-${deltas}`, callers, count);
      await load(targets.ours);
      const runs = await measureInTurns(rounds, { direct: () => load(targets.direct), ours: () => load(targets.ours) });
      figures.push(...benchAgainstUpstream(`${deltas} ${STREAM_KINDS[kind]}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`, runs));
    }
  }
  const firsts = await measureInTurns(quick ? 30 : 200, {
    direct: () => measureFirstByte(upstream, targets.direct),
    ours: () => measureFirstByte(upstream, targets.ours),
  });
  figures.push({
    what: "/v1 streamed, first event after the upstream's first byte, p50",
    unit: 'ms',
    ours: computeMedian(firsts.ours),
    floor: { name: 'direct', value: computeMedian(firsts.direct) },
    bar: toMaxBar(computeMedian(firsts.ours), 5, 'ms'),
  });
  for (const [model, when] of [
    ['never', 'before the answer'],
    ['first', 'within a stream'],
  ] as const) {
    const times = await measureInTurns(quick ? 20 : 100, {
      direct: () => measureHangUp(upstream, targets.direct, model),
      ours: () => measureHangUp(upstream, targets.ours, model),
    });
    const p99 = computePercentile(times.ours, 0.99);
    figures.push(
      {
        what: `/v1, hang-up ${when} until the upstream sees it, p50`,
        unit: 'ms',
        ours: computeMedian(times.ours),
        floor: { name: 'direct', value: computeMedian(times.direct) },
      },
      {
        what: '  p99',
        unit: 'ms',
        ours: p99,
        floor: { name: 'direct', value: computePercentile(times.direct, 0.99) },
        bar: toMaxBar(p99, 100, 'ms'),
      },
    );
  }
  return figures;
}

const isWaiting = (message: unknown): message is object => typeof message === 'object' && message !== null && 'waits' in message;
const hasHungUp = (message: unknown): message is { leftAt: number } =>
  typeof message === 'object' && message !== null && 'leftAt' in message;

/** Measures the milliseconds from when the caller closes its socket until the upstream's is closed. */
async function measureHangUp(upstream: BenchProcess, { url, headers, model }: CompletionTarget, name: 'never' | 'first'): Promise<number> {
  const waiting = upstream.message(isWaiting);
  const upstreamClosed = upstream.message(hasHungUp);
  const stream = name === 'first';
  const body = JSON.stringify({ model: model(name), stream, messages: [{ role: 'user', content: 'go' }] });
  const call = request(url, { method: 'POST', agent: false, headers: { 'content-type': 'application/json', ...headers } });
  call.on('error', () => {});
  const firstByteSent = stream ? once(call, 'response').then(([response]) => once(response as IncomingMessage, 'data')) : undefined;
  call.end(body);
  await Promise.all([waiting, firstByteSent]);
  const at = getMonotonicTime();
  call.destroy();
  return (await upstreamClosed).leftAt - at;
}

const isFirstByte = (message: unknown): message is { count: number; at: number } =>
  typeof message === 'object' && message !== null && 'count' in message && message.count === SHORT_STREAM_DELTAS;

/** Measures the milliseconds from the upstream's first byte to the caller's. */
async function measureFirstByte(upstream: BenchProcess, { url, headers, model }: CompletionTarget): Promise<number> {
  const firstByte = upstream.message(isFirstByte);
  const body = JSON.stringify({ model: model(`deltas-${SHORT_STREAM_DELTAS}`), stream: true, messages: [{ role: 'user', content: 'go' }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const reader = response.body?.getReader();
  await reader?.read();
  const at = getMonotonicTime();
  while (reader && !(await reader.read()).done);
  return at - (await firstByte).at;
}

function benchUnstreamed(callers: number, runs: Record<'direct' | 'peer' | 'ours', LoadResult[]>): Figure[] {
  const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
  const at = (name: keyof typeof runs, share: number): number[] => runs[name].map(({ samples }) => computePercentile(samples, share));
  const added = (name: keyof typeof runs, share: number): number[] =>
    at(name, share).map((value, round) => value - (at('direct', share)[round] ?? NaN));
  const [ours, peer] = [added('ours', 0.5), added('peer', 0.5)];
  const ratio = computeMedianRatio(rates('ours'), rates('peer'));
  const slower = computeMedianRatio(ours, peer);
  const label = `/v1, ${callers} ${callers === 1 ? 'caller' : 'callers'}`;
  return [
    {
      what: `${label}, requests`,
      unit: '/s',
      ours: computeMedian(rates('ours')),
      floor: { name: 'peer', value: computeMedian(rates('peer')) },
      ratio,
      bar: toMinBar(ratio, callers === 1 ? MIN_PEER_RATIO_ALONE : MIN_PEER_RATIO, '×'),
    },
    {
      what: '  by the upstream itself',
      unit: '/s',
      ours: computeMedian(rates('ours')),
      floor: { name: 'direct', value: computeMedian(rates('direct')) },
      ratio: computeMedianRatio(rates('ours'), rates('direct')),
    },
    {
      what: '  added p50',
      unit: 'ms',
      ours: computeMedian(ours),
      floor: { name: 'peer', value: computeMedian(peer) },
      ratio: slower,
      bar: toMaxBar(slower, 1, '×'),
    },
    {
      what: '  added p99',
      unit: 'ms',
      ours: computeMedian(added('ours', 0.99)),
      floor: { name: 'peer', value: computeMedian(added('peer', 0.99)) },
    },
  ];
}

function benchAgainstUpstream(what: string, runs: Record<'direct' | 'ours', LoadResult[]>): Figure[] {
  const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
  const p50 = (name: keyof typeof runs): number[] => runs[name].map(({ samples }) => computeMedian(samples));
  const [ours, direct] = [rates('ours'), rates('direct')];
  const ratio = computeMedianRatio(ours, direct);
  return [
    {
      what: `/v1 streamed, ${what}, requests`,
      unit: '/s',
      ours: computeMedian(ours),
      floor: { name: 'direct', value: computeMedian(direct) },
      ratio,
      bar: toMinBar(ratio, MIN_STREAMED_RATIO, '×'),
    },
    {
      what: '  whole answer, p50',
      unit: 'ms',
      ours: computeMedian(p50('ours')),
      floor: { name: 'direct', value: computeMedian(p50('direct')) },
      ratio: computeMedianRatio(p50('ours'), p50('direct')),
    },
  ];
}

export async function requestCompletions(target: CompletionTarget, callers: number, count: number): Promise<LoadResult> {
  const body = Buffer.from(
    JSON.stringify({ model: target.model('whole'), messages: [{ role: 'user', content: 'Say something about a fox.' }] }),
  );
  return runCallers(target, body, callers, count, (text) => text.includes('quick brown fox'));
}

/** `name`: the upstream's model, which ends with the number of deltas. */
export async function requestStreams(target: CompletionTarget, name: string, callers: number, count: number): Promise<LoadResult> {
  const body = Buffer.from(JSON.stringify({ model: target.model(name), stream: true, messages: [{ role: 'user', content: 'go' }] }));
  const last = `"w${Number(name.slice(name.lastIndexOf('-') + 1)) - 1} "`;
  return runCallers(target, body, callers, count, (text) => text.includes(last) && END.test(text));
}

const END = /data: (?:\[DONE\]|\{"type":"message_stop"\})\n\n$/;

/** Runs callers over kept-alive connections, like a client library. Reads and checks every answer. */
async function runCallers(
  { url, headers }: CompletionTarget,
  body: Buffer,
  callers: number,
  count: number,
  isRight: (text: string) => boolean,
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const options = { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': body.byteLength, ...headers } };
  const sendNext = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const outgoing = request(url, options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200 && isRight(text)) resolve();
          else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 300)}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  try {
    return await measureConcurrent(
      count,
      Array.from({ length: callers }, () => sendNext),
    );
  } finally {
    agent.destroy();
  }
}
