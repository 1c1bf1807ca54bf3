import { expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { systemPort } from '#shared/ports/system-port.ts';
import type { AttachedHost } from '#shared/ports/journal-info.ts';
import type { PresenceEntry } from '#shared/rpc/presence-entry.ts';
import { isNewerVersion } from '../../system/status/compare-versions.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createSystemCapability } from '../../../../tests/support/bridge-capabilities.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';

const createHost = (change: Partial<AttachedHost> = {}): AttachedHost => ({
  ...{ origin: 'tab-1', kind: 'tab', build: 'test', name: 'Chrome 156 on Linux', since: 0, ready: true, holder: false },
  ...change,
});

/** A sync port that says who is attached. */
function createSync(...hosts: AttachedHost[]): FakeSync {
  const sync = new FakeSync();
  const journal = {
    id: 'j',
    path: '/home/journal.sqlite',
    bytes: 1,
    head: 1,
    schema: 4,
    records: 1,
    tombstones: 0,
    blobs: 0,
    blobBytes: 0,
  };
  sync.journal = { journal: { ...journal, changedAt: null, notices: [], free: null }, hosts };
  return sync;
}

verifies(['system/info', 'system/info-host'], 'reports the platform of browser and bridge; null for a missing bridge', async () => {
  const environment = { release: '1.2.3', host: () => 'headless' as const, browser: 'Chrome 156', platform: 'Linux' };
  await using alone = await createTestGateway({ environment });
  const expectedInfo = { version: '1.2.3', build: 'test', host: 'headless', browser: 'Chrome 156', platform: 'Linux', uptime: 0 };
  expect(await (await alone.client()).client.call('system.info', {})).toEqual({ ...expectedInfo, python: null, node: null });

  const bridge = new FakeBridge(createSystemCapability());
  const clock = new FakeClock();
  await using gw = await createTestGateway({ environment, bridge, clock });
  clock.advance(61_000);
  const { client } = await gw.client();
  const info = await client.call('system.info', {});
  expect(info).toMatchObject({ ...expectedInfo, uptime: 61, node: process.versions.node });
  expect(info.python === null || /^\d+\.\d+/.test(info.python)).toBe(true);
  bridge.detach();
  expect(await client.call('system.info', {})).toMatchObject({ node: null, python: null });
});

verifies('system/info-host', 'a bridge that does not answer is as good as none', async () => {
  const hangs = createCapability(systemPort, {
    'system.about': () => new Promise(() => {}),
    'system.faults': () => Promise.reject(new Error('no')),
    'system.latest': () => new Promise(() => {}),
  });
  const clock = new FakeClock();
  await using gw = await createTestGateway({ bridge: new FakeBridge(hangs), clock });
  const { client } = await gw.client();
  const waits = clock.waitForTimer(10_000);
  const info = client.call('system.info', {});
  await waits;
  clock.advance(10_000);
  expect(await info).toMatchObject({ node: null, python: null });
  const late = clock.waitForTimer(40_000);
  const update = client.call('update.check', {});
  await late;
  clock.advance(40_000);
  expect(await update).toMatchObject({ updateAvailable: false, error: expect.stringMatching(/40 s/) as string });
});

const getPresence = async (client: GatewayClient): Promise<Record<string, PresenceEntry['state']>> =>
  Object.fromEntries(
    (await client.call('system.presence', {})).entries.map(({ component, state }) => [component.replace(/:[\w-]{36}$/, ''), state]),
  );

verifies(['system/presence', 'connect/presence'], 'the parts, the hosts, the providers and the clients, each with its state', async () => {
  const clock = new FakeClock();
  const bridge = new FakeBridge(createSystemCapability());
  const sync = createSync(
    createHost({ holder: true }),
    createHost({ origin: 'tab-2' }),
    createHost({ origin: 'chromium', kind: 'headless', ready: false }),
  );
  let models = new Response();
  await using gw = await createTestGateway({ clock, bridge, sync, models: () => models });
  const { client } = await gw.client();
  models = new Response('', { status: 401 });
  await client.call('models.providers', { refresh: true });
  expect(await getPresence(client)).toEqual({
    ...{ gateway: 'online', bridge: 'online', journal: 'online', 'provider:guide': 'online', 'provider:test': 'away' },
    ...{ 'host:tab:tab-1': 'online', 'host:tab:tab-2': 'idle', 'host:headless:chromium': 'away', 'client:test': 'online' },
  });

  const started = clock.now();
  clock.advance(4 * 60_000);
  sync.setState({ state: 'failing', problem: 'full' });
  const since = clock.now();
  clock.advance(60_001);
  const { client: second } = await gw.client();
  const { entries } = await second.call('system.presence', {});
  expect(entries.find(({ component }) => component === 'journal')).toEqual({ component: 'journal', state: 'offline', updated: since });
  expect(entries.find(({ component }) => component === 'gateway')).toEqual({ component: 'gateway', state: 'online', updated: started });
  // The first one has asked for nothing for five minutes.
  const clients = entries.filter(({ component }) => component.startsWith('client:'));
  expect(clients.map(({ state, updated }) => [state, updated])).toEqual([
    ['idle', started],
    ['online', clock.now()],
  ]);
  // The same in the answer to connect, which the newcomer had before it was counted.
  const { snapshot } = second.hello;
  expect(snapshot.presence).toContainEqual({ component: 'journal', state: 'offline', updated: since });
  expect(snapshot.presence.map(({ component }) => component)).toEqual(expect.arrayContaining(['gateway', 'host:tab:tab-1']));

  bridge.detach();
  sync.setState({ state: 'away', role: 'none', problem: null });
  expect(await getPresence(client)).toMatchObject({ bridge: 'offline', journal: 'away' });
  expect(Object.keys(await getPresence(client)).some((name) => name.startsWith('host:'))).toBe(false);
});

verifies('system/presence', 'of very many clients the newest are told of', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await Promise.all(Array.from({ length: 150 }, () => gw.client()));
  const { entries } = await client.call('system.presence', {});
  expect(entries.filter(({ component }) => component.startsWith('client:'))).toHaveLength(100);
});

