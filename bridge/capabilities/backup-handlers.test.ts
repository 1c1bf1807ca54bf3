import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { backupPort } from '#shared/ports/backup-port.ts';
import { verifies } from '../../tests/requirements.ts';
import { createRealBridge } from '../../tests/support/real-bridge.ts';
import { createRecord, createTombstone } from '../backup/fixture.ts';

verifies(['backup/export', 'backup/restore'], 'restores deleted data, without unacknowledged writes', async () => {
  await using real = await createRealBridge();
  const { bridge, journal } = real;
  await journal.push(
    [createRecord('memories', 'kept', { text: 'likes tea' }), createRecord('files', 'main/a.txt', { content: 'a' })],
    'host-a',
  );
  const made = await bridge.call(backupPort, 'backup.export', {});
  expect(dirname(made.path)).toBe(join(real.home, 'backups'));
  expect(made).toMatchObject({ files: 3, missing: 0, size: readFileSync(made.path).length });
  const { backups } = await bridge.call(backupPort, 'backup.list', {});
  expect(backups).toEqual([
    { path: made.path, name: basename(made.path), size: made.size, created: expect.any(String) as string, records: 2, secrets: false },
  ]);

  await journal.push([createTombstone('memories', 'kept')], 'host-a');
  const params = { name: basename(made.path), replace: false, dryRun: true };
  const dry = await bridge.call(backupPort, 'backup.restore', params);
  expect(dry).toMatchObject({ restored: false, changes: { memories: { added: 1 }, files: { unchanged: 1 } } });
  expect(await bridge.call(backupPort, 'backup.restore', { ...params, dryRun: false })).toMatchObject({ restored: true });
  const pulled = await journal.pull(0, 100);
  expect(pulled.records.find(({ key }) => key === 'kept')?.payload).toContain('likes tea');
});

verifies('backup/restore', 'what was revoked stays revoked, and what ran without asking is asked for again', async () => {
  await using real = await createRealBridge();
  const { bridge, journal } = real;
  const stores = ['devices', 'apiKeys', 'execPolicies', 'approvals', 'execRequests', 'mcpTools', 'pushDevices'] as const;
  await journal.push(
    stores.map((store) => createRecord(store, 'a', { requestId: 'a' })),
    'host-a',
  );
  const { path } = await bridge.call(backupPort, 'backup.export', {});
  await journal.push(
    stores.map((store) => createTombstone(store, 'a')),
    'host-a',
  );
  await journal.push([createRecord('apiKeys', 'later', { id: 'later' })], 'host-a');
  for (const replace of [false, true]) {
    expect(await bridge.call(backupPort, 'backup.restore', { name: basename(path), replace, dryRun: false })).toMatchObject({
      restored: false,
    });
  }
});

verifies('backup/restore', 'labels come before the content, grants do not come back, and labels of replies stay', async () => {
  await using real = await createRealBridge();
  const { bridge, journal } = real;
  const job = { id: 'job', message: 'Read the news', outsideGrant: { tools: ['*'] } };
  const label = createRecord('contentLabels', 'file:main/a.txt', { sources: ['web:a.test'], at: 1 });
  await journal.push([createRecord('files', 'main/a.txt', { content: 'a' }), label, createRecord('jobs', 'job', job)], 'host-a');
  const { path } = await bridge.call(backupPort, 'backup.export', {});
  await journal.push(
    [
      ...[createTombstone('contentLabels', label.key), createRecord('files', 'main/a.txt', { content: 'b' })],
      ...[createTombstone('jobs', 'job'), createRecord('contentLabels', 'reply:1', { sources: ['web:a.test'], at: 1 })],
    ],
    'host-a',
  );
  const { head } = journal;
  await bridge.call(backupPort, 'backup.restore', { name: basename(path), replace: true, dryRun: false });
  const { records } = await journal.pull(head, 100);
  expect(records.map(({ store, key }) => `${store}/${key}`)).toEqual([
    'contentLabels/file:main/a.txt',
    ...['files/main/a.txt', 'jobs/job'].filter((name) => records.some(({ store, key }) => `${store}/${key}` === name)),
  ]);
  expect(records).toHaveLength(3);
  expect(records.find(({ store }) => store === 'jobs')?.payload).not.toContain('outsideGrant');
});

verifies('backup/restore', 'a missing or unusable backup changes nothing and reports why', async () => {
  await using real = await createRealBridge();
  const { bridge, journal, home } = real;
  const { path } = await bridge.call(backupPort, 'backup.export', {});
  const name = basename(path);
  const restore = (overrides: object) =>
    bridge.call(backupPort, 'backup.restore', { name, replace: false, dryRun: false, ...overrides } as never);
  await expect(restore({ name: 'none.zip' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(restore({ name: '../../etc/passwd' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(restore({ passphrase: 'long enough' })).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: /no secrets/ });
  writeFileSync(join(home, 'backups', 'broken.zip'), readFileSync(path).subarray(0, 100));
  const { head } = journal;
  await expect(restore({ name: 'broken.zip' })).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: /Couldn’t use broken\.zip/ });
  expect(journal.head).toBe(head);
  const { backups } = await bridge.call(backupPort, 'backup.list', {});
  expect(backups.find((each) => each.name === 'broken.zip')?.problem).toMatch(/Couldn’t use broken\.zip/);
});
