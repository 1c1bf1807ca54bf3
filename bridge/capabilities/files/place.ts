import { join } from 'node:path';
import { codeOf } from '../../home.ts';
import type { Disk, Stats } from './disk.ts';
import type { Listing } from './listing.ts';

/** Where a file of the vault lies on disk. */
export interface Place {
  /** Its folder, and what of that is not there yet, from the top. */
  folder: string;
  missing: string[];
  path: string;
  /** Null: it is not there. */
  stats: Stats | null;
}

export interface Names {
  disk: Pick<Disk, 'lstat'>;
  listing: Listing;
}

/** Why a file cannot lie where it should. */
export class NoPlace extends Error {}

/**
 * Finds a file's place below `root` without following a link. A name that the disk has in another Unicode form is the file's; one that it takes for the same though the case differs
 * is another file's. Throws `NoPlace`.
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