verifies('web/status', 'a page here counts, one that comes by the bridge, and a tab that hosts elsewhere; programs do not', async () => {
  const clock = new FakeClock();
  const sync = createSync();
  await using gw = await createTestGateway({ clock, sync });
  const { client } = await gw.client();
  expect(await client.call('web.status', {})).toEqual({ connected: false, uptime: 0 });
  const connect = async (principal: string): Promise<() => void> => {
    const link = gw.link({ principal });
    const answered = new Promise<void>((done) => link.receive({ message: (text) => text.includes('"res"') && done(), close: () => {} }));
    link.send('{"type":"req","id":"1","method":"connect","params":{"minProtocol":3,"maxProtocol":3}}');
    await answered;
    return () => link.close(1000, '');
  };
  const first = await connect('app:local');
  clock.advance(30_000);
  const second = await connect('app:abc');
  clock.advance(12_000);
  first();
  await expect.poll(() => client.call('health', {})).toMatchObject({ connections: 2 });
  expect(await client.call('web.status', {})).toEqual({ connected: true, uptime: 42 });
  second();
  await expect.poll(() => client.call('web.status', {})).toEqual({ connected: false, uptime: 0 });
  sync.journal = createSync(createHost({ since: clock.now() - 7_000 }), createHost({ kind: 'headless' })).journal;
  expect(await client.call('web.status', {})).toEqual({ connected: true, uptime: 7 });
});

verifies(
  ['update/check', 'update/never-fails'],
  'compares with the latest version found by the bridge; says so without a bridge',
  async () => {
    const latest = (version: string | null, more: { error?: string; note?: string } = {}) =>
      new FakeBridge(
        createCapability(systemPort, {
          'system.about': () => Promise.reject(new Error('not asked')),
          'system.faults': () => Promise.reject(new Error('not asked')),
          'system.latest': async () => ({ version, ...more }),
        }),
      );
    const check = async (bridge?: FakeBridge) => {
      await using gw = await createTestGateway({ environment: { release: '1.2.3' }, ...(bridge ? { bridge } : {}) });
      return await (await gw.client()).client.call('update.check', {});
    };
    const current = { currentVersion: '1.2.3' };
    expect(await check(latest('1.10.0'))).toEqual({ ...current, updateAvailable: true, latestVersion: '1.10.0' });
    expect(await check(latest('1.2.3'))).toEqual({ ...current, updateAvailable: false, latestVersion: '1.2.3' });
    for (const why of [{ error: 'Couldn’t reach the registry.' }, { note: 'The registry has no package perch.' }])
      expect(await check(latest(null, why))).toEqual({ ...current, updateAvailable: false, ...why });
    expect(await check()).toEqual({ ...current, updateAvailable: false, error: expect.stringMatching(/needs the bridge/) as string });
  },
);

verifies('update/check', 'versions are ordered by their numbers, previews before what they precede', () => {
  const rising = ['0.9.9', '1.0.0-alpha.1', '1.0.0-alpha.2', '1.0.0-alpha.10', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'];
  for (const [a, version] of rising.entries())
    for (const [b, than] of rising.entries()) expect(isNewerVersion(version, than), `${version} ${than}`).toBe(a > b);
  for (const nonsense of ['', 'latest', '1.2', '1.2.3.4', '1.2.x']) {
    expect(isNewerVersion(nonsense, '1.0.0')).toBe(false);
    expect(isNewerVersion('1.0.0', nonsense)).toBe(false);
  }
});
