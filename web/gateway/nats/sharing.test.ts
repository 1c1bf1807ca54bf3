import { describe, expect, test } from 'vitest';
import { version } from '../../../bridge/journal/fixture.ts';
import { is, machine, settings } from '../../../bridge/sync/tests/machine.ts';
import { hasNats, natsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { objectsOf } from '../../../bridge/sync/tests/objects.ts';
import { verifies } from '../../../tests/requirements.ts';
import { until } from '../../../tests/support/gateway.ts';
import { sessionKey } from '../core/vault.ts';
import { answer, ask, KEY, newSession } from '../storage/fixture.ts';
import { copiesOf } from '../../../tests/vault/replicas.ts';
import { browser, same, type TestBrowser } from './tests/browser.ts';

const OTHER = sessionKey('main', 'other');
const hasSession = (key: string) => (records: readonly string[]) => records.some((line) => line.startsWith(`sessions ${key} `));
const title = async ({ vault }: TestBrowser, key = KEY): Promise<string | undefined> => (await vault.sessions.get(key))?.title;

if (!hasNats) test.skip('vault.cluster/browser: nats-server is not installed here', () => {});
describe.runIf(hasNats)('browsers without a bridge on a real NATS server', () => {
  verifies('vault.cluster/browser-converges', 'a chat at one appears at another and at a bridge, and what that has at both', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await using b = await browser(nats.webUrl);
    await using c = await machine(settings(nats.url));
    await answer(a.vault, await ask(a.vault, 'm-1'));
    await same([a, b, c], hasSession(KEY));
    expect(await b.vault.messages.get('re-m-1')).toMatchObject({ content: 'text of re-m-1' });
    await b.vault.sessions.update(KEY, { title: 'Renamed' });
    await until(async () => (await title(a)) === 'Renamed');
    const memory = { id: 'x', text: 'of the bridge', category: 'fact', createdAt: 1 };
    await c.journal.push([version('x', Date.now(), 'c', { store: 'memories', payload: JSON.stringify(memory), base: null })], 'c');
    await until(async () => (await a.vault.memories.list()).length === 1);
    await same([a, b, c]);
    await a.vault.sessions.remove(KEY);
    await until(async () => (await b.vault.sessions.get(KEY)) === undefined);
    await using late = await browser(nats.webUrl);
    await same([a, b, c, late]);
    expect(a.replicator.state()).toMatchObject({ state: 'synced', pending: 0, problem: null });
  });

  verifies('vault.cluster/browser-converges', 'partitioned: the later version wins everywhere, and the other is kept, once', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await using b = await browser(nats.webUrl);
    await using c = await machine(settings(nats.url));
    await a.vault.sessions.add(newSession(), []);
    await same([a, b, c], hasSession(KEY));
    await nats.stop();
    await until(() => a.replicator.state().state === 'away' && b.replicator.state().state === 'away');
    await a.vault.sessions.update(KEY, { title: 'by a' });
    // Two writes in one millisecond have no order.
    const at = Date.now();
    await until(() => Date.now() > at);
    await b.vault.sessions.update(KEY, { title: 'by b' });
    await nats.start();
    await same([a, b], (records) => records.some((line) => line.startsWith('conflicts ')));
    await same([a, b, c]);
    for (const one of [a, b]) {
      expect(await title(one)).toBe('by b');
      const copies = await copiesOf(one.vault);
      expect(copies.map(({ store, payload }) => [store, payload.includes('by a')])).toEqual([['sessions', true]]);
    }
  });

  verifies(
    'vault.cluster/browser-converges',
    'successive versions by others do not conflict with the base version of a returning host',
    async () => {
      await using nats = await natsServer();
      await using a = await browser(nats.webUrl);
      await using b = await browser(nats.webUrl);
      await using bridge = await machine(settings(nats.url));
      await using other = await machine(settings(nats.url));
      await a.vault.sessions.add(newSession(), []);
      await same([a, b, bridge, other], hasSession(KEY));
      const away = await bridge.away();
      for (const [at, one] of [b, a, b].entries()) {
        await one.vault.sessions.update(KEY, { title: `title ${at}` });
        await until(async () => (await title(a)) === `title ${at}` && (await title(b)) === `title ${at}`);
      }
      await away.back();
      const all = await same([a, b, bridge, other]);
      expect(all.filter((line) => line.startsWith('conflicts '))).toEqual([]);
    },
  );

  verifies('vault.cluster/browser-converges', 'two that write the same at the same moment lose nothing', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await using b = await browser(nats.webUrl);
    await a.vault.sessions.add(newSession(), []);
    await same([a, b], hasSession(KEY));
    for (let round = 0; round < 10; round++)
      await Promise.all([a, b].map((one, at) => one.vault.sessions.update(KEY, { title: `${round} by ${at}` })));
    await a.settled();
    await b.settled();
    await same([a, b]);
    expect(await title(a)).toMatch(/^9 by/);
  });

  verifies('vault.cluster/browser-converges', 'a restarted host continues where it was, sending only its own writes', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await using b = await browser(nats.webUrl);
    await a.vault.sessions.add(newSession(), []);
    await same([a, b], hasSession(KEY));
    await a.settled();
    await a.alone();
    await a.vault.sessions.update(KEY, { title: 'alone' });
    await b.vault.sessions.add(newSession(OTHER), []);
    await a.restart();
    expect(a.replicator.state()).toMatchObject({ state: 'away', pending: 1 });
    await a.share();
    await same([a, b], hasSession(OTHER));
    expect(await title(b)).toBe('alone');
    expect(await copiesOf(a.vault)).toEqual([]);
  });

  verifies('vault.cluster/browser-converges', 'an attachment, a record larger than a message, and a secret', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await using b = await browser(nats.webUrl);
    await using c = await machine(settings(nats.url));
    await a.settled();
    const data = Buffer.alloc(2_000_000, 'attached ').toString('base64');
    const image = { type: 'image' as const, mimeType: 'image/png', data };
    const question = { id: 'm-1', role: 'user' as const, content: [image], timestamp: 1, sessionKey: KEY, parentId: null, depth: 0 };
    await a.vault.sessions.add(newSession(), [question]);
    const large = 'x'.repeat(1_500_000);
    await a.vault.memories.add({ id: 'large', category: 'fact', text: large, createdAt: 1 });
    await a.vault.secrets.set('key of a provider', 'sk-secret');
    await same([a, b, c], (records) => records.some((line) => line.startsWith('secrets ')));
    expect((await b.vault.memories.list())[0]?.text).toBe(large);
    expect(await b.vault.secrets.get('key of a provider')).toBe('sk-secret');
    expect(JSON.stringify((await b.vault.messages.get('m-1'))?.content)).toBe(JSON.stringify([image]));
    const [hash = ''] = (await c.contents()).flatMap(({ blobs }) => blobs ?? []);
    expect((await c.journal.getBlob(hash))?.length).toBe(2_000_000);
  });

  verifies('vault.cluster/browser-converges', 'an attachment of two records that are sent at the same time goes out once', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await a.settled();
    const image = { type: 'image' as const, mimeType: 'image/png', data: Buffer.alloc(1_000_000, 'attached ').toString('base64') };
    const question = { id: 'm-1', role: 'user' as const, content: [image], timestamp: 1, sessionKey: KEY, parentId: null, depth: 0 };
    await Promise.all([
      a.vault.sessions.add(newSession(), [question]),
      a.vault.sessions.add(newSession(OTHER), [{ ...question, id: 'm-2', sessionKey: OTHER }]),
    ]);
    await a.settled();
    expect(await objectsOf(nats)).toEqual({ objects: 1, uploads: 1 });
  });

  verifies('vault.cluster/browser-converges', 'a browser of an older build reads nothing of a newer one, and says so', async () => {
    await using nats = await natsServer();
    await using a = await machine(settings(nats.url));
    await is(a, 'shared');
    await a.journal.open({ origin: 'a', schema: 999, position: null });
    await a.journal.push([version('newer', 2)], 'a');
    await using b = await browser(nats.webUrl);
    await until(() => b.replicator.state().state === 'outdated');
    expect(await b.contents()).toEqual([]);
  });
});
