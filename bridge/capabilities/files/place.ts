import { join } from 'node:path';
import { codeOf } from '../../home.ts';
import type { Disk, Stats } from './disk.ts';
import type { Listing } from './listing.ts';

/** Location of a vault's file on disk. */
export interface Place {
  /** Its folder, and those of its folders that do not exist yet, from the top. */
  folder: string;
  missing: string[];
  path: string;
  /** Null if it does not exist. */
  stats: Stats | null;
}

export interface Names {
  disk: Pick<Disk, 'lstat'>;
  listing: Listing;
}

/** Why a file can't be stored at its path. */
export class NoPlace extends Error {}

/**
 * Finds a file's location below `root` without following links. A name in a different Unicode form is the same file; one that the disk
 * considers equal but that differs in case is another file. Throws `NoPlace`.
 */
export async function placeOf({ disk, listing }: Names, root: string, path: string): Promise<Place> {
  const parts = path.split('/');
  let at = root;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const found = await entryOf({ disk, listing }, at, part);
    if (!found) {
      const missing = parts.slice(index, -1);
      const folder = join(at, ...missing);
      return {
        folder,
        missing: missing.map((_, depth) => join(at, ...missing.slice(0, depth + 1))),
        path: join(folder, parts.at(-1) ?? ''),
        stats: null,
      };
    }
    const { stats, path: here } = found;
    if (stats.isSymbolicLink()) throw new NoPlace(`${parts.slice(0, index + 1).join('/')} is a symbolic link`);
    if (isLast) {
      if (!stats.isFile()) throw new NoPlace(stats.isDirectory() ? 'a folder has the same name' : 'it is not a regular file');
      return { folder: at, missing: [], path: here, stats };
    }
    if (!stats.isDirectory()) throw new NoPlace(`${parts.slice(0, index + 1).join('/')} is not a folder`);
    at = here;
  }
  throw new NoPlace('it has no name');
}

async function entryOf({ disk, listing }: Names, folder: string, name: string): Promise<{ path: string; stats: Stats } | undefined> {
  const own = await listing.nameOf(folder, name);
  const path = join(folder, own ?? name);
  const stats = await disk.lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (stats && own === undefined) throw new NoPlace(`this disk can’t tell ${name} from another name in its folder`);
  return stats && { path, stats };
}
