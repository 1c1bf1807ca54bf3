import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { type BackupListing, listBackups, saveBackup } from '../backup/backup-folder.ts';
import { getUnpackLimit } from '../backup/backup-format.ts';
import { FileExistsError } from '../backup/new-file.ts';
import { type Backup, readBackup } from '../backup/read-backup.ts';
import { applyRestore, planRestore } from '../backup/restore-backup.ts';
import { type Secrets, unsealSecrets, VaultSeal } from '../backup/sealed-secrets.ts';
import { toStartCommand } from '../command-line.ts';
import { getBackupsDir, Home, getHomeDirectory } from '../home-directory.ts';
import type { Journal } from '../journal/journal.ts';
import { JOURNAL_FILE, KEY_FILE } from '../journal/file-names.ts';
import { openJournal } from '../journal/open-journal.ts';
import { loadVaultKey } from '../journal/vault-key.ts';
import { getPackageVersion } from '../package-root.ts';
import { isInteractive, promptHidden, confirm } from './prompt.ts';
import { formatChangesTable, formatBackupCounts, formatCount, formatSize } from './backup-text.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printNote, printLine, printJson, escapeControls, escapeToOneLine } from './terminal-output.ts';

const MIN_PASSPHRASE_CHARS = 8;

const printWarning = (line: string): void => printNote(escapeToOneLine(line));

interface ExportBackupOptions {
  output?: string;
  force?: boolean;
  secrets?: boolean;
  passphraseFile?: string;
  json?: boolean;
}

/** `perch backup export`: writes everything in the journal to one file, including API keys only on request. */
export async function exportBackup({ output, force = false, secrets = false, passphraseFile, json }: ExportBackupOptions): Promise<void> {
  if (passphraseFile !== undefined && !secrets) throw new CommandError('--passphrase-file requires --secrets', 2);
  const passphrase = secrets ? await promptNewPassphrase(passphraseFile) : undefined;
  const home = await Home.open({ warn: printWarning });
  await using vault = await openVault(home, { create: false });
  const input = {
    journal: vault.journal,
    app: getPackageVersion(),
    ...(passphrase !== undefined && { secrets: { seal: vault.seal, passphrase } }),
  };
  const destination = { replace: force, ...(output === undefined ? {} : { path: resolve(output) }) };
  const { path, bytes, written } = await saveBackup(resolve(home.dir), input, destination).catch((error: unknown) => {
    const reason =
      error instanceof FileExistsError
        ? `${error.message}. Use --force to overwrite it.`
        : `Couldn’t create the backup: ${toErrorLine(error)}`;
    throw new CommandError(reason, 1, { cause: error });
  });
  const { manifest, unpacked, unreadable } = written;
  const { counts, created, missingBlobs } = manifest;
  for (const name of unreadable) printWarning(`Warning: Couldn’t read the key ${JSON.stringify(name)}. It is not in the backup.`);
  if (missingBlobs > 0) printWarning(`Warning: ${formatCount(missingBlobs, 'attachment')} not yet on this computer and not in the backup`);
  const megabytes = Math.ceil(unpacked / 1024 / 1024);
  if (unpacked > getUnpackLimit(bytes)) printWarning(`Warning: This backup is large. Restore it with --max-size ${megabytes}.`);
  if (json) printJson({ path, size: bytes, created, counts, missingBlobs, unreadable });
  else printLine(`Saved ${formatBackupCounts(counts)} to ${path} (${formatSize(bytes)})`);
}

/** `perch backup list`: lists the backups in the default folder, newest first, after checking each completely. */
export async function printBackups({ json }: { json?: boolean }): Promise<void> {
  const home = resolve(getHomeDirectory());
  const backups: BackupListing[] = [];
  for await (const listed of listBackups(home)) {
    backups.push(listed);
    if (json) continue;
    printLine(
      'problem' in listed
        ? escapeToOneLine(toErrorLine(listed.problem))
        : escapeControls([listed.path, formatSize(listed.size), listed.created, formatBackupCounts(listed.counts)].join('  ')),
    );
  }
  if (json) printJson({ backups });
  else if (backups.length === 0) printLine(`No backups in ${getBackupsDir(home)}`);
}

interface RestoreBackupOptions {
  replace?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  passphraseFile?: string;
  /** In bytes. */
  maxSize?: number;
  json?: boolean;
}

