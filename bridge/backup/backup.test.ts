import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BlobReader, BlobWriter, type FileEntry, ZipReader } from '@zip.js/zip.js';
import { expect, test, vi } from 'vitest';
import type { SyncRecord } from '#shared/sync/record.ts';
import { verifies } from '../../tests/requirements.ts';
import {
  writeTestBackup,
  restoreFromFile,
  readContents,
  readAllRecords,
  fillJournal,
  createTempFolder,
  toHash,
  openJournalIn,
  IMAGE_BYTES,
  createRecord,
  SECRET,
  createSecret,
} from './fixture.ts';
import { listBackups, saveBackup } from './backup-folder.ts';
import { InvalidBackupError } from './backup-format.ts';
import { FileExistsError, writeNewFile } from './new-file.ts';
import { readBackup } from './read-backup.ts';
import { applyRestore, planRestore } from './restore-backup.ts';
import { VaultSeal } from './sealed-secrets.ts';

const omitPrefixes = (all: Record<string, string>, ...prefixes: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([id]) => !prefixes.some((prefix) => id.startsWith(prefix))));

verifies('vault.backup/round-trip', 'a journal that is gone has all of it again, and a second restore changes nothing', async () => {
  using dir = createTempFolder();
  using other = createTempFolder();
  const path = join(dir.path, 'backup.zip');
  await using journal = await openJournalIn(dir.path);
  await fillJournal(journal);
  const { manifest } = await writeTestBackup(journal, path);
  expect(manifest.counts).toMatchObject({
    records: { sessions: 2, heads: 1, messages: 31, runs: 1, config: 1, memories: 1 },
    blobs: 1,
    secrets: 0,
  });

  await using fresh = await openJournalIn(other.path);
  await restoreFromFile(fresh, path);
  expect(await readContents(fresh)).toEqual(omitPrefixes(await readContents(journal), 'secrets/', 'runs/under-way'));
  expect(Buffer.from((await fresh.getBlob(toHash(IMAGE_BYTES))) ?? []).equals(IMAGE_BYTES)).toBe(true);
  expect((await fresh.info()).schema).toBe(manifest.schema);

  const before = await readAllRecords(fresh);
  const { plan } = await restoreFromFile(fresh, path);
  expect(plan).toMatchObject({ records: [], blobs: [] });
  expect(plan.stores.messages).toEqual({ added: 0, changed: 0, unchanged: 31, removed: 0 });
  expect(await readAllRecords(fresh)).toEqual(before);
});

verifies('vault.backup/keeps', 'missing and differing records are restored, newer ones stay, and no copies are made', async () => {
  using dir = createTempFolder();
  const path = join(dir.path, 'backup.zip');
  await using journal = await openJournalIn(dir.path);
  await fillJournal(journal);
  await writeTestBackup(journal, path);
  const [theme] = (await readAllRecords(journal)).filter(({ store }) => store === 'config');
  // A host whose clock is a day ahead.
  const ahead = `${String(Date.now() + 86_400_000).padStart(15, '0')}-0000-host-b`;
  await journal.push(
    [
      createRecord('config', 'chat', { name: 'chat', value: { theme: 'light' } }, { clock: ahead, base: theme?.clock ?? null }),
      createRecord('sessions', 'main/three', { title: 'Three' }),
      { ...createRecord('messages', 'm3', null), deleted: true, payload: null },
      createRecord('runs', 'ended', { id: 'ended', status: 'failed' }, { fence: 12 }),
      createRecord('runs', 'new', { id: 'new', status: 'queued' }, { fence: 13 }),
    ],
    'host-b',
  );
  const { plan } = await restoreFromFile(journal, path);
  expect(plan.stores.config).toEqual({ added: 0, changed: 1, unchanged: 0, removed: 0 });
  expect(plan.stores.messages).toEqual({ added: 1, changed: 0, unchanged: 30, removed: 0 });
  const now = await readContents(journal);
  expect(now).toMatchObject({
    'config/chat': JSON.stringify({ name: 'chat', value: { theme: 'dark' } }),
    'sessions/main/three': JSON.stringify({ title: 'Three' }),
    'runs/ended': expect.stringContaining('"status":"done"') as string,
  });
  expect(now).toHaveProperty('messages/m3');
  expect(Object.keys(now).filter((id) => id.startsWith('conflicts/'))).toEqual([]);
  const restored = (await readAllRecords(journal)).find(({ store }) => store === 'config');
  expect(restored && restored.clock > ahead).toBe(true);
});

