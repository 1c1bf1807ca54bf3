import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import { HANDOVER_CLOSE } from './hosts.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';
import { dialHost, type FakeHost, type FakeHostOptions } from './tests/fake-host.ts';
import { type JournalClient, createJournalClient } from './tests/journal-client.ts';

type Peer = FakeHost & { journal: JournalClient };

/** A host of this build, which has caught up unless `ready` is false. */
async function attach(
  gateway: TestBridge,
  kind: 'tab' | 'headless',
  origin: string,
  { ready = true, ...options }: Partial<FakeHostOptions> & { ready?: boolean } = {},
): Promise<Peer> {
  const credential = kind === 'tab' ? await gateway.credential('host') : gateway.bridge.hostCredential();
  const host = await gateway.attach({ credential, capabilities: ['journal'], ...options });
  const journal = createJournalClient(host);
  if (ready) await journal.catchUp(origin);
  return Object.assign(host, { journal });
}

const holder = ({ bridge }: TestBridge): string | undefined => bridge.hosts.list().find(({ holder: serves }) => serves)?.origin;
const roles = ({ journal }: Peer): unknown[] => journal.events.filter(({ event }) => event === 'host.role').map(({ payload }) => payload);

describe('the active host', () => {
  verifies('vault.hosts/auto', 'the managed browser until a tab has caught up, and again when it is gone', async () => {
    await using gateway = await startTestBridge();
    const changes: unknown[] = [];
    gateway.bridge.hosts.on('attach', (kind) => changes.push(['attach', kind]));
    gateway.bridge.hosts.on('detach', (kind, code) => changes.push(['detach', kind, code]));
    const managed = await attach(gateway, 'headless', 'managed');
    expect(holder(gateway)).toBe('managed');
    const tab = await attach(gateway, 'tab', 'tab', { ready: false });
    await tab.journal.call('journal.open', { origin: 'tab', schema: 1, position: null, name: 'A browser' });
    expect(holder(gateway)).toBe('managed');
    await tab.journal.call('journal.ready', { seq: 0 });
    expect(holder(gateway)).toBe('tab');
    expect(await (await gateway.http('/health', { token: null })).json()).toMatchObject({ status: 'ok', host: 'tab', hosts: 2 });
    tab.die();
    await waitFor(() => holder(gateway) === 'managed', 'the managed browser to serve');
    expect(changes).toEqual([
      ['attach', 'headless'],
      ['detach', 'headless', HANDOVER_CLOSE],
      ['attach', 'tab'],
      ['detach', 'tab', 1006],
      ['attach', 'headless'],
    ]);
    await waitFor(() => roles(managed).length === 3);
    expect(roles(managed)).toEqual([{ holder: true }, { holder: false }, { holder: true }]);
    expect(roles(tab)).toEqual([{ holder: true }]);
  });

  verifies('vault.hosts/auto', 'the first of two tabs is active while it exists; then the other, at once', async () => {
    await using gateway = await startTestBridge();
    await attach(gateway, 'headless', 'managed');
    const first = await attach(gateway, 'tab', 'first');
    const second = await attach(gateway, 'tab', 'second');
    expect([holder(gateway), roles(second)]).toEqual(['first', [{ holder: false }]]);
    let next: string | undefined;
    gateway.bridge.hosts.once('detach', () => (next = holder(gateway)));
    await first.close(HANDOVER_CLOSE, 'a newer version takes over');
    await waitFor(() => next !== undefined);
    expect(next).toBe('second');
    await attach(gateway, 'tab', 'first');
    expect(holder(gateway)).toBe('second');
    expect(await (await gateway.http('/v1/models')).status).toBe(200);
  });

  it('by the owner’s choice: a tab alone, or the managed browser alone; the others stay attached as replicas', async () => {
    await using tabs = await startTestBridge({ mode: 'tab' });
    await attach(tabs, 'headless', 'managed');
    expect(tabs.bridge.hosts.current).toBeNull();
    expect((await tabs.http('/v1/models')).status).toBe(503);
    await attach(tabs, 'tab', 'tab');
    expect(tabs.bridge.hosts.kind).toBe('tab');

    await using managed = await startTestBridge({ mode: 'headless' });
    await attach(managed, 'tab', 'tab');
    expect(managed.bridge.hosts.current).toBeNull();
    await attach(managed, 'headless', 'managed');
    expect([managed.bridge.hosts.kind, managed.bridge.hosts.size]).toEqual(['headless', 2]);
  });

  it('a host of an older build, without a journal, while nobody else can', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach({ credential: await gateway.credential('host') });
    expect(gateway.bridge.hosts.kind).toBe('tab');
    await attach(gateway, 'headless', 'managed');
    expect(gateway.bridge.hosts.kind).toBe('headless');
  });

  verifies('vault.hosts/outdated', 'never a host that is older than the data; one that was new enough no longer', async () => {
    await using gateway = await startTestBridge();
    gateway.journal.schema = 2;
    const old = await attach(gateway, 'tab', 'old', { ready: false });
    expect(await old.journal.call('journal.open', { origin: 'old', schema: 1, position: null })).toMatchObject({ schema: 2 });
    await expect(old.journal.call('journal.ready', { seq: 0 })).rejects.toMatchObject({ extra: { details: { reason: 'outdated' } } });
    expect(gateway.bridge.hosts.current).toBeNull();
    const current = await attach(gateway, 'tab', 'current', { ready: false });
    await current.journal.catchUp('current', 2);
    expect(holder(gateway)).toBe('current');
    // A newer build writes while the host catches up.
    const newer = await attach(gateway, 'headless', 'newer', { ready: false });
    await newer.journal.call('journal.open', { origin: 'newer', schema: 3, position: null });
    expect(holder(gateway)).toBe('current');
    await newer.journal.call('journal.push', {
      records: [{ store: 'config', key: 'k', clock: '000000000000001-0000-newer', payload: '{}' }],
    });
    expect(holder(gateway)).toBeUndefined();
    await newer.journal.call('journal.ready', { seq: 1 });
    expect(holder(gateway)).toBe('newer');
    await waitFor(() => roles(current).length === 2);
    expect(roles(current)).toEqual([{ holder: true }, { holder: false }]);
  });
});

