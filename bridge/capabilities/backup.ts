import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { backupPort } from '#shared/ports/backup.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { Turns } from '#shared/turns.ts';
import { BackupUnusable } from '../backup/format.ts';
import type { Backup } from '../backup/read.ts';
import { type Secrets, unsealSecrets, VaultSeal } from '../backup/sealed-secrets.ts';
import { backupsDir, codeOf, reasonOf } from '../home.ts';
import type { Journal } from '../journal/journal.ts';
import { packageVersion } from '../package-root.ts';
import type { PortHandlers } from '../server/serve-port.ts';

/** Loaded on demand: an idle bridge does not need the code for archives. */
const folder = () => import('../backup/folder.ts');

export interface BackupDeps {
  journal: Journal;
  vaultKey: string;
  /** The bridge's home directory. */
  home: string;
}

/** Handlers for backups by the bridge, which has the journal open. */
export function backupHandlers({ journal, vaultKey, home }: BackupDeps): PortHandlers<typeof backupPort.calls, typeof backupPort.events> {
  const seal = new VaultSeal(vaultKey);
  // Serialized: each operation reads or writes everything.
  const turns = new Turns();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    turns.run(work).catch((error: unknown) => {
      throw seen(error);
    });

  return {
    'backup.export': ({ passphrase }) =>
      inTurn(async () => {
        const input = { journal, app: packageVersion(), ...(passphrase === undefined ? {} : { secrets: { seal, passphrase } }) };
        const { path, bytes, written } = await (await folder()).saveBackup(home, input);
        const { entries, missingBlobs } = written.manifest;
        // Includes the manifest.
        return { path, files: Object.keys(entries).length + 1, size: bytes, missing: missingBlobs };
      }),

    'backup.list': () =>
      inTurn(async () => {
        const backups = [];
        for await (const listed of (await folder()).listBackups(home)) {
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
      inTurn(async () => {
        const records: SyncRecord[] = [];
        const path = join(backupsDir(home), basename(name));
        if (!existsSync(path)) throw new RpcError('NOT_FOUND', `No backup named ${name}`);
        const [{ readBackup }, { applyRestore, planRestore }] = await Promise.all([
          import('../backup/read.ts'),
          import('../backup/restore.ts'),
        ]);
        const record = (each: SyncRecord): void => void records.push(each);
        await using backup = await readBackup(path, { schema: SCHEMA_VERSION, record });
        const secrets = await secretsOf(backup, passphrase);
        const plan = await planRestore({ journal, backup, records, secrets, seal, replace });
        const restored = !dryRun && plan.records.length + plan.blobs.length > 0;
        if (restored) await applyRestore(plan, { journal, backup });
        return { restored, changes: plan.stores };
      }),
  };
}

/** Returns the backup's secrets; none without a passphrase, since they are optional in a restore. */
async function secretsOf({ sealed }: Backup, passphrase: string | undefined): Promise<Secrets> {
  if (passphrase === undefined) return [];
  if (!sealed) throw new RpcError('INVALID_PARAMS', 'passphrase: the backup contains no secrets');
  return unsealSecrets(sealed, passphrase);
}

/** Converts errors that the user can fix to `RpcError`; others are internal errors. */
function seen(error: unknown): unknown {
  if (error instanceof RpcError) return error;
  if (error instanceof BackupUnusable) return new RpcError('INVALID_PARAMS', reasonOf(error), {}, { cause: error });
  if (codeOf(error) === 'ENOSPC')
    return new RpcError('INTERNAL_ERROR', 'Couldn’t create the backup: the disk is full', {}, { cause: error });
  return error;
}
