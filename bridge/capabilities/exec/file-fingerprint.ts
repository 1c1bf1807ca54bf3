import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Files up to this size are hashed completely; larger ones are identified by inode, size and time. */
export const MAX_HASHED_BYTES = 64 * 1024 * 1024;

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

interface Fingerprint {
  digest: string;
  bytes: number;
  /** Whether the hash covers the whole contents. */
  isWhole: boolean;
  /** Whether the system can execute it, or it has a shebang line. */
  isExecutable: boolean;
}

/** Returns the hash of a regular file, or its identity, size and time if it is larger than `maxBytes`. Undefined for anything else. */
export async function fingerprintFile(path: string, maxBytes = MAX_HASHED_BYTES): Promise<Fingerprint | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isFile()) return undefined;
    const bytes = Number(stats.size);
    const isExecutable = (stats.mode & 0o111n) !== 0n || (await hasShebang(path));
    if (bytes <= maxBytes) return { digest: await hashFile(path), bytes, isWhole: true, isExecutable };
    return { digest: [stats.dev, stats.ino, stats.size, stats.mtimeNs].join(':'), bytes, isWhole: false, isExecutable };
  } catch {
    return undefined;
  }
}

async function hasShebang(path: string): Promise<boolean> {
  await using handle = await open(path);
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return buffer.toString('latin1') === '#!';
}

/** Folders of the system's programs, writable only by administrators. */
const SYSTEM_FOLDERS: Readonly<Partial<Record<NodeJS.Platform, RegExp>>> = {
  linux: /^\/(usr|bin|sbin|lib\w*|opt|nix\/store|snap)\//,
  darwin: /^\/(usr|bin|sbin|opt|System|Library)\//,
};

interface ProcessPrivileges {
  platform?: NodeJS.Platform;
  uid?: number | undefined;
  env?: NodeJS.ProcessEnv;
}

/**
 * Whether no program with this process's permissions can replace the file: root owns it and its folders, and only root can write to them.
 * When running as root, true only for the system's folders. On Windows, true for the folders of the system and of installed programs.
 */
export async function isImmutable(
  path: string,
  { platform = process.platform, uid = process.getuid?.(), env = process.env }: ProcessPrivileges = {},
): Promise<boolean> {
  if (platform === 'win32') {
    const lower = path.toLowerCase();
    return ['SystemRoot', 'ProgramFiles', 'ProgramFiles(x86)'].some((name) => {
      const folder = env[name]?.toLowerCase();
      return folder !== undefined && lower.startsWith(`${folder}\\`);
    });
  }
  if (uid === 0 && SYSTEM_FOLDERS[platform]?.test(path) !== true) return false;
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
