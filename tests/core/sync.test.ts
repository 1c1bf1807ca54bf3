import { describe, expect } from 'vitest';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { RemoteChange, Vault } from '../../web/gateway/storage/vault-interface.ts';
import { VaultReadOnlyError } from '../../web/gateway/storage/vault-errors.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { createTestGateway, waitFor } from '../support/test-gateway.ts';
import { TestHosts } from '../support/test-hosts.ts';

const SECRET = 'sk-very-plain-secret';

/** The vault, and a way to tell the gateway that others have changed it. */
function withForeignChanges(vault: Vault, change: Partial<Vault> = {}): { vault: Vault; emitChanges(...changes: RemoteChange[]): void } {
  const listeners = new Set<(changes: readonly RemoteChange[]) => void>();
  return {
    vault: {
      ...vault,
      ...change,
      onRemoteChanges: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    emitChanges(...changes) {
      for (const listener of listeners) listener(changes);
    },
  };
}

const createForeignChange = (store: RemoteChange['store'], key: string, more: Partial<RemoteChange> = {}): RemoteChange => ({
  store,
  key,
  deleted: false,
  ...more,
});

/** The vault with these versions put aside. */
const withCopies = (vault: Vault, copies: ConflictCopy[], current: Record<string, string> = {}): Partial<Vault> => ({
  conflicts: {
    ...vault.conflicts,
    ids: async () => copies.map(({ id }) => id),
    get: async (id) => copies.find((each) => each.id === id),
    current: async ({ key }) => current[key],
  },
});

const createConflictCopy = (store: string, key: string, payload: unknown, at = 1_000): ConflictCopy => {
  const clock = `${String(at).padStart(15, '0')}-0000-elsewhere`;
  return { id: `${store}/${key}/${clock}`, store, key, clock, payload: JSON.stringify(payload) };
};

describe('sync.status', () => {
  verifies('sync.status/state', 'without a bridge there is nothing to sync with', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    expect(await client.call('sync.status', {})).toEqual({
      sync: { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null },
      journal: null,
      hosts: [],
      conflicts: 0,
    });
  });

  verifies('sync.status/state', 'the state as it is, the journal and who is attached', async () => {
    const sync = new FakeSync({ state: 'failing', role: 'replica', pending: 3, problem: 'The disk is full' });
    const journal = {
      ...{ id: 'j', path: '/home/perch/journal.db', bytes: 1, head: 2, schema: 2, records: 2, tombstones: 0 },
      ...{ blobs: 0, blobBytes: 0, changedAt: null, notices: [], free: null },
    };
    const hosts = [{ origin: 'o', kind: 'tab' as const, build: 'b', name: 'Chromium', since: 1, ready: true, holder: false }];
    sync.journal = { journal, hosts };
    await using gw = await createTestGateway({ sync });
    const { client } = await gw.client();
    const status = await client.call('sync.status', {});
    expect(status).toMatchObject({ sync: { state: 'failing', role: 'replica', pending: 3, problem: 'The disk is full' }, journal, hosts });
  });

  verifies('sync.changed/tells', 'a change at once, a flurry of them together', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync()];
    await using gw = await createTestGateway({ clock, sync });
    const { client, events } = await gw.client();
    const getSyncEvents = (): unknown[] => events.flatMap(({ event, payload }) => (event === 'sync.changed' ? [payload.state] : []));
    sync.setState({ state: 'away', role: 'none' });
    await client.call('health', {});
    expect(getSyncEvents()).toEqual(['away']);
    sync.setState({ state: 'catching-up' });
    sync.setState({ state: 'synced', role: 'holder' });
    await client.call('health', {});
    expect(getSyncEvents()).toEqual(['away']);
    clock.advance(100);
    await client.call('health', {});
    expect(getSyncEvents()).toEqual(['away', 'synced']);
    clock.advance(1_000);
    await client.call('health', {});
    expect(getSyncEvents()).toHaveLength(2);
  });
});

