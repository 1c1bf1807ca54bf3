import 'fake-indexeddb/auto';
import { describe, expect, test, vi } from 'vitest';
import type { ClusterStatus } from '#shared/ports/host-api.ts';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { MemoryJournal } from '../../../tests/support/memory-journal.ts';
import { getConflictCopies } from '../../../tests/vault/test-replica.ts';
import { systemClock } from '#shared/async/clock.ts';
import { toSessionKey } from '../storage/chat-records.ts';
import { createBrowser, waitUntilSame } from '../nats/tests/test-browser.ts';
import { dumpDatabase, TEST_VAULT_KEY, newSession } from '../storage/fixture.ts';
import { openVault } from '../storage/open-vault.ts';
import { Replicator } from '../sync/replicator.ts';
import { ClusterSharing } from './cluster-sharing.ts';

/** Values that `MemoryJournal` reports. */
const VAULT_KEY = 'A'.repeat(43);
const OTHER = toSessionKey('main', 'other');

let hosts = 0;

async function host(name = `sharing-host-${++hosts}`) {
  const onfault = (error: unknown): void => console.error(error);
  const vault = await openVault({ name, clock: systemClock, onclosed: () => {}, onfault });
  let handed: Promise<void> = Promise.resolve();
  let way: unknown = null;
  const replicator = new Replicator({
    ...{ replica: vault.sync, clock: systemClock, schema: SCHEMA_VERSION, name, onfault },
    onBridgeVault: (key) => (handed = sharing.applyBridgeSettings(key, way)),
  });
  await replicator.start();
  let status: ClusterStatus | null = null;
  const sharing = new ClusterSharing({
    ...{ name: `${name}-cluster`, replica: vault.sync, replicator, schema: SCHEMA_VERSION, clock: systemClock, uplink: 'off' },
    onstatus(now) {
      status = now;
      one.onstatus(now);
    },
    delaysMs: { unlinked: 1, away: 50 },
  });
  const one = {
    ...{ name, vault, replicator, sharing },
    onstatus: (_: ClusterStatus | null): void => {},
    get status() {
      return status;
    },
    /** Attaches a bridge that reports this connection to the cluster. */
    async attach(journal: MemoryJournal, says: unknown) {
      way = says;
      sharing.setUplinkState('attached');
      const line = journal.connect();
      replicator.attach(line);
      await waitFor(() => replicator.state().state === 'synced' && replicator.state().pending === 0);
      await handed;
      return {
        away() {
          line.cut();
          sharing.setUplinkState('connecting');
        },
      };
    },
    contents: async () => vault.sync.readRecords(await vault.sync.readPendingKeys(true)),
    settled: () => waitFor(() => replicator.state().state === 'synced' && replicator.state().pending === 0, `${name} in step`),
    async [Symbol.asyncDispose]() {
      await sharing.close();
      await replicator.close();
      await vault.close();
    },
  };
  return one;
}

