import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPerch } from '../../bridge/cli/tests/gateway.ts';
import { type Perch, startPerch } from '../e2e/harness.ts';
import { until } from '../support/gateway.ts';
import { healthOf } from './bridge.ts';

export const GUIDE = 'guide/guide';

/** Starts `count` commands `perch gateway run --cluster`, each with its own home and the vault's key. */
export const clusterOf = (count: number, servers: readonly string[], args: readonly string[] = []): Promise<Perch[] & AsyncDisposable> =>
  gatewaysOf(count, { args: ['--cluster', servers.join(','), ...args] });

/** A command for each of these lists of servers, over which they share one vault. */
export const gatewaysOver = (ways: readonly (readonly string[])[], args: readonly string[] = []): Promise<Perch[] & AsyncDisposable> =>
  gatewaysOf(ways.length, { args, ways });

async function gatewaysOf(
  count: number,
  { args, ways }: { args: readonly string[]; ways?: readonly (readonly string[])[] },
): Promise<Perch[] & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const gateways: Perch[] = [];
  let phrase = '';
  for (let at = 0; at < count; at++) {
    const home = mkdtempSync(join(tmpdir(), `perch-cluster-${at}-`));
    stack.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
    if (at > 0) await sync(home, ['join'], phrase);
    const servers = ways?.[at];
    if (servers) await sync(home, ['nats', ...servers]);
    gateways.push(stack.use(await startPerch({ host: 'headless', home, args })));
    if (at === 0) phrase = await sync(home, ['phrase']);
  }
  const all = stack.move();
  return Object.assign(gateways, { [Symbol.asyncDispose]: () => all.disposeAsync() });
}

async function sync(home: string, args: string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await runPerch(['sync', ...args], { PERCH_HOME: home }, input);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** The gateway whose managed Chromium is the active host, once all running gateways agree. */
export async function servingOf(gateways: readonly Perch[], ms = 30_000): Promise<Perch> {
  let found: Perch | undefined;
  await until(
    async () => {
      const hosts = await Promise.all(gateways.map(async (perch) => (await healthOf(perch))?.host ?? null));
      const own = gateways.filter((_, at) => hosts[at] === 'headless');
      found = own[0];
      return own.length === 1 && hosts.every((host) => host !== null);
    },
    'one host for all',
    ms,
  );
  if (!found) throw new Error('nobody serves');
  return found;
}

/** Says something in a chat and resolves once the guide has answered: then it is acknowledged. Rejects with what may be tried again. */
export async function say(perch: Perch, sessionId: string, message: string, idempotencyKey = message): Promise<void> {
  const client = await perch.client();
  try {
    await client.call('chat.send', { sessionId, message, model: GUIDE, idempotencyKey });
  } finally {
    client.close();
  }
}

/** A person's messages in a chat, as one of the gateways has them. */
export async function heard(perch: Perch, sessionId: string): Promise<string[]> {
  const client = await perch.client();
  try {
    const { messages } = await client.call('chat.history', { sessionId, limit: 500 });
    return messages.flatMap(({ role, content }) => (role === 'user' ? JSON.stringify(content).replaceAll('"', '') : []));
  } finally {
    client.close();
  }
}