describe('conflicts', () => {
  verifies(['sync.conflicts/lists', 'sync.resolve/resolves'], 'a title that two hosts changed apart is put back', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    await a.client.call('chat.send', { message: 'Birds' });
    await waitFor(async () => (await b.client.call('sessions.list', {})).sessions.length === 1);
    two.crash();
    await waitFor(() => two.replicator.state().state === 'away');
    const path = 'main/main.jsonl';
    await b.client.call('sessions.rename', { path, title: 'Herons' });
    await a.client.call('sessions.rename', { path, title: 'Storks' });
    two.replicator.attach(hosts.journal.connect());
    const conflicts = async () => (await a.client.call('sync.conflicts', {})).conflicts;
    await waitFor(async () => (await conflicts()).length === 1);
    // The clocks decide which one is later.
    const [found] = await conflicts();
    const [kept, aside] = found?.kept === 'Herons' ? ['Herons', 'Storks'] : ['Storks', 'Herons'];
    const origin = aside === 'Herons' ? two.origin : one.origin;
    expect(found).toMatchObject({ kind: 'session', about: kept, origin, kept, aside, path });
    await waitFor(() => a.events.some(({ event }) => event === 'sync.changed'));
    const before = a.events.length;
    const id = found?.id ?? '';
    expect(await a.client.call('sync.resolve', { id, choice: 'restore' })).toEqual({ resolved: true });
    expect((await a.client.call('sessions.list', {})).sessions).toMatchObject([{ title: aside, messageCount: 2 }]);
    expect((await a.client.call('sync.status', {})).conflicts).toBe(0);
    expect(a.events.slice(before).map(({ event }) => event)).toContain('sessions.changed');
    expect(await a.client.call('sync.resolve', { id, choice: 'keep' })).toEqual({ resolved: false });
    // The other host's clients are notified.
    await waitFor(async () => (await b.client.call('sync.conflicts', {})).conflicts.length === 0);
    expect((await b.client.call('sessions.list', {})).sessions).toMatchObject([{ title: aside }]);
  });

  verifies('sync.conflicts/lists', 'lists each kind with text, newest first, shortened; unreadable copies say so', async () => {
    await using base = await createTestGateway();
    const { client: writer } = await base.client();
    const { messageId } = await writer.call('chat.send', { message: 'Birds' });
    const long = `${'x'.repeat(498)}🐦🐦`;
    const change = withCopies(
      base.vault,
      [
        createConflictCopy('memories', 'm', { id: 'm', text: long, category: 'fact', createdAt: 1 }, 1),
        createConflictCopy('heads', 'main/main', { headId: messageId, updatedAt: 1 }, 2),
        createConflictCopy('sessions', 'main/gone', { title: 'Gone', pinned: true, tags: ['a', 'b'] }, 3),
        createConflictCopy('sessions', 'main/main', 'nonsense', 4),
        createConflictCopy('later', 'thing', {}, 5),
      ],
      { 'main/main': '{"headId":null}' },
    );
    await using gw = await createTestGateway({ vault: { ...base.vault, ...change }, useGuide: true });
    const { client } = await gw.client();
    const { conflicts } = await client.call('sync.conflicts', {});
    expect(conflicts).toMatchObject([
      { kind: 'session', about: 'Birds', at: 4, aside: 'This version can’t be shown', path: 'main/main.jsonl' },
      { kind: 'session', about: 'Gone', at: 3, aside: 'Gone · pinned · tags: a, b', kept: null, origin: 'elsewhere' },
      { kind: 'branch', about: 'Branch of Birds', at: 2, aside: 'Hello there', kept: 'Empty chat' },
      { kind: 'memory', at: 1, aside: `${'x'.repeat(498)}…` },
    ]);
    expect(conflicts[3]).not.toHaveProperty('path');
    expect((await client.call('sync.status', {})).conflicts).toBe(4);
  });

  verifies('sync.conflicts/secrets', 'shows a setting without possible secrets', async () => {
    await using base = await createTestGateway();
    const change = withCopies(
      base.vault,
      [
        createConflictCopy('config', 'providers.p', { name: 'providers.p', value: { baseUrl: 'http://p.test/v1', apiKey: SECRET } }),
        createConflictCopy('config', 'providers', { name: 'providers', value: { p: { baseUrl: 'http://p.test/v2', apiKey: SECRET } } }, 1),
      ],
      { 'providers.p': JSON.stringify({ name: 'providers.p', value: { baseUrl: 'http://p.test/v3', apiKey: SECRET } }) },
    );
    await using gw = await createTestGateway({ vault: { ...base.vault, ...change }, useGuide: true });
    const { client } = await gw.client();
    const { conflicts } = await client.call('sync.conflicts', {});
    expect(JSON.stringify(conflicts)).not.toContain(SECRET);
    expect(conflicts).toMatchObject([
      { kind: 'setting', about: 'providers.p', aside: expect.stringContaining('p.test/v1'), kept: expect.stringContaining('p.test/v3') },
      { kind: 'setting', about: 'providers', aside: expect.stringContaining('p.test/v2'), kept: null },
    ]);
  });
});