verifies('vault.backup/keeps', 'replacing deletes newer records, except keys and active work', async () => {
  using dir = createTempFolder();
  const path = join(dir.path, 'backup.zip');
  await using journal = await openJournalIn(dir.path);
  await fillJournal(journal);
  await writeTestBackup(journal, path);
  const before = await readContents(journal);
  await journal.push(
    [
      createRecord('sessions', 'main/three', { title: 'Three' }),
      createRecord('runs', 'later', { id: 'later', status: 'done' }, { fence: 40 }),
      createRecord('runs', 'queued', { id: 'queued', status: 'queued' }, { fence: 41 }),
      createSecret('providers.third', 'third'),
    ],
    'host-b',
  );
  const { plan } = await restoreFromFile(journal, path, { replace: true });
  expect([plan.stores.sessions.removed, plan.stores.runs.removed, plan.stores.secrets.removed]).toEqual([1, 1, 0]);
  expect(await readContents(journal)).toEqual({
    ...before,
    'runs/queued': expect.stringContaining('"status":"queued"') as string,
    'secrets/providers.third': 'third',
  });
  expect((await restoreFromFile(journal, path, { replace: true })).plan.records).toEqual([]);
});

test('a write between the plan and the restore is older, and is kept as a copy', async () => {
  using dir = createTempFolder();
  const path = join(dir.path, 'backup.zip');
  await using journal = await openJournalIn(dir.path);
  await fillJournal(journal);
  await writeTestBackup(journal, path);
  const write = (value: string, base: string | null): SyncRecord => createRecord('config', 'chat', { name: 'chat', value }, { base });
  const current = async (): Promise<string | null> =>
    (await readAllRecords(journal)).find(({ store }) => store === 'config')?.clock ?? null;
  await journal.push([write('second', await current())], 'host-a');
  const records: SyncRecord[] = [];
  await using backup = await readBackup(path, { limit: 1e9, schema: 99, record: (each) => void records.push(each) });
  const plan = await planRestore({ journal, backup, records, secrets: [], seal: new VaultSeal('AAAA'), replace: false });
  const ahead = `${String(Date.now() + 86_400_000).padStart(15, '0')}-0000-host-b`;
  await journal.push([{ ...write('third', await current()), clock: ahead }], 'host-b');
  await applyRestore(plan, { journal, backup });
  const now = await readContents(journal);
  expect(now['config/chat']).toContain('dark');
  expect(Object.entries(now).filter(([id]) => id.startsWith('conflicts/'))).toEqual([
    [expect.any(String), expect.stringContaining('third')],
  ]);
});

verifies('vault.backup/secrets', 'they are in it only sealed, and open in another vault', async () => {
  using dir = createTempFolder();
  using other = createTempFolder();
  const [plain, sealed] = [join(dir.path, 'plain.zip'), join(dir.path, 'sealed.zip')];
  await using journal = await openJournalIn(dir.path);
  await fillJournal(journal);
  await writeTestBackup(journal, plain);
  const { manifest } = await writeTestBackup(journal, sealed, 'correct horse');
  expect(manifest.counts.secrets).toBe(2);
  for (const path of [plain, sealed]) expect((await readAllText(path)).includes(SECRET), path).toBe(false);

  await using fresh = await openJournalIn(other.path);
  const into = new VaultSeal(Buffer.alloc(32, 7).toString('base64url'));
  await expect(restoreFromFile(fresh, sealed, { passphrase: 'wrong horse', into })).rejects.toThrow(InvalidBackupError);
  expect(fresh.head).toBe(0);
  await restoreFromFile(fresh, sealed, { passphrase: 'correct horse', into });
  const secrets = (await readAllRecords(fresh)).filter(({ store }) => store === 'secrets');
  expect(secrets.map(({ key, payload }) => [key, into.open(key, payload ?? '')])).toEqual([
    ['providers.openai', SECRET],
    ['providers.other', `${SECRET}-too`],
  ]);
  expect((await restoreFromFile(fresh, sealed, { passphrase: 'correct horse', into })).plan.records).toEqual([]);
});