describe('a host that stops responding', () => {
  verifies('lease/one-host', 'a frozen holder is replaced as soon as another one is ready; its clients are told to come back', async () => {
    await using gateway = await startTestBridge({ timing: { aliveMs: 100, heartbeatMs: 60_000 } });
    await attach(gateway, 'tab', 'frozen', { frozen: true });
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    await attach(gateway, 'tab', 'awake');
    expect(await client.closed).toMatchObject({ code: 1012 });
    expect(holder(gateway)).toBe('awake');
    await TestSocketClient.connect(gateway.url, gateway.token);
  });

  verifies('lease/one-host', 'every host is asked at each heartbeat, and dropped when it does not answer', async () => {
    await using gateway = await startTestBridge({ timing: { heartbeatMs: 30 } });
    let beats = 0;
    const healthy = await attach(gateway, 'tab', 'healthy');
    healthy.socket.on('message', () => beats++);
    const lost = new Promise((resolve) =>
      gateway.bridge.hosts.once('leave', ({ identity }, ...end) => resolve([identity?.origin, ...end])),
    );
    await attach(gateway, 'headless', 'frozen', { frozen: true });
    expect(await lost).toEqual(['frozen', 4011, 'the host stopped responding']);
    await waitFor(() => beats > 10);
    expect(holder(gateway)).toBe('healthy');
  });

  verifies('lease/one-host', 'it may serve again; another ready one does not disturb a holder that answers', async () => {
    await using gateway = await startTestBridge({ timing: { aliveMs: 50 } });
    await attach(gateway, 'tab', 'first');
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    for (const origin of ['a', 'b', 'c']) await attach(gateway, 'tab', origin);
    expect(await client.call('echo', { a: 1 })).toMatchObject({ payload: { a: 1 } });
    expect(holder(gateway)).toBe('first');
  });
});

describe('a host', () => {
  it('that dials again replaces its own earlier line', async () => {
    await using gateway = await startTestBridge();
    const credential = await gateway.credential('host');
    const earlier = await attach(gateway, 'tab', 'same', { credential });
    await attach(gateway, 'tab', 'same', { credential });
    expect(await earlier.mux.closed).toMatchObject({ code: 4011, reason: 'the same host attached again' });
    expect(gateway.bridge.hosts.list()).toMatchObject([{ origin: 'same', holder: true }]);
  });

  it('is the thirty-second at the most', async () => {
    await using gateway = await startTestBridge();
    const credential = await gateway.credential('host');
    for (let i = 0; i < 32; i++) await gateway.attach({ credential });
    const tooMany = await dialHost({ url: gateway.url, credential });
    expect(await tooMany.mux.closed).toMatchObject({ code: 1013, reason: '32 hosts are already attached' });
    expect(gateway.bridge.hosts.size).toBe(32);
  });

  it('is waited for while it catches up, and after one that hands over; not after one that left', async () => {
    await using gateway = await startTestBridge();
    const coming = await attach(gateway, 'tab', 'tab', { ready: false });
    const waiting = TestSocketClient.connect(gateway.url, gateway.token);
    await waitFor(() => gateway.bridge.hosts.waiting === 1);
    await coming.journal.catchUp('tab');
    await waiting;

    coming.socket.close(HANDOVER_CLOSE, 'a new build takes over');
    await waitFor(() => gateway.bridge.hosts.current === null);
    const waitingAgain = TestSocketClient.connect(gateway.url, gateway.token);
    await waitFor(() => gateway.bridge.hosts.waiting === 1);
    const next = await attach(gateway, 'tab', 'next');
    await waitingAgain;
    next.die();
    await waitFor(() => gateway.bridge.hosts.current === null);
    expect((await gateway.http('/v1/models')).status).toBe(503);
  });

  it('that leaves while it catches up is waited for no longer', async () => {
    await using gateway = await startTestBridge();
    const coming = await attach(gateway, 'tab', 'tab', { ready: false });
    const waiting = gateway.http('/v1/models');
    await waitFor(() => gateway.bridge.hosts.waiting === 1);
    coming.die();
    expect((await waiting).status).toBe(503);
  });
});

