import { jetstreamManager } from '@nats-io/jetstream';
import { openDB } from 'idb';
import { describe, expect, test } from 'vitest';
import { KEY as VAULT_KEY } from '../../../bridge/journal/fixture.ts';
import { RecordSeal } from '../../../bridge/sync/record-seal.ts';
import { forgetfulNats } from '../../../bridge/sync/tests/forgetful-nats.ts';
import { hasNats, natsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { threeNodes } from '../../../bridge/sync/tests/three-nodes.ts';
import { verifies } from '../../../tests/requirements.ts';
import { until } from '../../../tests/support/gateway.ts';
import { KEY, newSession } from '../storage/fixture.ts';
import { browser, same, type TestBrowser } from './tests/browser.ts';

const STREAM = `PERCH_${new RecordSeal(VAULT_KEY).vault}`;
const memory = (id: string, text = id) => ({ id, category: 'fact' as const, text, createdAt: 1 });

/** Number of times that each record arrived from others. */
function arrivals({ vault }: TestBrowser): Map<string, number> {
  const counts = new Map<string, number>();
  vault.onforeign((changes) => {
    for (const { store, key } of changes) counts.set(`${store}/${key}`, (counts.get(`${store}/${key}`) ?? 0) + 1);
  });
  return counts;
}

/** Simulates a skipped record: moves the position to the stream's end. */
async function readPast({ vault: { sync } }: TestBrowser, seq: number): Promise<void> {
  const position = await sync.position();
  if (!position) throw new Error('it has read nothing yet');
  await sync.keepPosition({ ...position, seq });
}

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('servers that renumber messages after a failure, and a browser', () => {
  verifies(
    'vault.cluster/browser-faults',
    'skipped messages are found at once, and again when the servers had time to agree, also after a restart; nothing arrives twice',
    async () => {
      await using nats = await threeNodes();
      const urls = nats.nodes.map(({ webUrl }) => webUrl);
      await using a = await browser(urls, { agreedMs: 8000 });
      await using b = await browser(urls);
      await a.vault.sessions.add(newSession(), []);
      await a.vault.memories.add(memory('of a'));
      await same([a, b], (records) => records.length > 2);

      await a.alone();
      await b.vault.sessions.update(KEY, { title: 'of b' });
      await b.vault.memories.add(memory('of b'));
      await b.settled();
      const operator = await nats.nodes[0].operator();
      const { streams } = await jetstreamManager(operator);
      await readPast(a, (await streams.info(STREAM)).state.last_seq);
      await operator.close();
      await a.vault.sync.markDoubtful();
      await a.restart();
      const came = arrivals(a);
      await a.share();
      await same([a, b], (records) => records.length > 3);
      expect([...came.keys()].sort()).toEqual(['memories/of b', `sessions/${KEY}`]);

      // The record does not reappear until the stream is searched again.
      expect(await a.vault.sync.isDoubtful()).toBe(true);
      const db = await openDB(a.name);
      await db.delete('changes', ['memories', 'of b']);
      db.close();
      await until(async () => !(await a.vault.sync.isDoubtful()), 'all is well', 40_000);
      await same([a, b]);
      expect([...came].sort()).toEqual([
        ['memories/of b', 2],
        [`sessions/${KEY}`, 1],
      ]);
    },
    120_000,
  );

  verifies(
    'vault.cluster/browser-faults',
    'what was passed over while the line stood is found when another server leads the stream',
    async () => {
      await using nats = await threeNodes();
      await using a = await browser(nats.nodes.map(({ webUrl }) => webUrl));
      await using b = await browser(nats.nodes.map(({ webUrl }) => webUrl));
      await a.vault.memories.add(memory('first'));
      await b.vault.memories.add(memory('of b'));
      await same([a, b], (records) => records.length === 2);
      await until(async () => !(await a.vault.sync.isDoubtful()), 'no doubt', 60_000);

      // Simulates a skipped record; later messages do not bring it.
      const db = await openDB(a.name);
      await db.delete('changes', ['memories', 'of b']);
      db.close();
      const came = arrivals(a);
      await b.vault.memories.add(memory('later'));
      await until(() => came.has('memories/later'), 'what was written later');
      expect(await a.contents()).toHaveLength(2);

      const operator = await nats.nodes[0].operator();
      await operator.request(`$JS.API.STREAM.LEADER.STEPDOWN.${STREAM}`);
      await same([a, b], (records) => records.length === 3);
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
      await using nats = await threeNodes();
      const urls = nats.nodes.map(({ webUrl }) => webUrl);
      await using a = await browser(urls, { agreedMs: 5000 });
      await using b = await browser(urls);
      await a.vault.memories.add(memory('first'));
      await b.vault.memories.add(memory('of b'));
      await same([a, b], (records) => records.length === 2);
      await until(async () => !(await a.vault.sync.isDoubtful()), 'no doubt', 60_000);
      await b.alone();

      const operator = await nats.nodes[0].operator();
      await (await jetstreamManager(operator)).streams.purge(STREAM);
      await operator.close();
      await until(() => a.vault.sync.isDoubtful(), 'doubt');
      await b.share();
      await b.settled();
      // Simulates a record that was not sent.
      const db = await openDB(a.name);
      await db.delete('changes', ['memories', 'of b']);
      db.close();
      expect(await a.contents()).toHaveLength(1);
      await same([a, b], (records) => records.length === 2, 30_000);
    },
    120_000,
  );

  verifies('vault.cluster/browser-faults', 'a cluster that fails is trouble; a line that is not wanted any more is none', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    const isDoubtful = () => a.vault.sync.isDoubtful();
    await a.settled();
    await a.alone();
    expect(await isDoubtful()).toBe(false);
    await a.share();
    await a.settled();
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    await streams.update(STREAM, { max_bytes: 1 });
    await a.vault.memories.add(memory('too much'));
    await until(isDoubtful, 'trouble of a stream that takes nothing');
    await streams.update(STREAM, { max_bytes: -1 });
    await until(async () => !(await isDoubtful()), 'no trouble, for there is one server');
    await operator.close();
    await nats.stop();
    await until(isDoubtful, 'trouble of a server that is gone');
    await a.restart();
    expect(await isDoubtful()).toBe(true);
    await nats.start();
    await a.settled();
    await until(async () => !(await isDoubtful()), 'no trouble any more');
  });

  verifies(
    'vault.cluster/browser-faults',
    'a single server whose machine loses power lost its last acknowledged messages while others wrote as many: they are sent again, and no message of others is skipped',
    async () => {
      await using nats = await forgetfulNats();
      await using a = await browser(nats.webUrl);
      await using b = await browser(nats.webUrl);
      await a.vault.sessions.add(newSession(), []);
      await a.vault.memories.add(memory('first'));
      await same([a, b], (records) => records.length > 1);
      await b.alone();
      await nats.writeThrough();
      await a.settled();
      await a.vault.memories.add(memory('of a'));
      await a.vault.sessions.update(KEY, { title: 'of a' });
      await a.settled();
      await a.alone();

      await nats.loseRest();
      await b.share();
      await b.vault.memories.add(memory('of b'));
      await b.vault.memories.add(memory('more of b'));
      await b.settled();
      await a.share();
      const all = await same(
        [a, b],
        (records) => ['of a', 'of b', 'more of b'].every((id) => records.some((one) => one.startsWith(`memories ${id} `))),
        20_000,
      );
      expect(all.filter((one) => one.startsWith('memories'))).toHaveLength(4);
      expect((await b.vault.sessions.get(KEY))?.title).toBe('of a');
    },
    60_000,
  );
});
