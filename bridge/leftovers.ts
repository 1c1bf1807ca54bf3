import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, reasonOf } from './home.ts';

/** What is written beside its place (`writeWhole`, a backup, a new journal with what SQLite keeps beside it). */
const TEMPORARY = /^(.+\.[0-9a-f]{12}\.tmp)(-wal|-shm)?$/;
/** What has not changed for so long nobody is writing any more. */
const OLD_MS = 60_000;

/** Removes what writes that were killed have left in a directory of ours. Never rejects: `warn` hears of what could not be removed. */
export async function sweepLeftovers(dir: string, { now, warn }: { now: number; warn: (line: string) => void }): Promise<void> {
  try {
    const groups = Map.groupBy(await readdir(dir), (name) => TEMPORARY.exec(name)?.[1]);
    for (const [stem, names] of groups) {
      if (stem === undefined) continue;
      const files = await Promise.all(names.map((name) => lstat(join(dir, name))));
      if (!files.every((file) => file.isFile() && now - file.mtimeMs > OLD_MS)) continue;
      for (const name of names) await rm(join(dir, name), { force: true });
    }
  } catch (error) {
    // Not there, or meanwhile put in its place.
    if (codeOf(error) !== 'ENOENT') warn(`Couldn’t remove temporary files in ${dir}: ${reasonOf(error)}`);
  }
}