describe('changes of other hosts', () => {
  verifies('vault.sync/follows', 'settings and keys are read anew', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const patch = { providers: { p: { baseUrl: 'http://p.test/v1', apiKey: SECRET } } };
    const { hash } = await a.client.call('config.patch', { patch });
    await waitFor(() => b.events.some(({ event, payload }) => event === 'config.changed' && payload.hash === hash));
    expect((await b.client.call('config.get', { key: 'providers.p' })).value).toEqual({ baseUrl: 'http://p.test/v1', apiKey: '***' });
    expect(two.gateway.origins()).toContain('http://p.test');
    // A key that is not known could not be kept.
    await b.client.call('config.set', { key: 'providers.p.name', value: 'P' });
    expect(await two.vault.secrets.get('providers.p.apiKey')).toBe(SECRET);
  });

  verifies('vault.sync/follows', 'a setting is written on top of what others have written', async () => {
    await using base = await createTestGateway();
    let fails = 0;
    const read: Vault['config']['read'] = () => (fails-- > 0 ? Promise.reject(new Error('not now')) : base.vault.config.read());
    const { vault, emitChanges } = withForeignChanges(base.vault, { config: { ...base.vault.config, read } });
    await using gw = await createTestGateway({ vault, useGuide: true });
    const { client } = await gw.client();
    const { hash } = await client.call('config.get', {});
    await base.vault.config.write({ ...(await base.vault.config.read()), agents: { other: { name: 'Other' } } });
    fails = 1;
    // Records that could not be read then are read before anything is written.
    emitChanges(createForeignChange('config', 'agents.other'));
    await expect(client.call('config.patch', { patch: { chat: { timeZone: 'UTC' } }, baseHash: hash })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    await client.call('config.patch', { patch: { chat: { timeZone: 'UTC' } } });
    expect(await base.vault.config.read()).toMatchObject({ agents: { other: { name: 'Other' } }, chat: { timeZone: 'UTC' } });
  });

  verifies('vault.sync/follows', 'a key that is still to come is not written away', async () => {
    await using base = await createTestGateway();
    const keys = new Map<string, string>();
    const { vault, emitChanges } = withForeignChanges(base.vault, {
      secrets: { ...base.vault.secrets, get: async (name) => keys.get(name) },
    });
    await base.vault.config.write({
      providers: { p: { baseUrl: 'http://p.test/v1', apiKey: '***' }, q: { baseUrl: 'http://q.test/v1', apiKey: '***' } },
    });
    await using gw = await createTestGateway({ vault, useGuide: true });
    const { client } = await gw.client();
    const getProviders = async () => (await client.call('config.get', { key: 'providers' })).value;
    expect(await getProviders()).toEqual({ p: { baseUrl: 'http://p.test/v1' }, q: { baseUrl: 'http://q.test/v1' } });
    await client.call('config.patch', { patch: { chat: { timeZone: 'UTC' }, providers: { q: null } } });
    expect((await base.vault.config.read())?.providers).toEqual({ p: { baseUrl: 'http://p.test/v1', apiKey: '***' } });
    keys.set('providers.p.apiKey', SECRET);
    emitChanges(createForeignChange('secrets', 'providers.p.apiKey'));
    await waitFor(async () => JSON.stringify(await getProviders()).includes('***'));
    expect(await getProviders()).toEqual({ p: { baseUrl: 'http://p.test/v1', apiKey: '***' } });
  });

  verifies('vault.sync/follows', 'a session is told of at most ten times a second', async () => {
    const clock = new FakeClock();
    await using base = await createTestGateway({ clock });
    const { client: writer } = await base.client();
    await writer.call('chat.send', { message: 'hi' });
    const { vault, emitChanges } = withForeignChanges(base.vault);
    await using gw = await createTestGateway({ vault, clock, useGuide: true });
    const { client, events } = await gw.client();
    const getModels = async (): Promise<unknown[]> => {
      await client.call('sessions.list', {});
      return events.flatMap(({ event, payload }) => (event === 'sessions.changed' ? [[payload.path, payload.deleted]] : []));
    };
    const main = { sessionKey: 'main/main' };
    emitChanges(
      createForeignChange('messages', 'm1', main),
      createForeignChange('heads', 'main/main', main),
      createForeignChange('usage', 'u'),
    );
    for (let count = 0; count < 5; count++) emitChanges(createForeignChange('messages', `m${count}`, main));
    expect(await getModels()).toEqual([['main/main.jsonl', undefined]]);
    clock.advance(99);
    expect(await getModels()).toHaveLength(1);
    clock.advance(1);
    expect(await getModels()).toHaveLength(2);
    clock.advance(100);
    // A deleted session is reported as deleted, one with a deleted message is not.
    emitChanges(
      createForeignChange('sessions', 'main/other', { deleted: true, sessionKey: 'main/other' }),
      createForeignChange('messages', 'm', { ...main, deleted: true }),
    );
    await waitFor(async () => (await getModels()).length === 4);
    expect((await getModels()).slice(2)).toEqual([
      ['main/other.jsonl', true],
      ['main/main.jsonl', undefined],
    ]);
  });
});

describe('a host older than the data', () => {
  verifies('vault.sync/read-only', 'says why a write was refused, and reads on', async () => {
    await using base = await createTestGateway();
    const refuse = (): Promise<never> => Promise.reject(new VaultReadOnlyError('older'));
    const vault: Vault = { ...base.vault, runs: { ...base.vault.runs, begin: refuse } };
    const sync = new FakeSync({ state: 'outdated', role: 'none' });
    await using gw = await createTestGateway({ vault, sync, useGuide: true });
    const { client } = await gw.client();
    await expect(client.call('chat.send', { message: 'hi' })).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: 'This browser runs an older version of Perch than its data, so nothing was saved. Reload to update.',
      extra: { details: { reason: 'read-only' } },
    });
    expect((await client.call('sessions.list', {})).sessions).toEqual([]);
    expect(gw.faults).toEqual([]);
  });
});
