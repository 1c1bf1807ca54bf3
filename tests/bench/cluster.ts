import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { hasNats, natsServer } from '../../bridge/sync/tests/nats-server.ts';
import type { Perch } from '../e2e/harness.ts';
import { clusterOf, servingOf } from '../vault-e2e/cluster-gateways.ts';
import { Caller } from './caller.ts';
import { startChild } from './child.ts';
import type { Figure } from './figures.ts';
import { unlimit } from './gateway.ts';
import { below, processes } from './memory.ts';

const CALLERS = 16;
/** Clock ticks per second of CPU time (sysconf _SC_CLK_TCK), on every current Linux. */
const TICKS = 100;

/**
 * Whole completions by one, two and three gateways of a cluster, the callers spread over them: what comes by another bridge goes over NATS to the one that serves. The
 * machine is one, so the rate says little; what each request costs of the processor, all processes together, is the figure.
 */
export async function cluster({ quick }: { quick: boolean }): Promise<Figure[]> {
  if (!hasNats) throw new Error('nats-server is not installed here');
  const count = quick ? 300 : 2000;
  await using upstream = await startChild('upstream');
  await using nats = await natsServer();
  await using gateways = await clusterOf(3, [nats.url]);
  const serving = await servingOf(gateways);
  {
    using caller = await Caller.connect(serving.wsUrl, serving.token);
    await unlimit(caller);
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
  let alone: Cost | undefined;
  for (const [name, asked] of sets) {
    await load(asked, Math.ceil(count / 10));
    const cost = await load(asked, count);
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

  async function load(asked: readonly Perch[], requests: number): Promise<Cost> {
    const agent = new Agent({ keepAlive: true });
    const before = spent(gateways);
    const since = performance.now();
    let next = 0;
    const call = async (): Promise<void> => {
      while (next < requests) {
        const perch = asked[next++ % asked.length];
        if (perch) await complete(perch, agent);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
    const ms = performance.now() - since;
    agent.destroy();
    return { rate: (requests / ms) * 1000, cpuMs: ((spent(gateways) - before) / TICKS / requests) * 1000 };
  }
}

interface Cost {
  rate: number;
  cpuMs: number;
}

/** Ticks of user and system time of the gateways and all that they have started. */
function spent(gateways: readonly Perch[]): number {
  const all = processes();
  return gateways
    .flatMap(({ pid }) => [pid, ...below(all, pid).map((each) => each.pid)])
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
    const asked = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      response.on('error', reject);
      response.resume().on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`))));
    });
    asked.on('error', reject).end(body);
  });
}