/** `perch backup restore`: restores all of a backup's records or none, after showing the changes. */
export async function restoreBackup(file: string, options: RestoreBackupOptions): Promise<void> {
  const { replace = false, dryRun = false, yes = false, passphraseFile, maxSize, json = false } = options;
  const records: SyncRecord[] = [];
  await using backup = await readBackup(file, { limit: maxSize, schema: SCHEMA_VERSION, record: (record) => void records.push(record) });
  if (!dryRun && !yes && !isInteractive())
    throw new CommandError('Can’t ask for confirmation here. Use --yes, or --dry-run to preview the changes.', 2);
  const secrets = await openSecrets(backup, passphraseFile);
  const home = await Home.open({ warn: printWarning });
  await using vault = await openVault(home, { create: true });
  const { journal } = vault;
  const plan = await planRestore({ journal, backup, records, secrets, seal: vault.seal, replace });
  const wouldChange = plan.records.length + plan.blobs.length > 0;
  if (!json) printLine(wouldChange ? formatChangesTable(plan) : 'Nothing to restore. Everything in the backup is already here.');
  const restore = wouldChange && !dryRun;
  if (restore) {
    if (!yes && !(await confirm('Restore this backup? [y/N] '))) throw new CommandError('Cancelled. Nothing was restored.');
    await applyRestore(plan, { journal, backup });
  }
  if (json) printJson({ restored: restore, stores: plan.stores, blobs: plan.blobs.length });
  else if (restore) printLine('Backup restored');
}

interface OpenedVault extends AsyncDisposable {
  journal: Journal;
  seal: VaultSeal;
}

/** Opens the journal, which the bridge may have open too. */
async function openVault({ dir }: Home, { create }: { create: boolean }): Promise<OpenedVault> {
  const hasJournal = existsSync(join(dir, JOURNAL_FILE));
  if (!hasJournal && !create) throw new CommandError(`Nothing to back up in ${dir} yet. Start Perch with \`${toStartCommand()}\` first.`);
  if (hasJournal && !existsSync(join(dir, KEY_FILE)))
    throw new CommandError(`${join(dir, KEY_FILE)} is missing. The journal can’t be read without it. Restore the file.`);
  const key = await loadVaultKey(dir, printWarning);
  const journal = await openJournal({ dir, vaultKey: key, log: printWarning });
  const { schema } = await journal.info();
  if (schema > SCHEMA_VERSION) {
    await journal.close();
    throw new CommandError('The data was written by a newer version of Perch. Update Perch first.');
  }
  return { journal, seal: new VaultSeal(key), [Symbol.asyncDispose]: () => journal.close() };
}

/** Returns the backup's decrypted secrets; none without a passphrase. */
async function openSecrets({ sealed, manifest }: Backup, passphraseFile: string | undefined): Promise<Secrets> {
  if (!sealed || manifest.counts.secrets === 0) {
    if (passphraseFile !== undefined) throw new CommandError('The backup contains no keys. Remove --passphrase-file.', 2);
    return [];
  }
  let passphrase = '';
  if (passphraseFile !== undefined) passphrase = await readPassphrase(passphraseFile);
  else if (isInteractive()) passphrase = await promptHidden('Passphrase for the keys in the backup (leave empty to skip them): ');
  else printWarning('Skipped the keys in the backup. Use --passphrase-file to restore them.');
  return passphrase === '' ? [] : unsealSecrets(sealed, passphrase);
}

async function promptNewPassphrase(file: string | undefined): Promise<string> {
  if (file === undefined && !isInteractive()) throw new CommandError('Can’t ask for a passphrase here. Use --passphrase-file.', 2);
  const passphrase = file === undefined ? await promptHidden('Passphrase for the keys: ') : await readPassphrase(file);
  if (passphrase.length < MIN_PASSPHRASE_CHARS)
    throw new CommandError(`The passphrase must have at least ${MIN_PASSPHRASE_CHARS} characters`, 2);
  if (file === undefined && (await promptHidden('Confirm passphrase: ')) !== passphrase)
    throw new CommandError('The passphrases don’t match');
  return passphrase;
}

/** The file's text without the final line break. */
async function readPassphrase(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(`Couldn’t read the passphrase: ${toErrorLine(error)}`, 1, { cause: error });
  });
  return text.replace(/\r?\n$/, '');
}
