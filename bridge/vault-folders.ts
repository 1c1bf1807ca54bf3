import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode, Home } from './home-directory.ts';

/** A vault's name is a host label, the first in its pages' origin `<name>.localhost`. */
const NAME_PATTERN = /^[a-z0-9](?:-?[a-z0-9]){0,31}$/;
/** Folder of a removal that was interrupted. */
const REMOVED_FOLDER = /^\.removed-[0-9a-f]{12}$/;
/** File that names the process serving a vault. */
const SERVED_FILE = /^served-by\.(\d+)$/;

export const isVaultName = (name: string): boolean => NAME_PATTERN.test(name);

const getVaultsFolder = (home: string): string => join(home, 'vaults');

/** Folder of a vault other than the home's own. */
export const getVaultFolder = (home: string, name: string): string => join(getVaultsFolder(home), name);

export const hasVault = async (home: string, name: string): Promise<boolean> =>
  isVaultName(name) && ((await stat(getVaultFolder(home, name)).catch(() => undefined))?.isDirectory() ?? false);

/** Returns the names of a home's additional vaults, sorted. */
export async function listVaultNames(home: string): Promise<string[]> {
  try {
    const entries = await readdir(getVaultsFolder(home), { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() && isVaultName(entry.name) ? [entry.name] : [])).sort();
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Creates a vault with a token. Resolves to undefined if the name is taken. */
export async function createVault(home: string, name: string, warn: (line: string) => void): Promise<Home | undefined> {
  if (await hasVault(home, name)) return undefined;
  await Home.open({ dir: getVaultsFolder(home), warn });
  const vault = await Home.open({ dir: getVaultFolder(home, name), warn });
  await vault.token();
  return vault;
}

/** Deletes a vault permanently. If interrupted, the vault is either intact or no longer a vault. */
export async function removeVault(home: string, name: string): Promise<void> {
  await rename(getVaultFolder(home, name), join(getVaultsFolder(home), `.removed-${randomBytes(6).toString('hex')}`));
  for (const entry of await readdir(getVaultsFolder(home)))
    if (REMOVED_FOLDER.test(entry))
      await rm(join(getVaultsFolder(home), entry), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/** Marks the vault as served by this process until disposed. */
export async function markServed(folder: string): Promise<AsyncDisposable> {
  const file = join(folder, `served-by.${process.pid}`);
  await writeFile(file, '', { mode: 0o600 });
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

/** Whether a process on this machine serves the vault. Removes the marks of processes that have ended. */
export async function isServed(folder: string): Promise<boolean> {
  let served = false;
  for (const name of await readdir(folder)) {
    const pid = SERVED_FILE.exec(name)?.[1];
    if (pid === undefined) continue;
    if (isAlive(Number(pid))) served = true;
    else await rm(join(folder, name), { force: true });
  }
  return served;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return getErrorCode(error) === 'EPERM';
  }
}
