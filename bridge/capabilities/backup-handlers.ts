import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { backupPort } from '#shared/ports/backup-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { InvalidBackupError } from '../backup/backup-format.ts';
import type { Backup } from '../backup/read-backup.ts';
import { type Secrets, unsealSecrets, VaultSeal } from '../backup/sealed-secrets.ts';
import { getBackupsDir, getErrorCode, describeError } from '../home-directory.ts';
import type { Journal } from '../journal/journal.ts';
import { getPackageVersion } from '../package-root.ts';
import type { PortHandlers } from './serve-port.ts';

/** Loaded on demand: an idle bridge does not need the code for archives. */
const loadBackupFolder = () => import('../backup/backup-folder.ts');

interface BackupDeps {
  journal: Journal;
  vaultKey: string;
  /** The bridge's home directory. */
  home: string;
}

/** Handlers for backups by the bridge, which has the journal open. */
export function createBackupHandlers({
  journal,
  vaultKey,
  home,
}: BackupDeps): PortHandlers<typeof backupPort.calls, typeof backupPort.events> {
  const seal = new VaultSeal(vaultKey);
  // Serialized: each operation reads or writes everything.
  const mutex = new Mutex();
  const runExclusive = <T>(work: () => Promise<T>): Promise<T> =>
    mutex.run(work).catch((error: unknown) => {
      throw toRpcError(error);
    });

  return {
    'backup.export': ({ passphrase }) =>
      runExclusive(async () => {
        const input = { journal, app: getPackageVersion(), ...(passphrase === undefined ? {} : { secrets: { seal, passphrase } }) };
        const { path, bytes, written } = await (await loadBackupFolder()).saveBackup(home, input);
        const { entries, missingBlobs } = written.manifest;
        // Includes the manifest.
        return { path, files: Object.keys(entries).length + 1, size: bytes, missing: missingBlobs };
      }),

    'backup.list': () =>
      runExclusive(async () => {
        const backups = [];
        for await (const listed of (await loadBackupFolder()).listBackups(home)) {
          const { path, size } = listed;
          const entry = { path, name: basename(path), size };
          if ('problem' in listed) backups.push({ ...entry, problem: listed.problem });
          else {
            const { records, secrets } = listed.counts;
            const sum = Object.values(records).reduce((total, count) => total + count, 0);
            backups.push({ ...entry, created: listed.created, records: sum, secrets: secrets > 0 });
          }
        }
        return { backups };
      }),

    'backup.restore': ({ name, passphrase, replace, dryRun }) =>
      runExclusive(async () => {
        const records: SyncRecord[] = [];
        const path = join(getBackupsDir(home), basename(name));
        if (!existsSync(path)) throw new RpcError('NOT_FOUND', `No backup named ${name}`);
        const [{ readBackup }, { applyRestore, planRestore }] = await Promise.all([
          import('../backup/read-backup.ts'),
          import('../backup/restore-backup.ts'),
        ]);
        const record = (each: SyncRecord): void => void records.push(each);
        await using backup = await readBackup(path, { schema: SCHEMA_VERSION, record });
        const secrets = await openSecrets(backup, passphrase);
        const plan = await planRestore({ journal, backup, records, secrets, seal, replace });
        const restored = !dryRun && plan.records.length + plan.blobs.length > 0;
        if (restored) await applyRestore(plan, { journal, backup });
        return { restored, changes: plan.stores };
      }),
  };
}

/** Returns the backup's secrets; none without a passphrase, since they are optional in a restore. */
async function openSecrets({ sealed }: Backup, passphrase: string | undefined): Promise<Secrets> {
  if (passphrase === undefined) return [];
  if (!sealed) throw new RpcError('INVALID_PARAMS', 'passphrase: the backup contains no secrets');
  return unsealSecrets(sealed, passphrase);
}

/** Converts errors that the user can fix to `RpcError`; others are internal errors. */
function toRpcError(error: unknown): unknown {
  if (error instanceof RpcError) return error;
  if (error instanceof InvalidBackupError) return new RpcError('INVALID_PARAMS', describeError(error), {}, { cause: error });
  if (getErrorCode(error) === 'ENOSPC')
    return new RpcError('INTERNAL_ERROR', 'Couldn’t create the backup: the disk is full', {}, { cause: error });
  return error;
}
