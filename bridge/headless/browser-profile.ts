import { execFile } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

/** Another running browser uses the profile; the message names it. */
export class ProfileInUseError extends Error {
  override name = 'ProfileInUseError';
}

const recordSchema = z.object({ major: z.number().int().positive() });
const RECORD_FILE = 'perch-browser.json';

/** Returns a browser's major version, without running it on Windows (where `--version` opens a window). Null if unknown. */
export async function getMajorVersion(executable: string): Promise<number | null> {
  if (process.platform === 'win32') {
    const versions = readdirSync(dirname(executable)).filter((name) => /^\d+(\.\d+){3}$/.test(name));
    return versions.length === 0 ? null : Math.max(...versions.map((name) => Number.parseInt(name)));
  }
  try {
    const { stdout } = await promisify(execFile)(executable, ['--version'], { timeout: 10_000 });
    const major = /(\d+)\.\d+\.\d+/.exec(stdout)?.[1];
    return major === undefined ? null : Number(major);
  } catch {
    return null;
  }
}

/**
 * Prepares a profile for a browser of this major version. A browser can't read a later version's data, so a downgrade moves the profile
 * aside and starts a new one; nothing is deleted. Returns the path of the earlier one, or null.
 */
export function prepareProfile(folder: string, major: number | null): string | null {
  const before = readMajor(folder);
  let oldProfile: string | null = null;
  if (major !== null && before !== null && major < before) {
    oldProfile = findFreeName(`${folder}.version-${before}`);
    renameSync(folder, oldProfile);
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (major !== null) writeMajor(folder, major);
  return oldProfile;
}

function writeMajor(folder: string, major: number): void {
  writeFileSync(join(folder, RECORD_FILE), JSON.stringify({ major }));
}

function readMajor(folder: string): number | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(join(folder, RECORD_FILE), 'utf8'))).major;
  } catch {
    return null;
  }
}

function findFreeName(baseName: string): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? baseName : `${baseName}-${n}`;
    if (!existsSync(name)) return name;
  }
}

export interface ProfileHolder {
  host: string;
  pid: number;
  /** Path of the lock. */
  file: string;
}

/**
 * Returns the holder of a profile: Chromium's lock is a symbolic link to `host-pid`. Null if there is none, or its process on this machine
 * has ended.
 */
export function getProfileHolder(folder: string): ProfileHolder | null {
  const file = join(folder, 'SingletonLock');
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return null;
  const [, host, pid] = /^(.*)-(\d+)$/.exec(readlinkSync(file)) ?? [];
  if (host === undefined || pid === undefined) return null;
  const holder = { host, pid: Number(pid), file };
  return host === hostname() && !isRunningOn(folder, holder.pid) ? null : holder;
}

/**
 * Locks a profile for the browser `pid`, as Chromium does itself and a headless shell does not. Throws ProfileInUse if another running
 * browser holds it. Replaces the lock of a browser that has ended.
 */
export function lockProfile(folder: string, pid: number): void {
  const file = join(folder, 'SingletonLock');
  if (getProfileHolder(folder) === null) rmSync(file, { force: true });
  try {
    symlinkSync(`${hostname()}-${pid}`, file);
  } catch (error) {
    const holder = getProfileHolder(folder);
    if (holder === null) throw error;
    if (holder.pid !== pid || holder.host !== hostname()) throw createInUseError(folder, holder);
  }
}

function createInUseError(folder: string, { host, pid, file }: ProfileHolder): ProfileInUseError {
  return new ProfileInUseError(
    host === hostname()
      ? `The browser profile ${folder} is in use by another gateway (browser process ${pid}). Stop that gateway, or set a different PERCH_HOME.`
      : `The browser profile ${folder} is in use on the computer ${host}. If it is no longer running, delete ${file}`,
  );
}

/** Waits until the profile is free: a browser whose bridge was killed needs a moment to exit. Throws ProfileInUse after `patienceMs`. */
export async function awaitProfile(folder: string, patienceMs: number, sleep: (ms: number) => Promise<void>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const holder = getProfileHolder(folder);
    if (holder === null) return;
    if (holder.host !== hostname() || performance.now() >= deadline) throw createInUseError(folder, holder);
    await sleep(50);
  }
}

/**
 * Whether a process is running and, if /proc can tell, is a browser on this profile: after a reboot the id may belong to another process.
 */
function isRunningOn(folder: string, pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
  } catch {
    return false;
  }
}
