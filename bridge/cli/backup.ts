import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { type Listed, listBackups, saveBackup } from '../backup/folder.ts';
import { getUnpackLimit } from '../backup/format.ts';
import { FileTaken } from '../backup/new-file.ts';
import { type Backup, readBackup } from '../backup/read.ts';
import { applyRestore, planRestore } from '../backup/restore.ts';
import { type Secrets, unsealSecrets, VaultSeal } from '../backup/sealed-secrets.ts';
import { startCommand } from '../command-line.ts';
import { backupsDir, Home, homeDirectory } from '../home.ts';
import type { Journal } from '../journal/journal.ts';
import { JOURNAL_FILE, KEY_FILE } from '../journal/file-names.ts';
import { openJournal } from '../journal/open.ts';
import { vaultKey } from '../journal/vault-key.ts';
import { packageVersion } from '../package-root.ts';
import { canAsk, hidden, isAgreed } from './ask.ts';
import { changesTable, countsOf, several, sizeText } from './backup-text.ts';
import { CommandError, lineOf } from './errors.ts';
import { note, say, sayJson, shown, shownLine } from './output.ts';

const MIN_PASSPHRASE = 8;

const warn = (line: string): void => note(shownLine(line));

export interface ExportOptions {
  output?: string;
  force?: boolean;
  secrets?: boolean;
  passphraseFile?: string;
  json?: boolean;
}

/** `perch backup export`: writes everything in the journal to one file, including API keys only on request. */
export async function exportBackup({ output, force = false, secrets = false, passphraseFile, json }: ExportOptions): Promise<void> {
  if (passphraseFile !== undefined && !secrets) throw new CommandError('--passphrase-file requires --secrets', 2);
  const passphrase = secrets ? await newPassphrase(passphraseFile) : undefined;
  const home = await Home.open({ warn });
  await using vault = await openVault(home, { create: false });
  const input = {
    journal: vault.journal,
    app: packageVersion(),
    ...(passphrase !== undefined && { secrets: { seal: vault.seal, passphrase } }),
  };
  const place = { replace: force, ...(output === undefined ? {} : { path: resolve(output) }) };
  const { path, bytes, written } = await saveBackup(resolve(home.dir), input, place).catch((error: unknown) => {
    const why =
      error instanceof FileTaken ? `${error.message}. Use --force to overwrite it.` : `Couldn’t create the backup: ${lineOf(error)}`;
    throw new CommandError(why, 1, { cause: error });
  });
  const { manifest, unpacked, unreadable } = written;
  const { counts, created, missingBlobs } = manifest;
  for (const name of unreadable) warn(`Warning: Couldn’t read the key ${JSON.stringify(name)}. It is not in the backup.`);
  if (missingBlobs > 0) warn(`Warning: ${several(missingBlobs, 'attachment')} not yet on this computer and not in the backup`);
  const megabytes = Math.ceil(unpacked / 1024 / 1024);
  if (unpacked > getUnpackLimit(bytes)) warn(`Warning: This backup is large. Restore it with --max-size ${megabytes}.`);
  if (json) sayJson({ path, size: bytes, created, counts, missingBlobs, unreadable });
  else say(`Saved ${countsOf(counts)} to ${path} (${sizeText(bytes)})`);
}

/** `perch backup list`: lists the backups in the default folder, newest first, after checking each completely. */
export async function printBackups({ json }: { json?: boolean }): Promise<void> {
  const home = resolve(homeDirectory());
  const backups: Listed[] = [];
  for await (const listed of listBackups(home)) {
    backups.push(listed);
    if (json) continue;
    say(
      'problem' in listed
        ? shownLine(lineOf(listed.problem))
        : shown([listed.path, sizeText(listed.size), listed.created, countsOf(listed.counts)].join('  ')),
    );
  }
  if (json) sayJson({ backups });
  else if (backups.length === 0) say(`No backups in ${backupsDir(home)}`);
}

export interface RestoreOptions {
  replace?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  passphraseFile?: string;
  /** In bytes. */
  maxSize?: number;
  json?: boolean;
}

