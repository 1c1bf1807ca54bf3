import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVersion } from '../../bridge/journal/fixture.ts';
import type { VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { openCluster } from '../../bridge/sync/cluster-connection.ts';
import { RecordSeal } from '../../bridge/sync/record-seal.ts';
import { startMachine, type TestMachine, createSettings } from '../../bridge/sync/tests/test-machine.ts';
import { hasNats, createNatsServer } from '../../bridge/sync/tests/nats-server.ts';
import { startThreeNodes } from '../../bridge/sync/tests/three-nodes.ts';
import { waitFor } from '../support/test-gateway.ts';
import { SocketCaller } from './caller.ts';
import { startChild } from './child-process.ts';
import type { Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { findDescendants, measureGatewayMemory, listProcesses, readPss } from './process-memory.ts';

/** On Linux, utime and stime are counted in hundredths of a second. */
const TICK_MS = 10;
const CALLER_COUNT = 16;
const MINUTES = 5 * 60_000;
const createKey = (): string => randomBytes(32).toString('base64url');

/**
 * Marginal cost of each unit (docs/scale.md): a call, a response, a turn of a chat, a record, a vault in the cluster. CPU time from /proc,
 * which other load on the machine hardly affects; without /proc the section fails.
 */
export async function benchScale({ quick }: { quick: boolean }): Promise<Figure[]> {
  if (!hasNats) throw new Error('nats-server is not installed here');
  return [...(await benchOneBridge(quick)), ...(await benchOneServer(quick)), ...(await benchThreeServers(quick))];
}

async function benchOneBridge(quick: boolean): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
  const bridge = (): number[] => [perch.pid];
  const browser = (): number[] => findDescendants(listProcesses(), perch.pid).map(({ pid }) => pid);
  const before = measureGatewayMemory(perch.pid);
  const measureEach = async (what: string, count: number, task: (index: number) => Promise<unknown>): Promise<Figure[]> => {
    await runConcurrently(count / 10, task);
    const cost = await measureCpuCost([bridge, browser], () => runConcurrently(count, task));
    return [
      { what: `${what}: processor time of the bridge`, unit: 'ms', ours: (cost[0] ?? 0) / count },
      { what: '  and of its Chromium', unit: 'ms', ours: (cost[1] ?? 0) / count },
    ];
  };
  const answer = async (index: number): Promise<unknown> => {
    const body = JSON.stringify({ model: 'bench/whole', messages: [{ role: 'user', content: `Question ${index}` }] });
    const response = await perch.fetch('/v1/chat/completions', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    if (!response.ok) throw new Error(await response.text());
    return response.text();
  };
  const turn = (index: number): Promise<unknown> =>
    caller.call('chat.send', { message: `Question ${index}`, sessionId: `s${index % 100}`, model: 'bench/deltas-10' });
  const figures = [
    ...(await measureEach('a call (`health`)', quick ? 1000 : 10_000, () => caller.call('health', {}))),
    ...(await measureEach('an answer of /v1', quick ? 200 : 1000, answer)),
    ...(await measureEach('a turn of a chat', quick ? 200 : 1000, turn)),
  ];
  const after = measureGatewayMemory(perch.pid);
  for (const [name, memory] of [
    ['at the start', before],
    ['after all of this', after],
  ] as const)
    figures.push(
      { what: `memory of the bridge ${name} (PSS)`, unit: 'MB', ours: (memory?.bridge ?? 0) / 1024 },
      { what: '  and of its Chromium', unit: 'MB', ours: (memory?.browser ?? 0) / 1024 },
    );
  return figures;
}

async function benchOneServer(quick: boolean): Promise<Figure[]> {
  const figures: Figure[] = [];
  await using nats = await createNatsServer();
  const [server = 0] = getNatsPids();
  const count = quick ? 2000 : 20_000;
  {
    const vaultKey = createKey();
    await using a = await startMachine(createSettings(nats.url), { vaultKey });
    await waitFor(() => a.journal.cluster.state === 'shared');
    const since = performance.now();
    const [cost = 0] = await measureCpuCost([() => [server]], () => pushAll(a, count));
    figures.push(
      { what: 'records of 500 bytes, one server', unit: '/s', ours: (count / (performance.now() - since)) * 1000 },
      { what: '  processor time of the server for each', unit: 'ms', ours: cost / count },
    );
    const { seen } = await a.journal.examine();
    figures.push({ what: '  bytes of the stream for each', unit: 'B', ours: (seen?.streams[0]?.bytes ?? 0) / count });
  }
  figures.push(...(await benchVaults(nats.url, () => [server], quick ? 50 : 250, 'one server')));
  const storm = quick ? 10 : 30;
  await using stack = new AsyncDisposableStack();
  const machines: TestMachine[] = [];
  for (let at = 0; at < storm; at++)
    machines.push(stack.use(await startMachine(createSettings(nats.url), { vaultKey: createKey(), checkMs: 3000 })));
  const all = (state: TestMachine['journal']['cluster']['state']): Promise<void> =>
    waitFor(() => machines.every(({ journal }) => journal.cluster.state === state), `all that are ${state}`, MINUTES);
  await all('shared');
  const [idle = 0] = await measureCpuCost([() => [server]], () => sleep(10_000));
  figures.push({ what: 'a vault that nobody writes to, processor time of the server in a second', unit: 'ms', ours: idle / storm / 10 });
  await nats.stop();
  await all('apart');
  await nats.start();
  const since = performance.now();
  await all('shared');
  const [again = 0] = getNatsPids();
  figures.push(
    { what: `the server started again: all of ${storm} machines share after`, unit: 's', ours: (performance.now() - since) / 1000 },
    { what: '  processor time of the server for each', unit: 'ms', ours: readCpuTime([again]) / storm },
  );
  return figures;
}

async function benchThreeServers(quick: boolean): Promise<Figure[]> {
  await using nats = await startThreeNodes();
  const servers = getNatsPids;
  const count = quick ? 500 : 5000;
  const figures: Figure[] = [];
  {
    await using a = await startMachine(createSettings(nats.urls), { vaultKey: createKey() });
    await waitFor(() => a.journal.cluster.state === 'shared', 'a machine that shares', MINUTES);
    const since = performance.now();
    const [cost = 0] = await measureCpuCost([servers], () => pushAll(a, count));
    figures.push(
      { what: 'records of 500 bytes, three servers', unit: '/s', ours: (count / (performance.now() - since)) * 1000 },
      { what: '  processor time of the three for each', unit: 'ms', ours: cost / count },
    );
  }
  figures.push(...(await benchVaults(nats.urls[0] ?? '', servers, quick ? 10 : 50, 'three servers')));
  return figures;
}

/** `count` vaults with four streams each, with a connection and then without. */
async function benchVaults(url: string, servers: () => number[], count: number, where: string): Promise<Figure[]> {
  const memory = (): number => servers().reduce((sum, pid) => sum + readPss(pid), 0) / 1024;
  const before = memory();
  const since = performance.now();
  const open: VaultStreams[] = [];
  for (let at = 0; at < count; at++) open.push(await openCluster(createSettings(url), new RecordSeal(createKey()), async (text) => text));
  const ms = (performance.now() - since) / count;
  const connected = memory();
  await Promise.all(open.map(({ nc }) => nc.close()));
  const [idle = 0] = await measureCpuCost([servers], () => sleep(10_000));
  return [
    { what: `a new vault on ${where}, made in`, unit: 'ms', ours: ms },
    { what: `  memory of the servers together, with a connection`, unit: 'MB', ours: (connected - before) / count },
    { what: `  processor time of the servers in a second, while nobody is connected`, unit: 'ms', ours: idle / count / 10 },
  ];
}

async function pushAll(machine: TestMachine, count: number): Promise<void> {
  for (let at = 0; at < count; at += 500)
    await machine.journal.push(
      Array.from({ length: Math.min(500, count - at) }, (_, index) =>
        createVersion(`m${at + index}`, 1000 + at + index, 'a', { payload: JSON.stringify({ text: randomBytes(200).toString('hex') }) }),
      ),
      'a',
    );
  await waitFor(async () => (await machine.journal.examine()).unsent === 0, 'all of it in the stream', MINUTES);
}

/** Runs `count` tasks with limited concurrency. */
async function runConcurrently(count: number, task: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CALLER_COUNT }, async () => {
      while (next < count) await task(next++);
    }),
  );
}

/** CPU time in ms that some processes spend during the work. */
async function measureCpuCost(parts: readonly (() => number[])[], work: () => Promise<unknown>): Promise<number[]> {
  const before = parts.map((pids) => readCpuTime(pids()));
  await work();
  return parts.map((pids, at) => readCpuTime(pids()) - (before[at] ?? 0));
}

const getNatsPids = (): number[] =>
  findDescendants(listProcesses(), process.pid).flatMap(({ pid, command }) => (command.includes('nats-server') ? [pid] : []));

/** User's and system's time of processes so far, in ms (proc(5), /proc/pid/stat, fields 14 and 15). */
function readCpuTime(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }, 0);
}
