import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMirrored } from '#shared/ports/files.ts';
import { WORKSPACE_LIMITS } from '#shared/rpc/methods/workspace.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { codeOf, reasonOf } from '../../home.ts';
import { type Disk, type Entry, stampOf, type Stats } from './disk.ts';
import { isTemporary, refusedByVault } from './names.ts';

/** Maximum number of files and folders to scan. More do not fit in a workspace. */
const MAX_ENTRIES = 2 * WORKSPACE_LIMITS.files;
const AT_ONCE = 16;
/** A file modified this recently may change again without a change of its times. */
const FRESH_NS = 2_000_000_000n;
/** Age of a temporary file after which its writer must be gone. */
const LEFT_NS = 3_600_000_000_000n;

/** The last read state of a file. */
export interface Known {
  stamp: string;
  hash: string;
  /** Whether its stamp is unreliable. */
  isFresh: boolean;
}

export interface Found {
  /** Files by path, with the vault's names. */
  files: Map<string, Known>;
  /** Ignored files and folders (with their contents), and why. */
  problems: Map<string, string>;
  /** Folders on disk, the root first. */
  folders: string[];
}

/**
 * Scans a folder and reads what has changed since `before`. Follows no links and opens only regular files. Rejects if the folder itself
 * can't be read.
 */
export async function scan(disk: Disk, root: string, before: ReadonlyMap<string, Known>): Promise<Found> {
  const found: Found = { files: new Map(), problems: new Map(), folders: [root] };
  const files: { path: string; real: string; stats: Stats }[] = [];
  const seen = new Set<string>();
  let left = MAX_ENTRIES;

  const look = async (entry: Entry, folder: string, below: string): Promise<string[]> => {
    const path = `${below}${entry.name.normalize('NFC')}`;
    const real = join(folder, entry.name);
    if (!isMirrored(path)) return [];
    if (isTemporary(entry.name)) {
      await removeLeft(disk, real);
      return [];
    }
    const refused = refusedByVault(path);
    const isSecond = seen.has(path);
    seen.add(path);
    if (refused !== undefined) found.problems.set(path, refused);
    else if (isSecond) found.problems.set(path, 'another file has the same name in a different Unicode form');
    else if (entry.isSymbolicLink()) found.problems.set(path, 'it is a symbolic link');
    else if (entry.isDirectory()) return [real, `${path}/`];
    else if (!entry.isFile()) found.problems.set(path, 'it is not a regular file');
    else {
      // A file deleted in the meantime counts as missing.
      const stats = await disk.lstat(real).catch((error: unknown) => void failed(path, error));
      if (stats) files.push({ path, real, stats });
    }
    return [];
  };
  const failed = (path: string, error: unknown): void => {
    if (codeOf(error) !== 'ENOENT') found.problems.set(path, `it can’t be read: ${reasonOf(error)}`);
  };

  const waiting: [folder: string, below: string][] = [[root, '']];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [folder, below] = next;
    let entries: Entry[];
    try {
      entries = await disk.readdir(folder);
    } catch (error) {
      if (below === '') throw error;
      failed(below.slice(0, -1), error);
      continue;
    }
    left -= entries.length;
    if (left < 0) throw new RpcError('INTERNAL_ERROR', `${root} has more than ${MAX_ENTRIES} files and folders. Move some elsewhere.`);
    for (let from = 0; from < entries.length; from += AT_ONCE) {
      const below_ = await Promise.all(entries.slice(from, from + AT_ONCE).map((entry) => look(entry, folder, below)));
      for (const [real, path] of below_) {
        if (real === undefined || path === undefined) continue;
        found.folders.push(real);
        waiting.push([real, path]);
      }
    }
  }

  for (let from = 0; from < files.length; from += AT_ONCE) {
    const read = async ({ path, real, stats }: (typeof files)[number]): Promise<void> => {
      const known = before.get(path);
      const stamp = stampOf(stats);
      if (stats.size > WORKSPACE_LIMITS.fileBytes) found.problems.set(path, tooLarge);
      else if (known?.stamp === stamp && !known.isFresh) found.files.set(path, known);
      else {
        try {
          const { bytes, stats: after } = await readPlain(real);
          const isFresh = BigInt(Date.now()) * 1_000_000n - after.mtimeNs < FRESH_NS;
          found.files.set(path, { stamp: stampOf(after), hash: hashOf(bytes), isFresh });
        } catch (error) {
          if (error instanceof NotPlain) found.problems.set(path, error.message);
          else failed(path, error);
        }
      }
    };
    await Promise.all(files.slice(from, from + AT_ONCE).map(read));
  }
  for (const path of found.problems.keys()) found.files.delete(path);
  return found;
}

const tooLarge = `it is larger than ${WORKSPACE_LIMITS.fileBytes / 1024 / 1024} MiB`;

/** Not a file that a workspace can contain. */
export class NotPlain extends Error {}

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Reads a regular file without following links. Rejects with `NotPlain` if it is not a regular file or is too large. */
export async function readPlain(path: string): Promise<{ bytes: Buffer; stats: Stats }> {
  // Non-blocking, since opening a FIFO without a writer would hang.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    throw codeOf(error) === 'ELOOP' ? new NotPlain('it is a symbolic link') : error;
  });
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new NotPlain('it is not a regular file');
    if (stats.size > WORKSPACE_LIMITS.fileBytes) throw new NotPlain(tooLarge);
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

async function removeLeft(disk: Disk, path: string): Promise<void> {
  const stats = await disk.lstat(path).catch(() => undefined);
  if (stats?.isFile() && BigInt(Date.now()) * 1_000_000n - stats.mtimeNs > LEFT_NS) await rm(path, { force: true }).catch(() => {});
}
