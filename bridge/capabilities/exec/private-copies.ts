import { createHash } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { copyFile, chmod, link, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hashFile } from './file-fingerprint.ts';

/** Maximum number of siblings of a program that are linked to its copy's folder. */
const MAX_SIBLINGS = 5000;
const MAX_CACHED_HASHES = 2000;

/** Folders of this process. */
const processFolders = new Set<string>();

function removeFolders(): void {
  for (const folder of processFolders) rmSync(folder, { recursive: true, force: true });
}

/** Copies of approved programs and scripts, in a folder that only this user can read. Deleted at the end of the process. */
export class PrivateCopies {
  readonly #root: string;
  #folder: Promise<string> | undefined;
  /** Hashes by file identity, which includes the change time. */
  readonly #hashes = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Returns a program's hash. A stale hash can only cause a rejection, since the program that runs is a copy with that hash or an immutable
   * file.
   */
  async getHash(path: string): Promise<string> {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    const identity = [dev, ino, size, mtimeNs, ctimeNs].join(':');
    const cached = this.#hashes.get(identity);
    if (cached !== undefined) return cached;
    const hash = await hashFile(path);
    // A change within the clock's resolution would not be noticed.
    if (Date.now() - Number(ctimeNs / 1_000_000n) > 2000) {
      if (this.#hashes.size >= MAX_CACHED_HASHES) this.#hashes.clear();
      this.#hashes.set(identity, hash);
    }
    return hash;
  }

  /** Creates a folder for one run. */
  async createRunFolder(): Promise<string> {
    return mkdtemp(join(await this.#getFolder(), 'run-'));
  }

  /**
   * Returns an executable copy of a program in `folder`, with links to its siblings so that it finds its libraries. Rejects if the file no
   * longer has this hash.
   */
  async copyProgram(folder: string, path: string, hash: string): Promise<string> {
    const storedCopy = join(await this.#getFolder(), hash);
    if (!(await stat(storedCopy).catch(() => undefined))) {
      const fresh = join(folder, 'fresh');
      await copyFile(path, fresh, constants.COPYFILE_FICLONE);
      if ((await hashFile(fresh)) !== hash) throw new Error('its content changed');
      await chmod(fresh, 0o500);
      await link(fresh, storedCopy).catch((error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      });
      await rm(fresh);
    }
    const above = join(folder, createHash('sha256').update(path).digest('hex').slice(0, 16));
    const siblingFolder = join(above, basename(dirname(path)) || 'bin');
    await mkdir(siblingFolder, { recursive: true, mode: 0o700 });
    await link(storedCopy, join(siblingFolder, basename(path)));
    await linkSiblings(dirname(path), siblingFolder, basename(path));
    await linkSiblings(dirname(dirname(path)), above, basename(dirname(path)));
    return join(siblingFolder, basename(path));
  }

  async #getFolder(): Promise<string> {
    return (this.#folder ??= this.#createFolder());
  }

  async #createFolder(): Promise<string> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await chmod(this.#root, 0o700);
    for (const name of await readdir(this.#root)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1]);
      if (pid && !isAlive(pid)) await rm(join(this.#root, name), { recursive: true, force: true });
    }
    const folder = await mkdtemp(join(this.#root, `${process.pid}-`));
    if (processFolders.size === 0) process.once('exit', removeFolders);
    processFolders.add(folder);
    return folder;
  }
}

/** Writes a script's bytes to the run's folder. */
export async function copyScript(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
  return path;
}

async function linkSiblings(from: string, to: string, except: string): Promise<void> {
  const names = await readdir(from).catch((): string[] => []);
  const linked = names.filter((name) => name !== except).slice(0, MAX_SIBLINGS);
  await Promise.all(linked.map((name) => symlink(join(from, name), join(to, name)).catch(() => {})));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
