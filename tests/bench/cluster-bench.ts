import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { hasNats, createNatsServer } from '../../bridge/sync/tests/nats-server.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { startCluster, findActiveGateway } from '../vault-e2e/cluster-gateways.ts';
import { SocketCaller } from './caller.ts';
import { startChild } from './child-process.ts';
import type { Figure } from './figures.ts';
import { disableRateLimit } from './bench-gateway.ts';
import { findDescendants, listProcesses } from './process-memory.ts';

const CALLER_COUNT = 16;
/** Clock ticks per second of CPU time (sysconf _SC_CLK_TCK), on every current Linux. */
const CLOCK_TICKS_PER_SECOND = 100;

/**
 * Whole completions by one, two and three gateways of a cluster, the callers spread over them: what comes by another bridge goes over NATS to the one that serves. The
 * machine is one, so the rate says little; what each request costs of the processor, all processes together, is the figure.
 */
export async function benchCluster({ quick }: { quick: boolean }): Promise<Figure[]> {
  if (!hasNats) throw new Error('nats-server is not installed here');
  const count = quick ? 300 : 2000;
  await using upstream = await startChild('upstream');
  await using nats = await createNatsServer();
  await using gateways = await startCluster(3, [nats.url]);
  const serving = await findActiveGateway(gateways);
  {
    using caller = await SocketCaller.connect(serving.wsUrl, serving.token);
    await disableRateLimit(caller);
    await caller.call('config.set', { key: 'providers.bench', value: { baseUrl: `http://127.0.0.1:${upstream.port}/v1` } });
  }
  const others = gateways.filter((perch) => perch !== serving);
  const figures: Figure[] = [];
  const sets: [string, readonly Perch[]][] = [
    ['the one that serves', [serving]],
    ['another one', others.slice(0, 1)],
    ['two', [serving, ...others.slice(0, 1)]],
    ['three', [serving, ...others]],
  ];
  let alone: CallCost | undefined;
  for (const [name, targets] of sets) {
    await load(targets, Math.ceil(count / 10));
    const cost = await load(targets, count);
    const floor = alone && { name: 'alone', value: cost.cpuMs };
    figures.push(
      {
        what: `/v1 whole, 16 callers at ${name}`,
        unit: '/s',
        ours: cost.rate,
        ...(alone && { floor: { name: 'alone', value: alone.rate } }),
      },
      {
        what: '  processor time of a request, gateways and Chromium',
        unit: 'ms',
        ours: cost.cpuMs,
        ...(floor && alone && { floor: { name: 'alone', value: alone.cpuMs }, ratio: cost.cpuMs / alone.cpuMs }),
      },
    );
    alone ??= cost;
  }
  return figures;

  async function load(targets: readonly Perch[], requests: number): Promise<CallCost> {
    const agent = new Agent({ keepAlive: true });
    const before = countCpuTicks(gateways);
    const since = performance.now();
    let next = 0;
    const call = async (): Promise<void> => {
      while (next < requests) {
        const perch = targets[next++ % targets.length];
        if (perch) await complete(perch, agent);
      }
    };
    await Promise.all(Array.from({ length: CALLER_COUNT }, call));
    const ms = performance.now() - since;
    agent.destroy();
    return { rate: (requests / ms) * 1000, cpuMs: ((countCpuTicks(gateways) - before) / CLOCK_TICKS_PER_SECOND / requests) * 1000 };
  }
}

interface CallCost {
  rate: number;
  cpuMs: number;
}

/** Sums the user and system time of the gateways and their descendants, in ticks. */
function countCpuTicks(gateways: readonly Perch[]): number {
  const all = listProcesses();
  return gateways
    .flatMap(({ pid }) => [pid, ...findDescendants(all, pid).map((each) => each.pid)])
    .map((pid) => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      return Number(fields[11]) + Number(fields[12]);
    })
    .reduce((sum, ticks) => sum + ticks, 0);
}

function complete({ url, token }: Perch, agent: Agent): Promise<void> {
  const body = JSON.stringify({ model: 'bench/whole', messages: [{ role: 'user', content: 'Hello' }] });
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      response.on('error', reject);
      response.resume().on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`))));
    });
    outgoing.on('error', reject).end(body);
  });
}
