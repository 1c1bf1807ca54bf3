import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { backupsDir, codeOf, reasonOf } from '../home.ts';
import type { Manifest } from './format.ts';
import { writeNewFile } from './new-file.ts';
import { readBackup } from './read.ts';
import { type BackupInput, writeBackup, type Written } from './write.ts';

/** A backup in the folder; `size` in bytes. An unusable one has a `problem`. */
export type Listed = { path: string; size: number } & (Pick<Manifest, 'created' | 'counts'> | { problem: string });

/** Writes a backup to `path`, or to a new file in the folder. Rejects with `FileTaken` if the file exists and `replace` is not set. */
export async function saveBackup(
  home: string,
  input: BackupInput,
  { path, replace = false }: { path?: string; replace?: boolean } = {},
): Promise<{ path: string; bytes: number; written: Written }> {
  const dir = backupsDir(home);
  if (path === undefined) await mkdir(dir, { recursive: true, mode: 0o700 });
  const target = path ?? (await newPath(dir));
  const { bytes, written } = await writeNewFile(target, { replace }, async (file) => {
    const written = await writeBackup(file, input);
    return { written, bytes: (await file.stat()).size };
  });
  return { path: target, bytes, written };
}

/** Lists the folder's backups, newest first, after checking each completely. */
export async function* listBackups(home: string): AsyncGenerator<Listed> {
  const dir = backupsDir(home);
  const names = await readdir(dir).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw new Error(`Couldn’t read ${dir}: ${reasonOf(error)}`, { cause: error });
  });
  const zips = names.filter((name) => name.endsWith('.zip')).sort();
  for (const name of zips.reverse()) yield await look(join(dir, name));
}

async function look(path: string): Promise<Listed> {
  let size = 0;
  try {
    ({ size } = await stat(path));
    await using backup = await readBackup(path, { schema: SCHEMA_VERSION });
    const { created, counts } = backup.manifest;
    return { path, size, created, counts };
  } catch (error) {
    return { path, size, problem: reasonOf(error) };
  }
}

/** Adds a number if a backup of this second exists. */
async function newPath(dir: string): Promise<string> {
  const taken = new Set(await readdir(dir));
  const stem = stemOf(new Date());
  let name = `${stem}.zip`;
  for (let count = 2; taken.has(name); count++) name = `${stem}_${count}.zip`;
  return join(dir, name);
}

/** In local time, which the user expects. */
function stemOf(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `perch-${date}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}