test('a key that is sealed otherwise is named and left out; a sealed text opens under its own name alone', async () => {
  using dir = createTempFolder();
  await using journal = await openJournalIn(dir.path);
  const strange = new VaultSeal(Buffer.alloc(32, 9).toString('base64url'));
  await journal.push([createSecret('good', 'one'), { ...createSecret('strange', ''), payload: strange.seal('strange', 'two') }], 'host-a');
  const { unreadable, manifest } = await writeTestBackup(journal, join(dir.path, 'b.zip'), 'correct horse');
  expect([unreadable, manifest.counts.secrets]).toEqual([['strange'], 1]);
  expect(strange.open('other', strange.seal('strange', 'two'))).toBeUndefined();
});

test('an attachment that is not on this disk yet is counted, and its record is backed up and restored all the same', async () => {
  using dir = createTempFolder();
  using other = createTempFolder();
  const path = join(dir.path, 'b.zip');
  await using journal = await openJournalIn(dir.path);
  await journal.push([createRecord('messages', 'm', { id: 'm' }, { blobs: ['a'.repeat(64)] })], 'host-a');
  expect((await writeTestBackup(journal, path)).manifest).toMatchObject({ missingBlobs: 1, counts: { blobs: 0 } });
  await using fresh = await openJournalIn(other.path);
  await restoreFromFile(fresh, path);
  expect(await readContents(fresh)).toEqual(await readContents(journal));
});

verifies('vault.backup/file', 'nothing is replaced unasked, and nothing is left of a write that fails', async () => {
  using dir = createTempFolder();
  const path = join(dir.path, 'b.zip');
  await expect(
    writeNewFile(path, { replace: false }, async (file) => {
      await file.write('half');
      throw new Error('no more');
    }),
  ).rejects.toThrow('no more');
  expect(readdirSync(dir.path)).toEqual([]);
  await writeNewFile(path, { replace: false }, (file) => file.writeFile('first'));
  await expect(writeNewFile(path, { replace: false }, (file) => file.writeFile('second'))).rejects.toThrow(FileExistsError);
  expect([readFileSync(path, 'utf8'), existsSync(path)]).toEqual(['first', true]);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  const raced = join(dir.path, 'raced.zip');
  await expect(writeNewFile(raced, { replace: false }, async () => writeFileSync(raced, 'another’s'))).rejects.toThrow(FileExistsError);
  expect(readFileSync(raced, 'utf8')).toBe('another’s');
  rmSync(raced);
  await writeNewFile(path, { replace: true }, (file) => file.writeFile('second'));
  expect([readFileSync(path, 'utf8'), readdirSync(dir.path)]).toEqual(['second', ['b.zip']]);
});

verifies('vault.backup/file', 'two of the same second lie beside each other', async () => {
  using dir = createTempFolder();
  const home = join(dir.path, 'home');
  await using journal = await openJournalIn(dir.path);
  const paths: string[] = [];
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (let n = 0; n < 3; n++) paths.push((await saveBackup(home, { journal, app: '1.0.0' })).path);
  } finally {
    vi.useRealTimers();
  }
  const listed: string[] = [];
  for await (const { path } of listBackups(home)) listed.push(path);
  expect(new Set(paths).size).toBe(3);
  expect(listed).toEqual(paths.toReversed());
});

/** The file itself and everything in it, unpacked. */
async function readAllText(path: string): Promise<string> {
  const zip = new ZipReader(new BlobReader(new Blob([readFileSync(path)])));
  const entries = (await zip.getEntries()).filter((entry): entry is FileEntry => !entry.directory);
  const texts = await Promise.all(entries.map(async (entry) => (await entry.getData(new BlobWriter())).text()));
  return [readFileSync(path, 'latin1'), ...texts].join('\n');
}
