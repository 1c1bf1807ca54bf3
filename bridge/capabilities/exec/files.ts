import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Files up to this size are hashed whole; larger ones are known by identity, size and time. */
export const MAX_HASHED_BYTES = 64 * 1024 * 1024;

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export interface Fingerprint {
  print: string;
  bytes: number;
  /** Of all its content. */
  isWhole: boolean;
  /** The system lets it run, or its first line names an interpreter. */
  isExecutable: boolean;
}

/** The content of a regular file, or its identity, size and time if it is larger than `maxBytes`; undefined if it is none. */
export async function fingerprintFile(path: string, maxBytes = MAX_HASHED_BYTES): Promise<Fingerprint | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isFile()) return undefined;
    const bytes = Number(stats.size);
    const isExecutable = (stats.mode & 0o111n) !== 0n || (await hasShebang(path));
    if (bytes <= maxBytes) return { print: await hashFile(path), bytes, isWhole: true, isExecutable };
    return { print: [stats.dev, stats.ino, stats.size, stats.mtimeNs].join(':'), bytes, isWhole: false, isExecutable };
  } catch {
    return undefined;
  }
}

async function hasShebang(path: string): Promise<boolean> {
  await using handle = await open(path);
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return buffer.toString('latin1') === '#!';
}

/** Folders of a system's own programs, to which nobody but its administrator writes. */
const SYSTEM: Readonly<Partial<Record<NodeJS.Platform, RegExp>>> = {
  linux: /^\/(usr|bin|sbin|lib\w*|opt|nix\/store|snap)\//,
  darwin: /^\/(usr|bin|sbin|opt|System|Library)\//,
};

export interface Surface {
  platform?: NodeJS.Platform;
  uid?: number | undefined;
  env?: NodeJS.ProcessEnv;
}

/**
 * Whether no program with this process's rights can put other bytes at a path: the file and all its folders belong to root and only root may write to them.
 * As root, that is said of the system's own folders alone. Windows: the folders of the system and of installed programs.
 */
export async function isSealed(
  path: string,
  { platform = process.platform, uid = process.getuid?.(), env = process.env }: Surface = {},
): Promise<boolean> {
  if (platform === 'win32') {
    const lower = path.toLowerCase();
    return ['SystemRoot', 'ProgramFiles', 'ProgramFiles(x86)'].some((name) => {
      const folder = env[name]?.toLowerCase();
      return folder !== undefined && lower.startsWith(`${folder}\\`);
    });
  }
  if (uid === 0 && SYSTEM[platform]?.test(path) !== true) return false;
  try {
    for (let at = path; ; at = dirname(at)) {
      const { uid: owner, mode } = await lstat(at);
      if (owner !== 0 || (mode & 0o022) !== 0) return false;
      if (at === dirname(at)) return true;
    }
  } catch {
    return false;
  }
}
