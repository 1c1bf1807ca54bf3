import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { HybridClock } from '#shared/sync/hybrid-clock.ts';
import type { SyncRecord, SyncStore } from '#shared/sync/record.ts';
import type { Journal } from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import type { Manifest } from './backup-format.ts';
import { writeNewFile } from './new-file.ts';
import { readBackup } from './read-backup.ts';
import { applyRestore, planRestore, type RestorePlan } from './restore-backup.ts';
import { unsealSecrets, VaultSeal } from './sealed-secrets.ts';
import { writeBackup, type BackupSummary } from './write-backup.ts';

const VAULT_KEY = randomBytes(32).toString('base64url');
const seal = new VaultSeal(VAULT_KEY);
export const SECRET = 'sk-a-key-that-nobody-may-see-4711';

const clock = new HybridClock(Date.now, 'host-a');

/** Default fields of a record in each store, completed with the test's own. */
const withStoreFields = (store: SyncStore, key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || store === 'sessions' || store === 'heads') return value;
  const keyFields = store === 'config' || store === 'secrets' ? { name: key } : store === 'execPolicies' ? { hash: key } : { id: key, key };
  return {
    ...keyFields,
    ...(store === 'messages' && { sessionKey: 'main/one', content: '' }),
    ...(store === 'runs' && { sessionKey: 'main/one' }),
    ...value,
  };
};

/** A record as pushed by a host, with its payload from `value`. */
export const createRecord = (store: SyncStore, key: string, value: unknown, overrides: Partial<SyncRecord> = {}): SyncRecord => ({
  store,
  key,
  clock: clock.tick(),
  seal: 'none',
  payload: JSON.stringify(withStoreFields(store, key, value)),
  ...overrides,
});
export const createTombstone = (store: SyncStore, key: string): SyncRecord => ({
  ...createRecord(store, key, null),
  deleted: true,
  payload: null,
});
export const createSecret = (name: string, value: string, by = seal): SyncRecord => ({
  ...createRecord('secrets', name, null),
  payload: by.seal(name, value),
});

export const toHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const IMAGE_BYTES = randomBytes(3_000);

/**
 * Fills a journal with one of everything: two sessions, messages with an attachment, finished runs and one in progress, a deleted memory,
 * two keys.
 */
export async function fillJournal(journal: Journal, by = seal): Promise<void> {
  await journal.open({ origin: 'host-a', schema: SCHEMA_VERSION, position: null });
  await journal.putBlob(toHash(IMAGE_BYTES), IMAGE_BYTES);
  await journal.push(
    [
      createRecord('sessions', 'main/one', { title: 'One — ünïcode 🌱' }),
      createRecord('sessions', 'main/two', { title: 'Two' }),
      createRecord('heads', 'main/one', { headId: 'm2', updatedAt: 1 }),
      ...Array.from({ length: 30 }, (_, n) => createRecord('messages', `m${n}`, { id: `m${n}`, content: `text ${n}\n"quoted"` })),
      createRecord('messages', 'picture', { id: 'picture' }, { blobs: [toHash(IMAGE_BYTES)] }),
      createRecord('runs', 'ended', { id: 'ended', status: 'done' }, { fence: 7 }),
      createRecord('runs', 'under-way', { id: 'under-way', status: 'running' }, { fence: 8 }),
      createRecord('config', 'chat', { name: 'chat', value: { theme: 'dark' } }),
      createRecord('memories', 'kept', { text: 'likes tea' }),
      createTombstone('memories', 'forgotten'),
      createSecret('providers.openai', SECRET, by),
      createSecret('providers.other', `${SECRET}-too`, by),
    ],
    'host-a',
  );
}

/** A temporary folder that is deleted on disposal. */
export function createTempFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'perch-backup-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }) };
}

export const openJournalIn = (dir: string): Promise<Journal> => openJournal({ dir, vaultKey: VAULT_KEY, log: () => {} });

export async function readAllRecords(journal: Journal): Promise<SequencedRecord[]> {
  const records: SequencedRecord[] = [];
  for await (const each of journal.snapshot()) records.push(each);
  return records;
}

/** Payloads by store and key without deleted ones, with secrets decrypted. */
export async function readContents(journal: Journal): Promise<Record<string, string>> {
  const live = (await readAllRecords(journal)).filter(({ payload }) => payload !== null);
  return Object.fromEntries(
    live.map(({ store, key, payload }) => [
      `${store}/${key}`,
      store === 'secrets' ? (seal.open(key, payload ?? '') ?? '?') : (payload ?? ''),
    ]),
  );
}

/** Writes a backup of a journal to `path`. */
export const writeTestBackup = (journal: Journal, path: string, passphrase?: string): Promise<BackupSummary> =>
  writeNewFile(path, { replace: true }, (file) =>
    writeBackup(file, { journal, app: 'test', ...(passphrase && { secrets: { seal, passphrase } }) }),
  );

interface RestoreResult {
  plan: RestorePlan;
  manifest: Manifest;
}

/** Restores a backup like the command. */
export async function restoreFromFile(
  journal: Journal,
  path: string,
  { replace = false, passphrase = '', into = seal } = {},
): Promise<RestoreResult> {
  const records: SyncRecord[] = [];
  await using backup = await readBackup(path, { schema: SCHEMA_VERSION, record: (each) => void records.push(each) });
  const secrets = backup.sealed && passphrase ? await unsealSecrets(backup.sealed, passphrase) : [];
  const plan = await planRestore({ journal, backup, records, secrets, seal: into, replace });
  await applyRestore(plan, { journal, backup });
  return { plan, manifest: backup.manifest };
}