describe('clients when the holder changes', () => {
  verifies('vault.hosts/flip', 'keep their lines until the old host ends them; new ones go to the new host at once', async () => {
    await using gateway = await startTestBridge();
    const managed = await attach(gateway, 'headless', 'managed');
    const connect = (): Promise<TestSocketClient> => TestSocketClient.connect(gateway.url, gateway.token);
    const [idle, busy, slow] = [await connect(), await connect(), await connect()];
    const tab = await attach(gateway, 'tab', 'tab');
    const fresh = await connect();
    expect([managed.clients.length, tab.clients.length]).toEqual([3, 1]);
    expect((await gateway.http('/v1/models')).status).toBe(200);
    expect(tab.openings.filter(({ kind }) => kind === 'http')).toHaveLength(1);
    for (const client of [idle, busy, fresh]) expect(await client.call('echo', { a: 1 })).toMatchObject({ payload: { a: 1 } });
    managed.clients[0]?.link.close(CLOSE_CODES.handingOver, 'another host serves');
    expect(await idle.closed).toMatchObject({ code: 1012, reason: 'gateway restarting' });
    expect(await busy.call('echo', { a: 2 })).toMatchObject({ payload: { a: 2 } });
    managed.clients[1]?.stream.reset(CLOSE_CODES.handingOver, 'another host serves');
    expect(await busy.closed).toMatchObject({ code: 1012, reason: 'gateway restarting' });
    managed.clients[2]?.stream.reset(CLOSE_CODES.policy, 'slow consumer');
    expect(await slow.closed).toMatchObject({ code: 1008, reason: 'slow consumer' });
  });

  verifies('vault.hosts/moves', 'move to the new host without noticing, including data sent meanwhile', async () => {
    await using gateway = await startTestBridge();
    const managed = await attach(gateway, 'headless', 'managed');
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    const tab = await attach(gateway, 'tab', 'tab');
    const [old] = managed.clients;
    old?.link.leave();
    await old?.left;
    const answer = client.call('echo', { a: 1 });
    old?.link.move('{"seq":7}');
    expect(await answer).toMatchObject({ payload: { a: 1 } });
    expect(tab.openings[0]?.headers).toMatchObject({ 'x-perch-moved': '{"seq":7}', 'x-perch-head': '0' });
    expect(tab.clients).toHaveLength(1);
    // And back, after the tab is gone without a hand-over: the client is disconnected.
    tab.mux.close(1000, 'closed');
    expect(await client.closed).toMatchObject({ code: 1012 });
  });

  verifies('vault.hosts/flip', 'a request that the old host gives up is answered with 503, to be asked again', async () => {
    await using gateway = await startTestBridge();
    const received = Promise.withResolvers<void>();
    await attach(gateway, 'headless', 'managed', {
      rawHttp: (stream) => (received.resolve(), stream.reset(CLOSE_CODES.handingOver, 'another host serves')),
    });
    const answer = await gateway.http('/v1/models');
    await received.promise;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });

  verifies('vault.hosts/head', 'streams say what the host must have read before it answers', async () => {
    await using gateway = await startTestBridge();
    gateway.journal.head = 41;
    const host = await attach(gateway, 'tab', 'tab');
    await TestSocketClient.connect(gateway.url, gateway.token);
    gateway.journal.head = 42;
    await gateway.http('/v1/models', { headers: { 'x-perch-head': '7' } });
    expect(host.openings.map(({ kind, headers }) => [kind, headers['x-perch-head']])).toEqual([
      ['rpc', '41'],
      ['http', '42'],
    ]);
  });
});
