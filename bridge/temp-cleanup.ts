import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode, describeError } from './home-directory.ts';

/** Names of temporary files (of `writeWhole`, backups and new journals), including SQLite's `-wal` and `-shm`. */
const TEMPORARY_NAMES = /^(.+\.[0-9a-f]{12}\.tmp)(-wal|-shm)?$/;
/** Age after which an unchanged temporary file counts as abandoned. */
const ABANDONED_MS = 60_000;

/** Removes temporary files that killed writes left in a directory. Never rejects: failures go to `warn`. */
export async function removeTempFiles(dir: string, { now, warn }: { now: number; warn: (line: string) => void }): Promise<void> {
  try {
    const groups = Map.groupBy(await readdir(dir), (name) => TEMPORARY_NAMES.exec(name)?.[1]);
    for (const [stem, names] of groups) {
      if (stem === undefined) continue;
      const files = await Promise.all(names.map((name) => lstat(join(dir, name))));
      if (!files.every((file) => file.isFile() && now - file.mtimeMs > ABANDONED_MS)) continue;
      for (const name of names) await rm(join(dir, name), { force: true });
    }
  } catch (error) {
    // Missing directory, or the file was moved into place in the meantime.
    if (getErrorCode(error) !== 'ENOENT') warn(`Couldn’t remove temporary files in ${dir}: ${describeError(error)}`);
  }
}