if (!hasNats) test.skip('vault.cluster/browser-joins: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a browser that shares without a bridge', () => {
  verifies(
    'vault.cluster/browser-joins',
    'one makes a vault, another joins it by the words; it takes up after a start, and leaves with everything',
    async () => {
      await using nats = await createNatsServer();
      const way = { servers: [nats.webUrl] };
      await using one = await host();
      await one.vault.sessions.add(newSession(), []);
      const words = await one.sharing.createRecoveryPhrase();
      expect(words.split(' ')).toHaveLength(24);
      expect(one.status).toBeNull();
      await one.sharing.join(way, words);
      await one.settled();
      await waitFor(() => one.status?.state === 'attached');
      expect(one.status).toEqual({ servers: way.servers, from: 'here', state: 'attached', problem: null });
      let name: string;
      {
        await using two = await host();
        name = two.name;
        await two.vault.sessions.add(newSession(OTHER), []);
        await two.sharing.join(way, words);
        await two.settled();
        await waitFor(async () => (await two.contents()).length === 4 && (await one.contents()).length === 4);
      }
      await one.vault.sessions.update(TEST_VAULT_KEY, { title: 'while it was away' });
      await using again = await host(name);
      await waitFor(async () => (await again.vault.sessions.get(TEST_VAULT_KEY))?.title === 'while it was away');
      await again.sharing.leave();
      expect(again.status).toBeNull();
      expect(again.replicator.state()).toMatchObject({ state: 'off', pending: 0 });
      expect(await again.contents()).toHaveLength(4);
      await one.vault.sessions.update(TEST_VAULT_KEY, { title: 'after it had left' });
      await one.settled();
      expect((await again.vault.sessions.get(TEST_VAULT_KEY))?.title).toBe('while it was away');
      // No key can be exported, and the password is not stored in plain text.
      await again.sharing.join({ ...way, user: 'someone', password: 'the-password' }, words);
      const stored = await dumpDatabase(`${name}-cluster`);
      const { keys, vaultKey } = stored.sharing?.cluster as { keys: Record<string, CryptoKey>; vaultKey: { key: CryptoKey } };
      expect([...Object.values(keys), vaultKey.key].map(({ extractable }) => extractable)).toEqual([false, false, false]);
      expect(
        Buffer.from(
          JSON.stringify(stored, (_, value) => (value instanceof ArrayBuffer ? Buffer.from(value).toString('latin1') : value)),
        ).includes('the-password'),
      ).toBe(false);
    },
  );

  verifies('vault.cluster/browser-joins', 'what does not fit is refused with a sentence, and changes nothing', async () => {
    await using nats = await createNatsServer({ config: 'authorization { token: right }' });
    await using one = await host();
    const words = await one.sharing.createRecoveryPhrase();
    const way = { servers: [nats.webUrl], token: 'right' };
    await expect(one.sharing.join(way, words.split(' ').slice(1).join(' '))).rejects.toThrow('24 words, but this one has 23');
    await expect(one.sharing.join({ servers: ['nats://x'] }, words)).rejects.toThrow('wss://host:port');
    await expect(one.sharing.join({ ...way, token: 'wrong' }, words)).rejects.toThrow('denied access to this browser');
    await expect(one.sharing.join({ servers: ['ws://127.0.0.1:1'] }, words)).rejects.toThrow('Couldn’t reach');
    expect(one.status).toBeNull();
    expect(one.replicator.state().state).toBe('off');
    await one.sharing.join(way, words);
    await one.settled();
  });

  verifies(
    'vault.cluster/browser-over',
    'from its bridge to the cluster and back, again and again: nothing is lost or doubled',
    async () => {
      await using nats = await createNatsServer();
      const way = { servers: [nats.webUrl] };
      const journal = new MemoryJournal();
      await using one = await host();
      await using other = await createBrowser(nats.webUrl, { vaultKey: VAULT_KEY });
      await one.vault.sessions.add(newSession(), []);
      for (let round = 0; round < 3; round++) {
        const bridge = await one.attach(journal, way);
        expect(one.status).toMatchObject({ from: 'bridge', state: 'resting' });
        await one.vault.sessions.update(TEST_VAULT_KEY, { title: `${round} with the bridge` });
        await waitFor(() => [...journal.rows.values()].some(({ payload }) => payload?.includes(`${round} with`)));
        bridge.away();
        await waitFor(() => one.status?.state === 'attached', 'the cluster in the place of the bridge');
        await one.settled();
        await waitFor(async () => (await other.vault.sessions.get(TEST_VAULT_KEY))?.title === `${round} with the bridge`);
        await other.vault.sessions.add(newSession(toSessionKey('main', `s${round}`)), []);
        await waitFor(async () => (await one.vault.sessions.get(toSessionKey('main', `s${round}`))) !== undefined);
        await one.vault.sessions.update(TEST_VAULT_KEY, { title: `${round} without` });
      }
      await other.waitUntilSynced();
      await one.settled();
      const lines = (records: readonly { store: string; key: string; clock: string }[]): string[] =>
        records.map(({ store, key, clock }) => `${store} ${key} ${clock}`).sort();
      // The other host's writes are several records, none of which comes over this bridge.
      await waitFor(async () => lines(await other.contents()).join() === lines(await one.contents()).join(), 'both to have the same');
      await one.attach(journal, way);
      expect(lines(await one.contents())).toEqual(lines(await other.contents()));
      expect(lines([...journal.rows.values()])).toEqual(lines(await one.contents()));
      expect(await getConflictCopies(one.vault)).toEqual([]);
      await waitUntilSame([other]);
      expect((await one.vault.sessions.get(TEST_VAULT_KEY))?.title).toBe('2 without');
    },
  );

  verifies('vault.cluster/browser-over', 'a bridge that shares no longer, or has another vault, takes the way away', async () => {
    await using nats = await createNatsServer();
    const way = { servers: [nats.webUrl] };
    await using one = await host();
    (await one.attach(new MemoryJournal(), way)).away();
    await waitFor(() => one.status?.state === 'attached');
    (await one.attach(new MemoryJournal(), undefined)).away();
    await waitFor(() => one.status?.state === 'attached');
    await one.attach(new MemoryJournal(), null);
    expect(one.status).toBeNull();
    await using two = await host();
    await two.sharing.join(way, await two.sharing.createRecoveryPhrase());
    await two.settled();
    await two.attach(new MemoryJournal(), undefined);
    expect(two.status).toBeNull();
  });

  verifies('vault.cluster/browser-over', 'a failed start is retried later, and reported as such', async () => {
    await using nats = await createNatsServer();
    await using one = await host();
    await one.sharing.join({ servers: [nats.webUrl] }, await one.sharing.createRecoveryPhrase());
    one.sharing.setUplinkState('attached');
    await waitFor(() => one.status?.state === 'resting');
    const refused = vi.spyOn(one.replicator, 'expectJournal').mockRejectedValueOnce(new Error('its part could not be loaded'));
    const states: unknown[] = [];
    one.onstatus = (status) => void states.push(status?.problem);
    one.sharing.setUplinkState('connecting');
    await waitFor(() => one.status?.state === 'attached', 'a second try');
    expect(refused).toHaveBeenCalledTimes(2);
    expect(states).toContain('Couldn’t start syncing. Perch tries again.');
  });
});
