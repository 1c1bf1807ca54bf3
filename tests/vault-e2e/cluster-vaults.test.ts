import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runPerch } from '../../bridge/cli/tests/cli-gateway.ts';
import { hasNats, createNatsServer } from '../../bridge/sync/tests/nats-server.ts';
import type { BridgeHealth } from '../../shared/link/link-credentials.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { GUIDE_MODEL } from './cluster-gateways.ts';

const VAULT_NAMES = ['', 'work'];
const toVaultOption = (vault: string): string[] => (vault === '' ? [] : ['--vault', vault]);
const readToken = (home: string, vault: string): string =>
  readFileSync(join(home, ...(vault ? ['vaults', vault] : []), 'token'), 'utf8').trim();

async function runVaultCommand(home: string, args: string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await runPerch(args, { PERCH_HOME: home }, input);
  expect(code, stderr).toBe(0);
  return stdout;
}

/** Sends a message in a vault at a gateway; resolves with all messages there once the guide has replied. */
async function sendAndWait({ home, ...perch }: Pick<Perch, 'client' | 'home'>, vault: string, message: string): Promise<string[]> {
  const client = await perch.client({ clientName: 'tests', auth: { token: readToken(home, vault) } });
  try {
    await client.call('chat.send', { sessionId: 'main', message, model: GUIDE_MODEL });
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    return messages.flatMap(({ role, content }) => (role === 'user' ? String(content) : []));
  } finally {
    client.close();
  }
}

/** Kind of the active host of each vault at a gateway. */
const getActiveHosts = (perch: Perch): Promise<(string | null)[]> =>
  Promise.all(
    VAULT_NAMES.map(
      async (vault) => ((await (await fetch(`${perch.url}/health${vault && `?vault=${vault}`}`)).json()) as BridgeHealth).host,
    ),
  );

if (!hasNats) test.skip('cluster.serving/vaults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('two gateways of a cluster with two vaults each, and one browser each', () => {
  verifies(
    'cluster.serving/vaults',
    'share the vaults among them: any of them answers for both, and none starts more than it may',
    async () => {
      await using nats = await createNatsServer();
      await using stack = new AsyncDisposableStack();
      const homes = ['one', 'two'].map((name) => {
        const home = mkdtempSync(join(tmpdir(), `perch-vaults-${name}-`));
        stack.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
        return home;
      });
      const [one = '', two = ''] = homes;
      const start = async (home: string): Promise<Perch> =>
        stack.use(await startPerch({ host: 'headless', home, args: ['--cluster', '--max-browsers', '1'] }));
      for (const home of homes) await runVaultCommand(home, ['vault', 'create', 'work']);
      for (const vault of VAULT_NAMES) await runVaultCommand(one, ['sync', 'nats', nats.url, ...toVaultOption(vault)]);
      const a = await start(one);
      for (const vault of VAULT_NAMES) {
        await runVaultCommand(
          two,
          ['sync', 'join', ...toVaultOption(vault)],
          await runVaultCommand(one, ['sync', 'phrase', ...toVaultOption(vault)]),
        );
        await runVaultCommand(two, ['sync', 'nats', nats.url, ...toVaultOption(vault)]);
      }
      const b = await start(two);
      await waitFor(
        async () =>
          JSON.stringify([await getActiveHosts(a), await getActiveHosts(b)]) ===
          JSON.stringify([
            ['headless', 'remote'],
            ['remote', 'headless'],
          ]),
        'each gateway to have one of the vaults',
        60_000,
      );
      expect(await sendAndWait(a, '', 'Of the first, at one')).toEqual(['Of the first, at one']);
      expect(await sendAndWait(a, 'work', 'Of work, at one')).toEqual(['Of work, at one']);
      expect(await sendAndWait(b, '', 'Of the first, at two')).toEqual(['Of the first, at one', 'Of the first, at two']);
      expect(await sendAndWait(b, 'work', 'Of work, at two')).toEqual(['Of work, at one', 'Of work, at two']);

      // The remaining gateway has no capacity for both.
      await b.kill('SIGKILL');
      const authorization = `Bearer ${readToken(one, 'work')}`;
      const models = (): Promise<Response> => fetch(`${a.url}/v1/models`, { headers: { authorization } });
      await waitFor(async () => (await getActiveHosts(a))[1] === null, 'the loss to show', 30_000);
      const refused = await models();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await sendAndWait(a, '', 'Still there')).toHaveLength(3);
      // Once there is another gateway, it has it again.
      await b.restart();
      await waitFor(async () => (await models()).status === 200, 'work to be served', 60_000);
      expect(await sendAndWait(a, 'work', 'Again')).toEqual(['Of work, at one', 'Of work, at two', 'Again']);
    },
    240_000,
  );
});
