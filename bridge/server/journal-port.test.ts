import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { JournalError, JournalFullError } from '../journal/journal.ts';
import { startTestBridge, type TestBridge, VAULT_KEY } from './tests/test-bridge.ts';
import { createJournalClient, type JournalClient } from './tests/journal-client.ts';

const setting = (key: string, by: string, ms = 1): SyncRecord => ({
  store: 'config',
  key,
  clock: `${String(ms).padStart(15, '0')}-0000-${by}`,
  base: null,
  seal: 'none',
  payload: JSON.stringify({ by, ms }),
});

async function replica(gateway: TestBridge, origin?: string): Promise<JournalClient & { die(): void }> {
  const host = await gateway.attach({ credential: await gateway.credential('host'), capabilities: ['journal'] });
  const journal = createJournalClient(host);
  if (origin !== undefined) await journal.catchUp(origin);
  return { ...journal, die: () => host.die() };
}

const getPayloads = ({ events }: JournalClient, name: string): unknown[] =>
  events.filter(({ event }) => event === name).map(({ payload }) => payload);

describe('the journal’s port', () => {
  verifies('vault.port/changes', 'a push of one host is announced to the other, which pulls; the pusher is not notified', async () => {
    await using gateway = await startTestBridge();
    const [a, b] = [await replica(gateway, 'a'), await replica(gateway, 'b')];
    const opened = await a.call('journal.open', { origin: 'a', schema: 1, position: null });
    expect(opened).toEqual({
      position: { journal: 'fake', era: 'one', seq: 0 },
      head: 0,
      schema: 1,
      wantsAll: false,
      stale: false,
      vaultKey: VAULT_KEY,
      shared: false,
      cluster: null,
    });
    const record = setting('theme', 'a');
    expect(await a.call('journal.push', { records: [record] })).toEqual({ before: 0, last: 1, conflicts: 0 });
    await waitFor(() => getPayloads(b, 'journal.changed').length > 0);
    expect(getPayloads(b, 'journal.changed')).toEqual([{ head: 1 }]);
    expect(await b.call('journal.pull', { after: 0 })).toEqual({ records: [{ ...record, seq: 1 }], next: 1, head: 1 });
    expect(await a.call('journal.pull', { after: 0 })).toEqual({ records: [], next: 1, head: 1 });
    expect(getPayloads(a, 'journal.changed')).toEqual([]);
  });

  verifies(
    'vault.cluster/browser-over',
    'a host that opens it gets the browsers’ route to the cluster, or none, with a log entry, if it is unreadable',
    async () => {
      const transport = { servers: ['wss://outside:443'], token: 'word' };
      const transports = [async () => transport, async () => null, () => Promise.reject(new Error('no such file'))];
      await using gateway = await startTestBridge({ browserWay: () => transports.shift()?.() ?? Promise.resolve(null) });
      const host = await replica(gateway);
      const openJournal = async () => host.call('journal.open', { origin: 'a', schema: 1, position: null });
      expect(await openJournal()).toMatchObject({ vaultKey: VAULT_KEY, cluster: transport });
      expect(await openJournal()).toMatchObject({ vaultKey: VAULT_KEY, cluster: null });
      expect(gateway.lines.join()).not.toContain('browsers');
      expect(await openJournal()).not.toHaveProperty('cluster');
      expect(gateway.lines).toContain('Couldn’t tell browsers how to reach the cluster: no such file');
      expect(gateway.lines.join()).not.toContain('word');
    },
  );

  verifies('vault.cluster/known-to-be-shared', 'whoever opens it is told whether other machines have the vault too', async () => {
    await using gateway = await startTestBridge();
    const host = await replica(gateway);
    const isShared = async () => (await host.call('journal.open', { origin: 'a', schema: 1, position: null })).shared;
    expect(await isShared()).toBe(false);
    Object.assign(gateway.journal, { examine: () => Promise.reject(new Error('not asked')) });
    expect(await isShared()).toBe(true);
  });

  it('a host that pushes without pause still receives others’ changes, once each', async () => {
    await using gateway = await startTestBridge();
    const [a, b] = [await replica(gateway, 'a'), await replica(gateway, 'b')];
    const gate = Promise.withResolvers<void>();
    gateway.journal.gate = gate.promise;
    const own = a.call('journal.push', { records: [setting('one', 'a')] });
    await waitFor(() => gateway.journal.pushes === 1);
    gateway.journal.gate = Promise.resolve();
    await b.call('journal.push', { records: [setting('two', 'b')] });
    gate.resolve();
    expect(await own).toMatchObject({ before: 1, last: 2 });
    await waitFor(() => getPayloads(a, 'journal.changed').length > 0);
    expect(getPayloads(a, 'journal.changed')).toEqual([{ head: 2 }]);
    expect(await a.call('journal.push', { records: [setting('three', 'a')] })).toMatchObject({ before: 2, last: 3 });
    await a.call('journal.info', {});
    expect(getPayloads(a, 'journal.changed')).toEqual([{ head: 2 }]);
    expect(getPayloads(b, 'journal.changed')).toEqual([{ head: 2 }, { head: 3 }]);
  });

  it('tells the pusher where the journal stored a copy of the losing version', async () => {
    await using gateway = await startTestBridge();
    const [a, b] = [await replica(gateway, 'a'), await replica(gateway, 'b')];
    await a.call('journal.push', { records: [setting('theme', 'a', 1)] });
    expect(await b.call('journal.push', { records: [setting('theme', 'b', 2)] })).toMatchObject({ conflicts: 1, last: 3 });
    await waitFor(() => getPayloads(b, 'journal.changed').some((payload) => JSON.stringify(payload) === '{"head":3}'));
  });

  it('changes by another process, and a journal that was replaced, are told to all', async () => {
    await using gateway = await startTestBridge();
    const all = [await replica(gateway, 'a'), await replica(gateway, 'b')];
    gateway.journal.head = 7;
    gateway.journal.emit('changed', 7);
    gateway.journal.emit('replaced', 'the file was damaged');
    for (const client of all) {
      await waitFor(() => getPayloads(client, 'journal.replaced').length > 0);
      expect(getPayloads(client, 'journal.changed')).toEqual([{ head: 7 }]);
      expect(getPayloads(client, 'journal.replaced')).toEqual([{ reason: 'the file was damaged' }]);
    }
    expect(gateway.bridge.hosts.list()).toMatchObject([
      { origin: 'a', ready: false, holder: true },
      { origin: 'b', ready: false, holder: false },
    ]);
    await all[0]?.catchUp('a');
    expect(gateway.bridge.hosts.list()[0]).toMatchObject({ origin: 'a', ready: true, holder: true });
  });

  it('serves nobody without an identity, or with that of another', async () => {
    await using gateway = await startTestBridge();
    const host = await replica(gateway);
    for (const early of [
      host.call('journal.pull', { after: 0 }),
      host.call('journal.push', { records: [] }),
      host.call('journal.ready', { seq: 0 }),
      host.call('lease.take', { name: 'run', ttlMs: 1 }),
      host.call('host.signal', { payload: 1 }),
    ])
      await expect(early).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringContaining('journal.open') });
    await host.catchUp('a');
    await expect(host.catchUp('b')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(gateway.bridge.hosts.list()).toMatchObject([{ origin: 'a' }]);
  });

  verifies('vault.hosts/outdated', 'a host older than the data may neither pull nor push, and is told why', async () => {
    await using gateway = await startTestBridge();
    gateway.journal.schema = 2;
    const old = await replica(gateway);
    expect(await old.call('journal.open', { origin: 'old', schema: 1, position: null })).toMatchObject({ schema: 2 });
    const refusal = { code: 'INVALID_PARAMS', extra: { details: { reason: 'outdated' } } };
    await expect(old.call('journal.pull', { after: 0 })).rejects.toMatchObject(refusal);
    await expect(old.call('journal.push', { records: [setting('x', 'old')] })).rejects.toMatchObject(refusal);
    expect(gateway.journal.rows.size).toBe(0);
  });

  verifies(
    'vault.port/failures',
    'a record that the journal cannot store is refused with a message, logged once, and stored later',
    async () => {
      await using gateway = await startTestBridge();
      const host = await replica(gateway, 'a');
      const push = () => host.call('journal.push', { records: [setting('x', 'a')] });
      gateway.journal.failure = new JournalFullError('database or disk is full');
      const full = { code: 'INTERNAL_ERROR', message: expect.stringContaining('is full'), extra: { details: { reason: 'journal-full' } } };
      await expect(push()).rejects.toMatchObject(full);
      await expect(push()).rejects.toMatchObject(full);
      expect(gateway.lines.filter((line) => line.includes('is full'))).toHaveLength(1);
      gateway.journal.failure = new JournalError('the file cannot be read');
      await expect(host.call('journal.pull', { after: 0 })).rejects.toMatchObject({
        message: 'The journal can’t be used: the file cannot be read',
        extra: { details: { reason: 'journal-failed' } },
      });
      // A host that can't open the journal can still report that it is ready.
      const late = await replica(gateway);
      await expect(late.call('journal.open', { origin: 'late', schema: 1, position: null })).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
      });
      await late.call('journal.ready', { seq: 0 });
      gateway.journal.failure = undefined;
      gateway.journal.low = true;
      expect(await push()).toMatchObject({ last: 1, low: true });
      expect(gateway.lines.filter((line) => line.startsWith('Storage is full'))).toHaveLength(1);
      gateway.journal.low = false;
      expect(await push()).not.toHaveProperty('low');
      expect(gateway.lines).toContain('The journal works again');
    },
  );

  it('reports attached hosts and the journal’s location', async () => {
    await using gateway = await startTestBridge();
    const a = await replica(gateway);
    await a.call('journal.open', { origin: 'a', schema: 1, position: null, name: 'A browser' });
    const { journal, hosts } = await a.call('journal.info', {});
    expect(journal.path).toBe(gateway.journal.path);
    expect(hosts).toEqual([
      { origin: 'a', kind: 'tab', build: 'fake', name: 'A browser', since: expect.any(Number), ready: false, holder: false },
    ]);
  });
});

