import { jetstreamManager } from '@nats-io/jetstream';
import { openDB } from 'idb';
import { describe, expect, test } from 'vitest';
import { KEY as VAULT_KEY } from '../../../bridge/journal/fixture.ts';
import { RecordSeal } from '../../../bridge/sync/record-seal.ts';
import { startForgetfulNats } from '../../../bridge/sync/tests/forgetful-nats.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { startThreeNodes } from '../../../bridge/sync/tests/three-nodes.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { TEST_VAULT_KEY, newSession } from '../storage/fixture.ts';
import { createBrowser, waitUntilSame, type TestBrowser } from './tests/test-browser.ts';

const STREAM = `PERCH_${new RecordSeal(VAULT_KEY).vault}`;
const createMemory = (id: string, text = id) => ({ id, category: 'fact' as const, text, createdAt: 1 });

/** Number of times that each record arrived from others. */
function countArrivals({ vault }: TestBrowser): Map<string, number> {
  const counts = new Map<string, number>();
  vault.onRemoteChanges((changes) => {
    for (const { store, key } of changes) counts.set(`${store}/${key}`, (counts.get(`${store}/${key}`) ?? 0) + 1);
  });
  return counts;
}

/** Simulates a skipped record: moves the position to the stream's end. */
async function readPast({ vault: { sync } }: TestBrowser, seq: number): Promise<void> {
  const position = await sync.readPosition();
  if (!position) throw new Error('it has read nothing yet');
  await sync.savePosition({ ...position, seq });
}

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('servers that renumber messages after a failure, and a browser', () => {
  verifies(
    'vault.cluster/browser-faults',
    'skipped messages are found at once, and again when the servers had time to agree, also after a restart; nothing arrives twice',
    async () => {
      await using nats = await startThreeNodes();
      const urls = nats.nodes.map(({ webUrl }) => webUrl);
      await using a = await createBrowser(urls, { agreedMs: 8000 });
      await using b = await createBrowser(urls);
      await a.vault.sessions.add(newSession(), []);
      await a.vault.memories.add(createMemory('of a'));
      await waitUntilSame([a, b], (records) => records.length > 2);

      // Others have its records before its position is stored.
      await a.waitUntilSynced();
      await a.disconnect();
      await b.vault.sessions.update(TEST_VAULT_KEY, { title: 'of b' });
      await b.vault.memories.add(createMemory('of b'));
      await b.waitUntilSynced();
      const operator = await nats.nodes[0].operator();
      const { streams } = await jetstreamManager(operator);
      await readPast(a, (await streams.info(STREAM)).state.last_seq);
      await operator.close();
      await a.vault.sync.markDoubtful();
      await a.restart();
      const came = countArrivals(a);
      await a.share();
      await waitUntilSame([a, b], (records) => records.length > 3);
      expect([...came.keys()].sort()).toEqual(['memories/of b', `sessions/${TEST_VAULT_KEY}`]);

      // The record does not reappear until the stream is searched again.
      expect(await a.vault.sync.isDoubtful()).toBe(true);
      const db = await openDB(a.name);
      await db.delete('changes', ['memories', 'of b']);
      db.close();
      await waitFor(async () => !(await a.vault.sync.isDoubtful()), 'all is well', 40_000);
      await waitUntilSame([a, b]);
      expect([...came].sort()).toEqual([
        ['memories/of b', 2],
        [`sessions/${TEST_VAULT_KEY}`, 1],
      ]);
    },
    120_000,
  );

  verifies(
    'vault.cluster/browser-faults',
    'what was passed over while the line stood is found when another server leads the stream',
    async () => {
      await using nats = await startThreeNodes();
      await using a = await createBrowser(nats.nodes.map(({ webUrl }) => webUrl));
      await using b = await createBrowser(nats.nodes.map(({ webUrl }) => webUrl));
      await a.vault.memories.add(createMemory('first'));
      await b.vault.memories.add(createMemory('of b'));
      await waitUntilSame([a, b], (records) => records.length === 2);
      await waitFor(async () => !(await a.vault.sync.isDoubtful()), 'no doubt', 60_000);

      // Simulates a skipped record; later messages do not bring it.
      const db = await openDB(a.name);
      await db.delete('changes', ['memories', 'of b']);
      db.close();
      const came = countArrivals(a);
      await b.vault.memories.add(createMemory('later'));
      await waitFor(() => came.has('memories/later'), 'what was written later');
      expect(await a.contents()).toHaveLength(2);

      const operator = await nats.nodes[0].operator();
      await operator.request(`$JS.API.STREAM.LEADER.STEPDOWN.${STREAM}`);
      await waitUntilSame([a, b], (records) => records.length === 3);
      expect([...came].sort()).toEqual([
        ['memories/later', 1],
        ['memories/of b', 1],
      ]);
      await operator.close();
    },
    120_000,
  );

  verifies(
    'vault.cluster/browser-faults',
    'messages skipped during a full reread, caused by deleted records, are found',
    async () => {
      await using nats = await startThreeNodes();
      const urls = nats.nodes.map(({ webUrl }) => webUrl);
      await using a = await createBrowser(urls, { agreedMs: 5000 });
      await using b = await createBrowser(urls);
      await a.vault.memories.add(createMemory('first'));
      await b.vault.memories.add(createMemory('of b'));
      await waitUntilSame([a, b], (records) => records.length === 2);
      await waitFor(async () => !(await a.vault.sync.isDoubtful()), 'no doubt', 60_000);
      await b.disconnect();

      const operator = await nats.nodes[0].operator();
      await (await jetstreamManager(operator)).streams.purge(STREAM);
      await operator.close();
      await waitFor(() => a.vault.sync.isDoubtful(), 'doubt');
      await b.share();
      await b.waitUntilSynced();
      // Simulates a record that was not sent.
      const db = await openDB(a.name);
      await db.delete('changes', ['memories', 'of b']);
      db.close();
      expect(await a.contents()).toHaveLength(1);
      await waitUntilSame([a, b], (records) => records.length === 2, 30_000);
    },
    120_000,
  );

  verifies('vault.cluster/browser-faults', 'a cluster that fails is trouble; a line that is not wanted any more is none', async () => {
    await using nats = await createNatsServer();
    await using a = await createBrowser(nats.webUrl);
    const isDoubtful = () => a.vault.sync.isDoubtful();
    await a.waitUntilSynced();
    await a.disconnect();
    expect(await isDoubtful()).toBe(false);
    await a.share();
    await a.waitUntilSynced();
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    await streams.update(STREAM, { max_bytes: 1 });
    await a.vault.memories.add(createMemory('too much'));
    await waitFor(isDoubtful, 'trouble of a stream that takes nothing');
    await streams.update(STREAM, { max_bytes: -1 });
    await waitFor(async () => !(await isDoubtful()), 'no trouble, for there is one server');
    await operator.close();
    await nats.stop();
    await waitFor(isDoubtful, 'trouble of a server that is gone');
    await a.restart();
    expect(await isDoubtful()).toBe(true);
    await nats.start();
    await a.waitUntilSynced();
    await waitFor(async () => !(await isDoubtful()), 'no trouble any more');
  });

  verifies(
    'vault.cluster/browser-faults',
    'a single server whose machine loses power lost its last acknowledged messages while others wrote as many: they are sent again, and no message of others is skipped',
    async () => {
      await using nats = await startForgetfulNats();
      await using a = await createBrowser(nats.webUrl);
      await using b = await createBrowser(nats.webUrl);
      await a.vault.sessions.add(newSession(), []);
      await a.vault.memories.add(createMemory('first'));
      await waitUntilSame([a, b], (records) => records.length > 1);
      await b.disconnect();
      await nats.writeThrough();
      await a.waitUntilSynced();
      await a.vault.memories.add(createMemory('of a'));
      await a.vault.sessions.update(TEST_VAULT_KEY, { title: 'of a' });
      await a.waitUntilSynced();
      await a.disconnect();

      await nats.loseUnsynced();
      await b.share();
      await b.vault.memories.add(createMemory('of b'));
      await b.vault.memories.add(createMemory('more of b'));
      await b.waitUntilSynced();
      await a.share();
      const all = await waitUntilSame(
        [a, b],
        (records) => ['of a', 'of b', 'more of b'].every((id) => records.some((one) => one.startsWith(`memories ${id} `))),
        20_000,
      );
      expect(all.filter((one) => one.startsWith('memories'))).toHaveLength(4);
      expect((await b.vault.sessions.get(TEST_VAULT_KEY))?.title).toBe('of a');
    },
    60_000,
  );
});
