import { join } from 'node:path';
import { getErrorCode } from '../../home-directory.ts';
import type { Disk, FileStats } from './disk.ts';
import type { DirectoryCache } from './directory-cache.ts';

/** Location of a vault's file on disk. */
export interface FileLocation {
  /** Its folder, and those of its folders that do not exist yet, from the top. */
  folder: string;
  missing: string[];
  path: string;
  /** Null if it does not exist. */
  stats: FileStats | null;
}

interface LocationContext {
  disk: Pick<Disk, 'lstat'>;
  listing: DirectoryCache;
}

/** Why a file can't be stored at its path. */
export class NoLocationError extends Error {}

/**
 * Finds a file's location below `root` without following links. A name in a different Unicode form is the same file; one that the disk
 * considers equal but that differs in case is another file. Throws `NoLocationError`.
 */
export async function findLocation({ disk, listing }: LocationContext, root: string, path: string): Promise<FileLocation> {
  const parts = path.split('/');
  let folderPath = root;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const found = await findEntry({ disk, listing }, folderPath, part);
    if (!found) {
      const missing = parts.slice(index, -1);
      const folder = join(folderPath, ...missing);
      return {
        folder,
        missing: missing.map((_, depth) => join(folderPath, ...missing.slice(0, depth + 1))),
        path: join(folder, parts.at(-1) ?? ''),
        stats: null,
      };
    }
    const { stats, path: realPath } = found;
    if (stats.isSymbolicLink()) throw new NoLocationError(`${parts.slice(0, index + 1).join('/')} is a symbolic link`);
    if (isLast) {
      if (!stats.isFile()) throw new NoLocationError(stats.isDirectory() ? 'a folder has the same name' : 'it is not a regular file');
      return { folder: folderPath, missing: [], path: realPath, stats };
    }
    if (!stats.isDirectory()) throw new NoLocationError(`${parts.slice(0, index + 1).join('/')} is not a folder`);
    folderPath = realPath;
  }
  throw new NoLocationError('it has no name');
}

async function findEntry(
  { disk, listing }: LocationContext,
  folder: string,
  name: string,
): Promise<{ path: string; stats: FileStats } | undefined> {
  const diskName = await listing.findName(folder, name);
  const path = join(folder, diskName ?? name);
  const stats = await disk.lstat(path).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (stats && diskName === undefined) throw new NoLocationError(`this disk can’t tell ${name} from another name in its folder`);
  return stats && { path, stats };
}