describe('signals', () => {
  it('go to the host that is named, or to the one that serves', async () => {
    await using gateway = await startTestBridge();
    const [holder, b, c] = [await replica(gateway, 'a'), await replica(gateway, 'b'), await replica(gateway, 'c')];
    expect(await b.call('host.signal', { to: 'c', payload: { abort: 'run-1' } })).toEqual({ delivered: true });
    expect(await b.call('host.signal', { payload: 'to the holder' })).toEqual({ delivered: true });
    expect(await b.call('host.signal', { to: 'nobody', payload: 1 })).toEqual({ delivered: false });
    await waitFor(() => getPayloads(c, 'host.signal').length + getPayloads(holder, 'host.signal').length === 2);
    expect(getPayloads(c, 'host.signal')).toEqual([{ from: 'b', payload: { abort: 'run-1' } }]);
    expect(getPayloads(holder, 'host.signal')).toEqual([{ from: 'b', payload: 'to the holder' }]);
    expect(getPayloads(b, 'host.signal')).toEqual([]);
  });
});

describe('leases', () => {
  verifies('vault.port/presence', 'are requested together with presence: no host counts as gone just after a start', async () => {
    await using started = await startTestBridge();
    const a = await replica(started, 'a');
    const lease = { name: 'run/1', holder: 'a', presumed: 'b', ttlMs: 1000 };
    expect(await a.call('lease.take', { name: 'run/1', presumed: 'b', ttlMs: 1000 })).toEqual({ fence: null });
    expect(started.journal.leaseRequests).toEqual([{ ...lease, present: null }]);
    await using running = await startTestBridge({ timing: { presenceMs: 0 } });
    const [c, d] = [await replica(running, 'a'), await replica(running, 'b')];
    expect(await c.call('lease.take', { name: 'run/1', presumed: 'b', ttlMs: 1000 })).toEqual({ fence: null });
    d.die();
    await waitFor(() => running.bridge.hosts.size === 1);
    expect(await c.call('lease.take', { name: 'run/1', presumed: 'b', ttlMs: 1000 })).toEqual({ fence: 2 });
    expect(running.journal.leaseRequests).toEqual([
      { ...lease, present: ['a', 'b'] },
      { ...lease, present: ['a'] },
    ]);
    await c.call('lease.release', { name: 'run/1', fence: 2 });
    expect(running.journal.released).toEqual([['run/1', 'a', 2]]);
  });
});

