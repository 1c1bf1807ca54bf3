import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runPerch } from '../../bridge/cli/tests/cli-gateway.ts';
import { hasNats, createNatsServer } from '../../bridge/sync/tests/nats-server.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { addProvider, connectOutside } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';

const GUIDE = 'guide/guide';

/** Messages of a chat there, by both; empty if there is no such chat yet. */
async function getMessages(perch: Perch, sessionId: string): Promise<string[]> {
  using outside = await connectOutside(perch);
  try {
    const { messages } = await outside.client.call('chat.history', { sessionId });
    return messages.map(({ role, content }) => (role === 'user' ? JSON.stringify(content) : role));
  } catch {
    return [];
  }
}

async function sendMessage(perch: Perch, sessionId: string, message: string): Promise<void> {
  using outside = await connectOutside(perch);
  await outside.client.call('chat.send', { sessionId, message, model: GUIDE });
}

if (!hasNats) test.skip('vault.cluster: nats-server is not installed here', () => {});
describe.runIf(hasNats)('two machines with a browser each', () => {
  verifies(
    ['vault.cluster/converges', 'vault.cluster/faults', 'vault.cluster/phrase'],
    'messages, settings and files of one machine reach the other; without the server both continue, and agree afterwards',
    async () => {
      await using nats = await createNatsServer();
      await using stack = new AsyncDisposableStack();
      const createHome = (name: string): string => {
        const home = mkdtempSync(join(tmpdir(), `perch-machine-${name}-`));
        stack.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
        return home;
      };
      const sync = async (home: string, args: string[], input = ''): Promise<string> => {
        const { code, stdout, stderr } = await runPerch(['sync', ...args], { PERCH_HOME: home }, input);
        expect(code, stderr).toBe(0);
        return stdout;
      };
      const [one, two] = [createHome('one'), createHome('two')];
      await sync(one, ['nats', nats.url]);
      const a = stack.use(await startPerch({ host: 'headless', home: one }));
      using outside = await connectOutside(a);
      await addProvider(outside.client, 'http://127.0.0.1:9/v1', 'sk-given-at-one');
      await sendMessage(a, 'first', 'Said at one');
      await sync(two, ['join'], await sync(one, ['phrase']));
      await sync(two, ['nats', nats.url]);
      const b = stack.use(await startPerch({ host: 'headless', home: two }));
      const first = ['"Said at one"', 'assistant'];
      await waitFor(async () => JSON.stringify(await getMessages(b, 'first')) === JSON.stringify(first), 'the chat at two', 30_000);
      using other = await connectOutside(b);
      const config = await other.client.call('config.get', {});
      expect(JSON.stringify(config)).toContain('http://127.0.0.1:9/v1');
      await sendMessage(b, 'first', 'Said at two');
      const second = [...first, '"Said at two"', 'assistant'];
      await waitFor(async () => JSON.stringify(await getMessages(a, 'first')) === JSON.stringify(second), 'the answer at one', 30_000);

      await nats.stop();
      await Promise.all([sendMessage(a, 'apart-one', 'Alone at one'), sendMessage(b, 'apart-two', 'Alone at two')]);
      expect(await getMessages(a, 'apart-one')).toEqual(['"Alone at one"', 'assistant']);
      const notice = async (): Promise<string> => (await outside.client.call('sync.status', {})).journal?.notices.at(-1)?.message ?? '';
      await waitFor(async () => (await notice()).includes('not synced with other computers yet'), 'the notice', 30_000);
      await nats.start();
      await waitFor(
        async () => (await getMessages(b, 'apart-one')).length === 2 && (await getMessages(a, 'apart-two')).length === 2,
        'both chats',
        60_000,
      );
      const { conflicts } = await outside.client.call('sync.status', {});
      expect(conflicts).toBe(0);
    },
    180_000,
  );
});
