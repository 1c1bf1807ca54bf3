import { once } from 'node:events';
import { WebSocket } from 'ws';
import { launchBrowser } from '../e2e/test-browser.ts';
import { SocketCaller } from './caller.ts';
import { type BenchProcess, startChild } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { measureInTurns, computeMedian, getMonotonicTime, computePercentile, computeMedianRatio } from './stats.ts';

const LONG_RUN_DELTAS = 10_000;
const SHORT_RUN_DELTAS = 20;

interface StreamResult {
  /** Deltas per second, from the first to the last. */
  rate: number;
  /** When the first came. */
  firstAt: number;
  /** Number of frames: a link that fills up merges deltas. */
  frames: number;
}

/** 10,000 deltas from a local model server to an outside client; then the latency of the first delta. */
export async function benchDeltas({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using pipe = await startChild('pipe');
  await using browser = await launchBrowser();
  await browser.page(`http://127.0.0.1:${pipe.port}/`);
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);

  const url = `http://127.0.0.1:${upstream.port}/v1/chat/completions`;
  const pipeSocket = new WebSocket(`ws://127.0.0.1:${pipe.port}/stream`, { perMessageDeflate: false });
  await once(pipeSocket, 'message');

  await streamRun(caller, LONG_RUN_DELTAS);
  await measurePipe(pipeSocket, LONG_RUN_DELTAS);
  const runs = await measureInTurns(quick ? 3 : 7, {
    ours: () => streamRun(caller, LONG_RUN_DELTAS),
    piped: () => measurePipe(pipeSocket, LONG_RUN_DELTAS),
    direct: () => measureUpstream(url, LONG_RUN_DELTAS),
  });
  pipeSocket.terminate();

  const first: number[] = [];
  const firstDirect: number[] = [];
  for (let i = 0; i < (quick ? 30 : 200); i++) {
    first.push(await measureFirstDelta(upstream, () => streamRun(caller, SHORT_RUN_DELTAS)));
    firstDirect.push(await measureFirstDelta(upstream, () => measureUpstream(url, SHORT_RUN_DELTAS)));
  }

  const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
  const label = `${LONG_RUN_DELTAS.toLocaleString('en')} deltas, rate`;
  return [
    {
      what: label,
      unit: '/s',
      ours: computeMedian(rates('ours')),
      floor: { name: 'pipe', value: computeMedian(rates('piped')) },
      ratio: computeMedianRatio(rates('ours'), rates('piped')),
    },
    {
      what: '  by the upstream itself',
      unit: '/s',
      ours: computeMedian(rates('ours')),
      floor: { name: 'direct', value: computeMedian(rates('direct')) },
      ratio: computeMedianRatio(rates('ours'), rates('direct')),
    },
    { what: '  frames that carried them', unit: '', ours: computeMedian(runs.ours.map(({ frames }) => frames)) },
    {
      what: "first delta after the upstream's first byte, p50",
      unit: 'ms',
      ours: computeMedian(first),
      floor: { name: 'direct', value: computeMedian(firstDirect) },
      bar: toMaxBar(computeMedian(first), 5, 'ms'),
    },
    {
      what: '  p99',
      unit: 'ms',
      ours: computePercentile(first, 0.99),
      floor: { name: 'direct', value: computePercentile(firstDirect, 0.99) },
    },
  ];
}

const isFirstByte = (message: unknown): message is { count: number; at: number } =>
  typeof message === 'object' && message !== null && 'count' in message && message.count === SHORT_RUN_DELTAS;

/** Measures the milliseconds from the upstream's first byte to the first delta. */
async function measureFirstDelta(upstream: BenchProcess, run: () => Promise<StreamResult>): Promise<number> {
  const firstByte = upstream.message(isFirstByte);
  const { firstAt } = await run();
  return firstAt - (await firstByte).at;
}

/** Runs the gateway once and checks that all deltas arrive in order. */
async function streamRun(caller: SocketCaller, count: number): Promise<StreamResult> {
  let text = '';
  let frames = 0;
  let firstAt = 0;
  let lastAt = 0;
  caller.onevent = (event) => {
    if (!event.startsWith('{"type":"event","event":"chat.delta"')) return;
    const { payload } = JSON.parse(event) as { payload: { delta: string; offset: number } };
    if (payload.offset !== text.length) throw new Error(`a delta is at ${payload.offset}, not at ${text.length}`);
    lastAt = getMonotonicTime();
    if (frames++ === 0) firstAt = lastAt;
    text += payload.delta;
  };
  await caller.call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: `bench/deltas-${count}` });
  const expected = [...Array(count).keys()].map((i) => `w${i} `).join('');
  if (text !== expected) throw new Error(`${text.length} characters came of ${expected.length}`);
  return { rate: (count / (lastAt - firstAt)) * 1000, firstAt, frames };
}

/** The same number of frames of the same size from the baseline's worker, which doesn't parse them. */
async function measurePipe(socket: WebSocket, count: number): Promise<StreamResult> {
  const payload = {
    sessionId: crypto.randomUUID(),
    agentId: 'main',
    runId: crypto.randomUUID(),
    delta: 'w5000 ',
    role: 'assistant',
    offset: 32_000,
  };
  const frame = JSON.stringify({ type: 'event', event: 'chat.delta', seq: 5000, payload }).replaceAll(':', ';');
  const all = Promise.withResolvers<void>();
  let frames = 0;
  let firstAt = 0;
  const onmessage = (): void => {
    if (frames++ === 0) firstAt = getMonotonicTime();
    if (frames === count) all.resolve();
  };
  socket.on('message', onmessage);
  socket.send(`stream:${count}:${frame}`);
  await all.promise;
  socket.off('message', onmessage);
  return { rate: (count / (getMonotonicTime() - firstAt)) * 1000, firstAt, frames };
}

/** Measures the upstream's own rate to a reader that only stores the text. */
async function measureUpstream(url: string, count: number): Promise<StreamResult> {
  const body = JSON.stringify({ model: `deltas-${count}`, stream: true, messages: [{ role: 'user', content: 'go' }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!response.body) throw new Error('the upstream sent nothing');
  let firstAt = 0;
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    if (firstAt === 0) firstAt = getMonotonicTime();
    text += decoder.decode(chunk, { stream: true });
  }
  const lastAt = getMonotonicTime();
  // In addition to the deltas: the role, the finish reason, and the end.
  const events = text.split('\n\n').length - 1;
  if (events !== count + 3) throw new Error(`${events} events came from the upstream`);
  return { rate: (count / (lastAt - firstAt)) * 1000, firstAt, frames: events };
}