describe('attachments', () => {
  const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

  verifies('vault.port/attachments', 'are put and got by their hash, whole, up to 20 MiB', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const sendBlobRequest = (method: string, hash: string, body?: Uint8Array) =>
      fetchOverStream(host.mux, { kind: 'blobs', headers: { ':path': `/${hash}` } }, { method, body, signal: AbortSignal.timeout(10_000) });
    const large = new Uint8Array(20 * 1024 * 1024).fill(7);
    expect((await sendBlobRequest('PUT', hashOf(large), large)).status).toBe(204);
    const got = await sendBlobRequest('GET', hashOf(large));
    expect([got.status, hashOf(new Uint8Array(await got.arrayBuffer()))]).toEqual([200, hashOf(large)]);
    const empty = new Uint8Array(0);
    expect((await sendBlobRequest('PUT', hashOf(empty), empty)).status).toBe(204);
    expect((await sendBlobRequest('GET', 'a'.repeat(64))).status).toBe(404);
    expect((await sendBlobRequest('GET', '../token')).status).toBe(404);
    expect((await sendBlobRequest('DELETE', hashOf(large))).status).toBe(405);
  });

  verifies('vault.port/attachments', 'with a wrong hash, too many bytes or no room are refused', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const put = (hash: string, body: Uint8Array) =>
      fetchOverStream(
        host.mux,
        { kind: 'blobs', headers: { ':path': `/${hash}` } },
        { method: 'PUT', body, signal: AbortSignal.timeout(10_000) },
      );
    const bytes = new Uint8Array([1, 2, 3]);
    const wrong = await put('b'.repeat(64), bytes);
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { message: 'The content doesn’t match the SHA-256' } }]);
    const large = new Uint8Array(20 * 1024 * 1024 + 1);
    expect((await put(hashOf(large), large)).status).toBe(413);
    gateway.journal.failure = new JournalFullError('database or disk is full');
    expect((await put(hashOf(bytes), bytes)).status).toBe(507);
    expect(gateway.journal.blobs.size).toBe(0);
  });
});
