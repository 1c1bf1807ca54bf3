import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { openJournal } from '../journal/open-journal.ts';
import { startTestBridge, type TestBridge, VAULT_KEY } from './tests/test-bridge.ts';
import type { FakeHost } from './tests/fake-host.ts';
import { createJournalClient, type JournalClient } from './tests/journal-client.ts';

async function attach(gateway: TestBridge, origin: string): Promise<{ host: FakeHost; journal: JournalClient }> {
  const host = await gateway.attach({ credential: await gateway.credential('host'), capabilities: ['journal'] });
  const journal = createJournalClient(host);
  await journal.catchUp(origin);
  return { host, journal };
}

const record: SyncRecord = {
  store: 'config',
  key: 'theme',
  clock: '000000000000001-0000-a',
  base: null,
  seal: 'none',
  payload: '{"theme":"dark"}',
};
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

verifies('vault.port/changes', 'through the file on disk, and after a restart of everything', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'perch-journal-'));
  const open = () => openJournal({ dir, vaultKey: VAULT_KEY });
  try {
    {
      await using disk = await open();
      await using gateway = await startTestBridge({ journal: disk, timing: { presenceMs: 0 } });
      const [a, b] = [await attach(gateway, 'a'), await attach(gateway, 'b')];
      const pushed = await a.journal.call('journal.push', { records: [record] });
      await waitFor(() => b.journal.events.some(({ event }) => event === 'journal.changed'));
      const { records, next } = await b.journal.call('journal.pull', { after: 0 });
      expect(records).toEqual([{ ...record, seq: pushed.last }]);
      expect([next, disk.head]).toEqual([pushed.last, pushed.last]);
      const put = await fetchOverStream(
        a.host.mux,
        { kind: 'blobs', headers: { ':path': `/${EMPTY_SHA256}` } },
        { method: 'PUT', body: new Uint8Array(0), signal: AbortSignal.timeout(5000) },
      );
      expect(put.status).toBe(204);
      expect(await b.journal.call('lease.take', { name: 'run/1', presumed: 'a', ttlMs: 1000 })).toEqual({ fence: null });
      a.host.die();
      await waitFor(() => gateway.bridge.hosts.size === 1);
      expect(await b.journal.call('lease.take', { name: 'run/1', presumed: 'a', ttlMs: 1000 })).toEqual({ fence: 2 });
      expect(a.journal.events.filter(({ event }) => event === 'journal.changed')).toEqual([]);
    }
    await using disk = await open();
    await using gateway = await startTestBridge({ journal: disk });
    const c = await attach(gateway, 'c');
    expect((await c.journal.call('journal.pull', { after: 0 })).records).toMatchObject([record]);
    const { journal, hosts } = await c.journal.call('journal.info', {});
    expect([journal.records, journal.blobs, hosts.length]).toEqual([1, 1, 1]);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
});
