import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPerch } from '../../bridge/cli/tests/cli-gateway.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { waitFor } from '../support/test-gateway.ts';
import { fetchHealth } from './bridge-health.ts';

export const GUIDE_MODEL = 'guide/guide';

/** Starts `count` commands `perch gateway run --cluster`, each with its own home and the vault's key. */
export const startCluster = (count: number, servers: readonly string[], args: readonly string[] = []): Promise<Perch[] & AsyncDisposable> =>
  startGateways(count, { args: ['--cluster', servers.join(','), ...args] });

/** A command for each of these lists of servers, over which they share one vault. */
export const startGatewaysOver = (
  serverLists: readonly (readonly string[])[],
  args: readonly string[] = [],
): Promise<Perch[] & AsyncDisposable> => startGateways(serverLists.length, { args, ways: serverLists });

async function startGateways(
  count: number,
  { args, ways: serverLists }: { args: readonly string[]; ways?: readonly (readonly string[])[] },
): Promise<Perch[] & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const gateways: Perch[] = [];
  let phrase = '';
  for (let at = 0; at < count; at++) {
    const home = mkdtempSync(join(tmpdir(), `perch-cluster-${at}-`));
    stack.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
    if (at > 0) await runSyncCommand(home, ['join'], phrase);
    const servers = serverLists?.[at];
    if (servers) await runSyncCommand(home, ['nats', ...servers]);
    gateways.push(stack.use(await startPerch({ host: 'headless', home, args })));
    if (at === 0) phrase = await runSyncCommand(home, ['phrase']);
  }
  const all = stack.move();
  return Object.assign(gateways, { [Symbol.asyncDispose]: () => all.disposeAsync() });
}

async function runSyncCommand(home: string, args: string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await runPerch(['sync', ...args], { PERCH_HOME: home }, input);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** The gateway whose managed Chromium is the active host, once all running gateways agree. */
export async function findActiveGateway(gateways: readonly Perch[], ms = 30_000): Promise<Perch> {
  let found: Perch | undefined;
  await waitFor(
    async () => {
      const hosts = await Promise.all(gateways.map(async (perch) => (await fetchHealth(perch))?.host ?? null));
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
export async function sendAndWait(perch: Perch, sessionId: string, message: string, idempotencyKey = message): Promise<void> {
  const client = await perch.client();
  try {
    await client.call('chat.send', { sessionId, message, model: GUIDE_MODEL, idempotencyKey });
  } finally {
    client.close();
  }
}

/** A person's messages in a chat, as one of the gateways has them. */
export async function getUserMessages(perch: Perch, sessionId: string): Promise<string[]> {
  const client = await perch.client();
  try {
    const { messages } = await client.call('chat.history', { sessionId, limit: 500 });
    return messages.flatMap(({ role, content }) => (role === 'user' ? JSON.stringify(content).replaceAll('"', '') : []));
  } finally {
    client.close();
  }
}
