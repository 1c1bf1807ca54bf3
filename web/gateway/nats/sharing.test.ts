import { describe, expect, test } from 'vitest';
import { createVersion } from '../../../bridge/journal/fixture.ts';
import { hasRecords, startMachine, createSettings } from '../../../bridge/sync/tests/test-machine.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { countObjects } from '../../../bridge/sync/tests/count-objects.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { toSessionKey } from '../storage/chat-records.ts';
import { storeAnswer, storeQuestion, TEST_VAULT_KEY, newSession } from '../storage/fixture.ts';
import { getConflictCopies } from '../../../tests/vault/test-replica.ts';
import { createBrowser, waitUntilSame, type TestBrowser } from './tests/test-browser.ts';

const OTHER = toSessionKey('main', 'other');
const hasSession = (key: string) => (records: readonly string[]) => records.some((line) => line.startsWith(`sessions ${key} `));
const title = async ({ vault }: TestBrowser, key = TEST_VAULT_KEY): Promise<string | undefined> => (await vault.sessions.get(key))?.title;

if (!hasNats) test.skip('vault.cluster/browser: nats-server is not installed here', () => {});
describe.runIf(hasNats)('browsers without a bridge on a real NATS server', () => {
  verifies('vault.cluster/browser-converges', 'a chat at one appears at another and at a bridge, and what that has at both', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    await using b = await createBrowser(nats.webUrl);
    await using c = await startMachine(createSettings(nats.url));
    await storeAnswer(a.vault, await storeQuestion(a.vault, 'm-1'));
    await waitUntilSame([a, b, c], hasSession(TEST_VAULT_KEY));
    expect(await b.vault.messages.get('re-m-1')).toMatchObject({ content: 'text of re-m-1' });
    await b.vault.sessions.update(TEST_VAULT_KEY, { title: 'Renamed' });
    await waitFor(async () => (await title(a)) === 'Renamed');
    const memory = { id: 'x', text: 'of the bridge', category: 'fact', createdAt: 1 };
    await c.journal.push([createVersion('x', Date.now(), 'c', { store: 'memories', payload: JSON.stringify(memory), base: null })], 'c');
    await waitFor(async () => (await a.vault.memories.list()).length === 1);
    await waitUntilSame([a, b, c]);
    await a.vault.sessions.remove(TEST_VAULT_KEY);
    await waitFor(async () => (await b.vault.sessions.get(TEST_VAULT_KEY)) === undefined);
    await using late = await createBrowser(nats.webUrl);
    await waitUntilSame([a, b, c, late]);
    expect(a.replicator.state()).toMatchObject({ state: 'synced', pending: 0, problem: null });
  });

  verifies('vault.cluster/browser-converges', 'partitioned: the later version wins everywhere, and the other is kept, once', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    await using b = await createBrowser(nats.webUrl);
    await using c = await startMachine(createSettings(nats.url));
    await a.vault.sessions.add(newSession(), []);
    await waitUntilSame([a, b, c], hasSession(TEST_VAULT_KEY));
    await nats.stop();
    await waitFor(() => a.replicator.state().state === 'away' && b.replicator.state().state === 'away');
    await a.vault.sessions.update(TEST_VAULT_KEY, { title: 'by a' });
    // Two writes in one millisecond have no order.
    const at = Date.now();
    await waitFor(() => Date.now() > at);
    await b.vault.sessions.update(TEST_VAULT_KEY, { title: 'by b' });
    await nats.start();
    await waitUntilSame([a, b], (records) => records.some((line) => line.startsWith('conflicts ')));
    await waitUntilSame([a, b, c]);
    for (const one of [a, b]) {
      expect(await title(one)).toBe('by b');
      const copies = await getConflictCopies(one.vault);
      expect(copies.map(({ store, payload }) => [store, payload.includes('by a')])).toEqual([['sessions', true]]);
    }
  });

  verifies(
    'vault.cluster/browser-converges',
    'successive versions by others do not conflict with the base version of a returning host',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createBrowser(nats.webUrl);
      await using b = await createBrowser(nats.webUrl);
      await using bridge = await startMachine(createSettings(nats.url));
      await using other = await startMachine(createSettings(nats.url));
      await a.vault.sessions.add(newSession(), []);
      await waitUntilSame([a, b, bridge, other], hasSession(TEST_VAULT_KEY));
      const away = await bridge.disconnect();
      for (const [at, one] of [b, a, b].entries()) {
        await one.vault.sessions.update(TEST_VAULT_KEY, { title: `title ${at}` });
        await waitFor(async () => (await title(a)) === `title ${at}` && (await title(b)) === `title ${at}`);
      }
      await away.reconnect();
      const all = await waitUntilSame([a, b, bridge, other]);
      expect(all.filter((line) => line.startsWith('conflicts '))).toEqual([]);
    },
  );

  verifies('vault.cluster/browser-converges', 'two that write the same at the same moment lose nothing', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    await using b = await createBrowser(nats.webUrl);
    await a.vault.sessions.add(newSession(), []);
    await waitUntilSame([a, b], hasSession(TEST_VAULT_KEY));
    for (let round = 0; round < 10; round++)
      await Promise.all([a, b].map((one, at) => one.vault.sessions.update(TEST_VAULT_KEY, { title: `${round} by ${at}` })));
    await a.waitUntilSynced();
    await b.waitUntilSynced();
    await waitUntilSame([a, b]);
    expect(await title(a)).toMatch(/^9 by/);
  });

  verifies('vault.cluster/browser-converges', 'a restarted host continues where it was, sending only its own writes', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    await using b = await createBrowser(nats.webUrl);
    await a.vault.sessions.add(newSession(), []);
    await waitUntilSame([a, b], hasSession(TEST_VAULT_KEY));
    await a.waitUntilSynced();
    // The position of sent messages is stored up to a second later. A host that ends earlier sends them again.
    await waitFor(async () => (await a.vault.sync.readPendingKeys()).length === 0, 'its position to be stored');
    await a.disconnect();
    await a.vault.sessions.update(TEST_VAULT_KEY, { title: 'alone' });
    await b.vault.sessions.add(newSession(OTHER), []);
    await a.restart();
    expect(a.replicator.state()).toMatchObject({ state: 'away', pending: 1 });
    await a.share();
    await waitUntilSame([a, b], hasSession(OTHER));
    expect(await title(b)).toBe('alone');
    expect(await getConflictCopies(a.vault)).toEqual([]);
  });

  verifies('vault.cluster/browser-converges', 'an attachment, a record larger than a message, and a secret', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    await using b = await createBrowser(nats.webUrl);
    await using c = await startMachine(createSettings(nats.url));
    await a.waitUntilSynced();
    const data = Buffer.alloc(2_000_000, 'attached ').toString('base64');
    const image = { type: 'image' as const, mimeType: 'image/png', data };
    const question = {
      id: 'm-1',
      role: 'user' as const,
      content: [image],
      timestamp: 1,
      sessionKey: TEST_VAULT_KEY,
      parentId: null,
      depth: 0,
    };
    await a.vault.sessions.add(newSession(), [question]);
    const large = 'x'.repeat(1_500_000);
    await a.vault.memories.add({ id: 'large', category: 'fact', text: large, createdAt: 1 });
    await a.vault.secrets.set('key of a provider', 'sk-secret');
    await waitUntilSame([a, b, c], (records) => records.some((line) => line.startsWith('secrets ')));
    expect((await b.vault.memories.list())[0]?.text).toBe(large);
    expect(await b.vault.secrets.get('key of a provider')).toBe('sk-secret');
    expect(JSON.stringify((await b.vault.messages.get('m-1'))?.content)).toBe(JSON.stringify([image]));
    const [hash = ''] = (await c.contents()).flatMap(({ blobs }) => blobs ?? []);
    expect((await c.journal.getBlob(hash))?.length).toBe(2_000_000);
  });

  verifies('vault.cluster/browser-converges', 'an attachment of two records that are sent at the same time goes out once', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    await a.waitUntilSynced();
    const image = { type: 'image' as const, mimeType: 'image/png', data: Buffer.alloc(1_000_000, 'attached ').toString('base64') };
    const question = {
      id: 'm-1',
      role: 'user' as const,
      content: [image],
      timestamp: 1,
      sessionKey: TEST_VAULT_KEY,
      parentId: null,
      depth: 0,
    };
    await Promise.all([
      a.vault.sessions.add(newSession(), [question]),
      a.vault.sessions.add(newSession(OTHER), [{ ...question, id: 'm-2', sessionKey: OTHER }]),
    ]);
    await a.waitUntilSynced();
    expect(await countObjects(nats)).toEqual({ objects: 1, uploads: 1 });
  });

  verifies('vault.cluster/browser-converges', 'a browser of an older build reads nothing of a newer one, and says so', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await hasRecords(a, 'shared');
    await a.journal.open({ origin: 'a', schema: 999, position: null });
    await a.journal.push([createVersion('newer', 2)], 'a');
    await using b = await createBrowser(nats.webUrl);
    await waitFor(() => b.replicator.state().state === 'outdated');
    expect(await b.contents()).toEqual([]);
  });
});
