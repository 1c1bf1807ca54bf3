import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { getBackupsDir, getErrorCode, describeError } from '../home-directory.ts';
import type { Manifest } from './backup-format.ts';
import { writeNewFile } from './new-file.ts';
import { readBackup } from './read-backup.ts';
import { type BackupInput, writeBackup, type BackupSummary } from './write-backup.ts';

/** A backup in the folder; `size` in bytes. An unusable one has a `problem`. */
export type BackupListing = { path: string; size: number } & (Pick<Manifest, 'created' | 'counts'> | { problem: string });

/** Writes a backup to `path`, or to a new file in the folder. Rejects with `FileExistsError` if the file exists and `replace` is not set. */
export async function saveBackup(
  home: string,
  input: BackupInput,
  { path, replace = false }: { path?: string; replace?: boolean } = {},
): Promise<{ path: string; bytes: number; written: BackupSummary }> {
  const dir = getBackupsDir(home);
  if (path === undefined) await mkdir(dir, { recursive: true, mode: 0o700 });
  const target = path ?? (await findFreePath(dir));
  const { bytes, written } = await writeNewFile(target, { replace }, async (file) => {
    const written = await writeBackup(file, input);
    return { written, bytes: (await file.stat()).size };
  });
  return { path: target, bytes, written };
}

/** Lists the folder's backups, newest first, after checking each completely. */
export async function* listBackups(home: string): AsyncGenerator<BackupListing> {
  const dir = getBackupsDir(home);
  const names = await readdir(dir).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw new Error(`Couldn’t read ${dir}: ${describeError(error)}`, { cause: error });
  });
  const zips = names.filter((name) => name.endsWith('.zip')).sort();
  for (const name of zips.reverse()) yield await inspectBackup(join(dir, name));
}

async function inspectBackup(path: string): Promise<BackupListing> {
  let size = 0;
  try {
    ({ size } = await stat(path));
    await using backup = await readBackup(path, { schema: SCHEMA_VERSION });
    const { created, counts } = backup.manifest;
    return { path, size, created, counts };
  } catch (error) {
    return { path, size, problem: describeError(error) };
  }
}

/** Adds a number if a backup of this second exists. */
async function findFreePath(dir: string): Promise<string> {
  const existingNames = new Set(await readdir(dir));
  const stem = toFileStem(new Date());
  let name = `${stem}.zip`;
  for (let count = 2; existingNames.has(name); count++) name = `${stem}_${count}.zip`;
  return join(dir, name);
}

/** In local time, which the user expects. */
function toFileStem(time: Date): string {
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const date = [time.getFullYear(), padTwo(time.getMonth() + 1), padTwo(time.getDate())].join('-');
  return `perch-${date}-${padTwo(time.getHours())}${padTwo(time.getMinutes())}${padTwo(time.getSeconds())}`;
}