/** `perch backup restore`: restores all of a backup's records or none, after showing the changes. */
export async function restoreBackup(file: string, options: RestoreOptions): Promise<void> {
  const { replace = false, dryRun = false, yes = false, passphraseFile, maxSize, json = false } = options;
  const records: SyncRecord[] = [];
  await using backup = await readBackup(file, { limit: maxSize, schema: SCHEMA_VERSION, record: (record) => void records.push(record) });
  if (!dryRun && !yes && !canAsk())
    throw new CommandError('Can’t ask for confirmation here. Use --yes, or --dry-run to preview the changes.', 2);
  const secrets = await secretsOf(backup, passphraseFile);
  const home = await Home.open({ warn });
  await using vault = await openVault(home, { create: true });
  const { journal } = vault;
  const plan = await planRestore({ journal, backup, records, secrets, seal: vault.seal, replace });
  const wouldChange = plan.records.length + plan.blobs.length > 0;
  if (!json) say(wouldChange ? changesTable(plan) : 'Nothing to restore. Everything in the backup is already here.');
  const restore = wouldChange && !dryRun;
  if (restore) {
    if (!yes && !(await isAgreed('Restore this backup? [y/N] '))) throw new CommandError('Cancelled. Nothing was restored.');
    await applyRestore(plan, { journal, backup });
  }
  if (json) sayJson({ restored: restore, stores: plan.stores, blobs: plan.blobs.length });
  else if (restore) say('Backup restored');
}

interface OpenVault extends AsyncDisposable {
  journal: Journal;
  seal: VaultSeal;
}

/** Opens the journal, which the bridge may have open too. */
async function openVault({ dir }: Home, { create }: { create: boolean }): Promise<OpenVault> {
  const isThere = existsSync(join(dir, JOURNAL_FILE));
  if (!isThere && !create) throw new CommandError(`Nothing to back up in ${dir} yet. Start Perch with \`${startCommand()}\` first.`);
  if (isThere && !existsSync(join(dir, KEY_FILE)))
    throw new CommandError(`${join(dir, KEY_FILE)} is missing. The journal can’t be read without it. Restore the file.`);
  const key = await vaultKey(dir, warn);
  const journal = await openJournal({ dir, vaultKey: key, log: warn });
  const { schema } = await journal.info();
  if (schema > SCHEMA_VERSION) {
    await journal.close();
    throw new CommandError('The data was written by a newer version of Perch. Update Perch first.');
  }
  return { journal, seal: new VaultSeal(key), [Symbol.asyncDispose]: () => journal.close() };
}

/** Returns the backup's decrypted secrets; none without a passphrase. */
async function secretsOf({ sealed, manifest }: Backup, passphraseFile: string | undefined): Promise<Secrets> {
  if (!sealed || manifest.counts.secrets === 0) {
    if (passphraseFile !== undefined) throw new CommandError('The backup contains no keys. Remove --passphrase-file.', 2);
    return [];
  }
  let passphrase = '';
  if (passphraseFile !== undefined) passphrase = await passphraseIn(passphraseFile);
  else if (canAsk()) passphrase = await hidden('Passphrase for the keys in the backup (leave empty to skip them): ');
  else warn('Skipped the keys in the backup. Use --passphrase-file to restore them.');
  return passphrase === '' ? [] : unsealSecrets(sealed, passphrase);
}

async function newPassphrase(file: string | undefined): Promise<string> {
  if (file === undefined && !canAsk()) throw new CommandError('Can’t ask for a passphrase here. Use --passphrase-file.', 2);
  const passphrase = file === undefined ? await hidden('Passphrase for the keys: ') : await passphraseIn(file);
  if (passphrase.length < MIN_PASSPHRASE) throw new CommandError(`The passphrase must have at least ${MIN_PASSPHRASE} characters`, 2);
  if (file === undefined && (await hidden('Confirm passphrase: ')) !== passphrase) throw new CommandError('The passphrases don’t match');
  return passphrase;
}

/** The file's text without the final line break. */
async function passphraseIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(`Couldn’t read the passphrase: ${lineOf(error)}`, 1, { cause: error });
  });
  return text.replace(/\r?\n$/, '');
}
