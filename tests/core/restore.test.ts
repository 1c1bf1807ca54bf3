import { expect } from 'vitest';
import { backupPort } from '#shared/ports/backup-port.ts';
import { verifies } from '../requirements.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { createTestGateway, waitFor } from '../support/test-gateway.ts';

verifies('backup/restore', 'responds once the restored data has been read', async () => {
  const sync = new FakeSync();
  sync.journal = { journal: { head: 7 }, hosts: [] } as unknown as typeof sync.journal;
  const bridge = new FakeBridge(
    createCapability(backupPort, {
      'backup.export': () => Promise.reject(new Error('not asked for')),
      'backup.list': () => Promise.resolve({ backups: [] }),
      'backup.restore': ({ dryRun }) => Promise.resolve({ restored: !dryRun, changes: {} }),
    }),
  );
  await using gw = await createTestGateway({ sync, bridge });
  const { client } = await gw.client();
  await client.call('backup.restore', { name: 'a.zip', dryRun: true });
  expect(sync.pendingReads).toEqual([]);
  let answered = false;
  const restored = client.call('backup.restore', { name: 'a.zip' }).finally(() => (answered = true));
  await waitFor(() => sync.pendingReads.length > 0);
  await client.call('health', {});
  expect(answered).toBe(false);
  expect(sync.pendingReads.map(({ seq }) => seq)).toEqual([7]);
  sync.pendingReads[0]?.read();
  expect((await restored).restored).toBe(true);
});
