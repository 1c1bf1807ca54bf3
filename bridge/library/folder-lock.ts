import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mutex } from '#shared/async/mutex.ts';
import { getErrorCode } from '../home-directory.ts';

const LOCK_NAME = '.perch.lock';
/** Milliseconds after which a lock counts as abandoned: no change of a file takes that long. */
const MAX_LOCK_MS = 30_000;
const MIN_WAIT_MS = 2;
const MAX_WAIT_MS = 10;

/** Queues of this process's changes, by absolute path of the folder. */
const folderQueues = new Map<string, Mutex>();

/**
 * Runs `work` with an exclusive lock on the folder, across processes: `.perch.lock` exists meanwhile. Removes a lock left by a process that
 * has ended. If no file can be created there, nothing can be changed either, and `work` runs without a lock.
 */
export function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const turn = folderQueues.get(folder) ?? new Mutex();
  folderQueues.set(folder, turn);
  return turn.run(async () => {
    const path = join(folder, LOCK_NAME);
    const isLocked = await acquireLock(folder, path);
    try {
      return await work();
    } finally {
      if (isLocked) await rm(path, { force: true });
    }
  });
}

/** Acquires the lock file. False if no file can be created there. */
async function acquireLock(folder: string, path: string): Promise<boolean> {
  for (;;) {
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(`${process.pid} ${hostname()} ${randomBytes(6).toString('hex')}`);
      } finally {
        await file.close();
      }
      return true;
    } catch (error) {
      const code = getErrorCode(error);
      if (code === 'ENOENT') {
        if ((await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => null)) === null) return false;
        // Windows reports EPERM while the file is being removed.
      } else if (code !== 'EEXIST' && (code !== 'EPERM' || process.platform !== 'win32')) return false;
    }
    if (!(await removeAbandonedLock(path))) await sleep(MIN_WAIT_MS + Math.random() * (MAX_WAIT_MS - MIN_WAIT_MS));
  }
}

/** Removes a lock whose process has ended. False if it is still held. */
async function removeAbandonedLock(path: string): Promise<boolean> {
  const [owner, file] = await Promise.all([readFile(path, 'utf8').catch(() => ''), stat(path).catch(() => undefined)]);
  if (!file || !isAbandoned(owner, file.mtimeMs)) return false;
  const asidePath = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await rename(path, asidePath);
  } catch {
    return false;
  }
  // Another process may have removed it first, and this is the next holder's lock: restore it.
  const isOther = (await readFile(asidePath, 'utf8').catch(() => '')) !== owner;
  if (isOther) await link(asidePath, path).catch(() => {});
  await rm(asidePath, { force: true });
  return !isOther;
}

function isAbandoned(owner: string, at: number): boolean {
  if (Date.now() - at > MAX_LOCK_MS) return true;
  const [pid = '', host] = owner.split(' ');
  if (!/^\d+$/.test(pid) || host !== hostname()) return false;
  // After a restart, a container's process may have the same id as the one before.
  if (Number(pid) === process.pid) return at < Date.now() - process.uptime() * 1000;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return getErrorCode(error) === 'ESRCH';
  }
}
