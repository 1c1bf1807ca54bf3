import { once } from 'node:events';
import { WebSocket } from 'ws';
import { launchBrowser } from '../e2e/browser.ts';
import { Caller } from './caller.ts';
import { type Child, startChild } from './child.ts';
import { atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { inTurns, median, monotonic, percentile, ratioOf } from './stats.ts';

const MANY = 10_000;
const FEW = 20;

interface Streamed {
  /** Deltas in a second, from the first to the last. */
  rate: number;
  /** When the first came. */
  firstAt: number;
  /** Frames that carried them: a link that fills up merges some. */
  frames: number;
}

/** 10,000 deltas from a local model server to an outside client; then how long a first delta takes. */
export async function deltas({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using pipe = await startChild('pipe');
  await using browser = await launchBrowser();
  await browser.page(`http://127.0.0.1:${pipe.port}/`);
  await using perch = await startGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  using caller = await Caller.connect(perch.wsUrl, perch.token);

  const url = `http://127.0.0.1:${upstream.port}/v1/chat/completions`;
  const floor = new WebSocket(`ws://127.0.0.1:${pipe.port}/stream`, { perMessageDeflate: false });
  await once(floor, 'message');

  await stream(caller, MANY);
  await piped(floor, MANY);
  const runs = await inTurns(quick ? 3 : 7, {
    ours: () => stream(caller, MANY),
    piped: () => piped(floor, MANY),
    direct: () => direct(url, MANY),
  });
  floor.terminate();

  const first: number[] = [];
  const firstDirect: number[] = [];
  for (let i = 0; i < (quick ? 30 : 200); i++) {
    first.push(await sinceUpstream(upstream, () => stream(caller, FEW)));
    firstDirect.push(await sinceUpstream(upstream, () => direct(url, FEW)));
  }

  const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
  const what = `${MANY.toLocaleString('en')} deltas, rate`;
  return [
    {
      what,
      unit: '/s',
      ours: median(rates('ours')),
      floor: { name: 'pipe', value: median(rates('piped')) },
      ratio: ratioOf(rates('ours'), rates('piped')),
    },
    {
      what: '  by the upstream itself',
      unit: '/s',
      ours: median(rates('ours')),
      floor: { name: 'direct', value: median(rates('direct')) },
      ratio: ratioOf(rates('ours'), rates('direct')),
    },
    { what: '  frames that carried them', unit: '', ours: median(runs.ours.map(({ frames }) => frames)) },
    {
      what: "first delta after the upstream's first byte, p50",
      unit: 'ms',
      ours: median(first),
      floor: { name: 'direct', value: median(firstDirect) },
      bar: atMost(median(first), 5, 'ms'),
    },
    { what: '  p99', unit: 'ms', ours: percentile(first, 0.99), floor: { name: 'direct', value: percentile(firstDirect, 0.99) } },
  ];
}

const isFirstByte = (message: unknown): message is { count: number; at: number } =>
  typeof message === 'object' && message !== null && 'count' in message && message.count === FEW;

/** Milliseconds from the upstream's first byte to the first delta. */
async function sinceUpstream(upstream: Child, run: () => Promise<Streamed>): Promise<number> {
  const firstByte = upstream.message(isFirstByte);
  const { firstAt } = await run();
  return firstAt - (await firstByte).at;
}

/** One run of the gateway, its deltas checked to be all there and in order. */
async function stream(caller: Caller, count: number): Promise<Streamed> {
  let text = '';
  let frames = 0;
  let firstAt = 0;
  let lastAt = 0;
  caller.onevent = (event) => {
    if (!event.startsWith('{"type":"event","event":"chat.delta"')) return;
    const { payload } = JSON.parse(event) as { payload: { delta: string; offset: number } };
    if (payload.offset !== text.length) throw new Error(`a delta is at ${payload.offset}, not at ${text.length}`);
    lastAt = monotonic();
    if (frames++ === 0) firstAt = lastAt;
    text += payload.delta;
  };
  await caller.call('chat.send', { message: 'go', sessionId: crypto.randomUUID(), model: `bench/deltas-${count}` });
  const expected = [...Array(count).keys()].map((i) => `w${i} `).join('');
  if (text !== expected) throw new Error(`${text.length} characters came of ${expected.length}`);
  return { rate: (count / (lastAt - firstAt)) * 1000, firstAt, frames };
}

/** As many frames of the same size from the floor's worker, which makes nothing of them. */
async function piped(socket: WebSocket, count: number): Promise<Streamed> {
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
    if (frames++ === 0) firstAt = monotonic();
    if (frames === count) all.resolve();
  };
  socket.on('message', onmessage);
  socket.send(`stream:${count}:${frame}`);
  await all.promise;
  socket.off('message', onmessage);
  return { rate: (count / (monotonic() - firstAt)) * 1000, firstAt, frames };
}

/** Rate at which the upstream itself delivers to a reader that only stores the text. */
async function direct(url: string, count: number): Promise<Streamed> {
  const body = JSON.stringify({ model: `deltas-${count}`, stream: true, messages: [{ role: 'user', content: 'go' }] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!response.body) throw new Error('the upstream sent nothing');
  let firstAt = 0;
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    if (firstAt === 0) firstAt = monotonic();
    text += decoder.decode(chunk, { stream: true });
  }
  const lastAt = monotonic();
  // Beside the deltas: the role, the finish, and the end.
  const events = text.split('\n\n').length - 1;
  if (events !== count + 3) throw new Error(`${events} events came from the upstream`);
  return { rate: (count / (lastAt - firstAt)) * 1000, firstAt, frames: events };
}
