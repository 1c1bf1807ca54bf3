import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMirrored } from '#shared/ports/files-port.ts';
import { WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { getErrorCode, describeError } from '../../home-directory.ts';
import { type Disk, type DirectoryEntry, toStamp, type FileStats } from './disk.ts';
import { isTemporary, checkVaultName } from './file-names.ts';

/** Maximum number of files and folders to scan. More do not fit in a workspace. */
const MAX_ENTRIES = 2 * WORKSPACE_LIMITS.files;
const MAX_CONCURRENT_READS = 16;
/** A file modified this recently may change again without a change of its times. */
const FRESHNESS_NS = 2_000_000_000n;
/** Age of a temporary file after which its writer must be gone. */
const ABANDONED_NS = 3_600_000_000_000n;

/** The last read state of a file. */
export interface ScannedFile {
  stamp: string;
  hash: string;
  /** Whether its stamp is unreliable. */
  isFresh: boolean;
}

interface FolderScan {
  /** Files by path, with the vault's names. */
  files: Map<string, ScannedFile>;
  /** Ignored files and folders (with their contents), and why. */
  problems: Map<string, string>;
  /** Folders on disk, the root first. */
  folders: string[];
}

/**
 * Scans a folder and reads what has changed since `previous`. Follows no links and opens only regular files. Rejects if the folder itself
 * can't be read.
 */
export async function scanFolder(disk: Disk, root: string, previous: ReadonlyMap<string, ScannedFile>): Promise<FolderScan> {
  const result: FolderScan = { files: new Map(), problems: new Map(), folders: [root] };
  const files: { path: string; real: string; stats: FileStats }[] = [];
  const visited = new Set<string>();
  let remainingEntries = MAX_ENTRIES;

  const visitEntry = async (entry: DirectoryEntry, folder: string, below: string): Promise<string[]> => {
    const path = `${below}${entry.name.normalize('NFC')}`;
    const real = join(folder, entry.name);
    if (!isMirrored(path)) return [];
    if (isTemporary(entry.name)) {
      await removeAbandoned(disk, real);
      return [];
    }
    const refused = checkVaultName(path);
    const isSecond = visited.has(path);
    visited.add(path);
    if (refused !== undefined) result.problems.set(path, refused);
    else if (isSecond) result.problems.set(path, 'another file has the same name in a different Unicode form');
    else if (entry.isSymbolicLink()) result.problems.set(path, 'it is a symbolic link');
    else if (entry.isDirectory()) return [real, `${path}/`];
    else if (!entry.isFile()) result.problems.set(path, 'it is not a regular file');
    else {
      // A file deleted in the meantime counts as missing.
      const stats = await disk.lstat(real).catch((error: unknown) => void failed(path, error));
      if (stats) files.push({ path, real, stats });
    }
    return [];
  };
  const failed = (path: string, error: unknown): void => {
    if (getErrorCode(error) !== 'ENOENT') result.problems.set(path, `it can’t be read: ${describeError(error)}`);
  };

  const pending: [folder: string, below: string][] = [[root, '']];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [folder, below] = next;
    let entries: DirectoryEntry[];
    try {
      entries = await disk.readdir(folder);
    } catch (error) {
      if (below === '') throw error;
      failed(below.slice(0, -1), error);
      continue;
    }
    remainingEntries -= entries.length;
    if (remainingEntries < 0)
      throw new RpcError('INTERNAL_ERROR', `${root} has more than ${MAX_ENTRIES} files and folders. Move some elsewhere.`);
    for (let from = 0; from < entries.length; from += MAX_CONCURRENT_READS) {
      const subfolders = await Promise.all(
        entries.slice(from, from + MAX_CONCURRENT_READS).map((entry) => visitEntry(entry, folder, below)),
      );
      for (const [real, path] of subfolders) {
        if (real === undefined || path === undefined) continue;
        result.folders.push(real);
        pending.push([real, path]);
      }
    }
  }

  for (let from = 0; from < files.length; from += MAX_CONCURRENT_READS) {
    const read = async ({ path, real, stats }: (typeof files)[number]): Promise<void> => {
      const previousFile = previous.get(path);
      const stamp = toStamp(stats);
      if (stats.size > WORKSPACE_LIMITS.fileBytes) result.problems.set(path, TOO_LARGE);
      else if (previousFile?.stamp === stamp && !previousFile.isFresh) result.files.set(path, previousFile);
      else {
        try {
          const { bytes, stats: current } = await readRegularFile(real);
          const isFresh = BigInt(Date.now()) * 1_000_000n - current.mtimeNs < FRESHNESS_NS;
          result.files.set(path, { stamp: toStamp(current), hash: toHash(bytes), isFresh });
        } catch (error) {
          if (error instanceof NotRegularFileError) result.problems.set(path, error.message);
          else failed(path, error);
        }
      }
    };
    await Promise.all(files.slice(from, from + MAX_CONCURRENT_READS).map(read));
  }
  for (const path of result.problems.keys()) result.files.delete(path);
  return result;
}

const TOO_LARGE = `it is larger than ${WORKSPACE_LIMITS.fileBytes / 1024 / 1024} MiB`;

/** Not a file that a workspace can contain. */
export class NotRegularFileError extends Error {}

export const toHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Reads a regular file without following links. Rejects with `NotRegularFileError` if it is not a regular file or is too large. */
export async function readRegularFile(path: string): Promise<{ bytes: Buffer; stats: FileStats }> {
  // Non-blocking, since opening a FIFO without a writer would hang.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    throw getErrorCode(error) === 'ELOOP' ? new NotRegularFileError('it is a symbolic link') : error;
  });
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new NotRegularFileError('it is not a regular file');
    if (stats.size > WORKSPACE_LIMITS.fileBytes) throw new NotRegularFileError(TOO_LARGE);
    // A file that grows meanwhile is read up to its original size.
    const bytes = Buffer.alloc(Number(stats.size));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { bytes: bytes.subarray(0, length), stats };
  } finally {
    await file.close();
  }
}

async function removeAbandoned(disk: Disk, path: string): Promise<void> {
  const stats = await disk.lstat(path).catch(() => undefined);
  if (stats?.isFile() && BigInt(Date.now()) * 1_000_000n - stats.mtimeNs > ABANDONED_NS) await rm(path, { force: true }).catch(() => {});
}
