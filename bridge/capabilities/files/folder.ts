import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { chmod, mkdir, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FOLDER_BATCH, type FolderEntry, type FolderStep, isMirrored } from '#shared/ports/files.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { Turns } from '#shared/turns.ts';
import { codeOf, reasonOf, writeWhole } from '../../home.ts';
import { type Agreement, Agreements } from './agreements.ts';
import { type Disk, stampOf } from './disk.ts';
import { Listing } from './listing.ts';
import { isTemporary, refusedByDisk, temporaryName } from './names.ts';
import { NoPlace, type Place, placeOf } from './place.ts';
import { hashOf, type Known, NotPlain, readPlain, scan } from './scan.ts';

export interface Scanned {
  state: 'same' | 'read' | 'vanished';
  /** Changes whenever the reported entries change. */
  mark: string;
  entries: FolderEntry[];
}

export interface Outcome {
  outcome: 'done' | 'changed' | 'refused';
  why?: string;
}

/** The file is not in the expected state. */
class Changed extends Error {}

/** A workspace's folder and its last agreed state. Operations are serialized. */
export class Folder {
  readonly path: string;
  /** Folders on disk as of the last scan, the root first. */
  folders: readonly string[] = [];
  readonly #disk: Disk;
  readonly #agreements: Agreements;
  #known: ReadonlyMap<string, Known> = new Map();
  readonly #turns = new Turns();

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.path = path;
    this.#agreements = new Agreements(disk, `${path}.synced.json`);
  }

  /** Returns the folder's current and agreed entries. `make`: also create the folder if it existed and has vanished. */
  scan(known: string | null, make: boolean): Promise<Scanned> {
    return this.#turns.run(async () => {
      const agreed = await this.#agreements.read();
      const root = await this.#root(make || agreed.size === 0);
      this.folders = [];
      if (root === undefined) return { state: 'vanished', mark: 'vanished', entries: entriesOf(new Map(), new Map(), agreed) };
      const { files, problems, folders } = await scan(this.#disk, root, this.#known);
      this.#known = files;
      this.folders = folders;
      const entries = entriesOf(files, problems, agreed);
      const mark = createHash('sha256');
      for (const entry of entries) mark.update(`${JSON.stringify(entry)}\n`);
      const read = mark.digest('hex');
      return read === known ? { state: 'same', mark: read, entries: [] } : { state: 'read', mark: read, entries };
    });
  }

  /** Reads the first of the wanted files, as many as fit in a response; skips files that have changed. */
  async read(wanted: readonly { path: string; hash: string }[]): Promise<{ path: string; content: string; encoding: 'utf8' | 'base64' }[]> {
    const root = await realpath(this.path);
    const listing = new Listing(this.#disk);
    const files = [];
    let left: number = FOLDER_BATCH.bytes;
    for (const { path, hash } of wanted) {
      const bytes = await this.#bytesAt(listing, root, path);
      if (!bytes || hashOf(bytes) !== hash) continue;
      left -= bytes.length;
      if (left < 0 && files.length > 0) break;
      const encoding: 'utf8' | 'base64' = isUtf8(bytes) && !bytes.includes(0) ? 'utf8' : 'base64';
      files.push({ path, content: bytes.toString(encoding), encoding });
    }
    return files;
  }

  /** Applies steps in order, and records the agreed state of those that succeeded. Rejects if that can't be recorded. */
  apply(steps: readonly FolderStep[]): Promise<Outcome[]> {
    return this.#turns.run(async () => {
      const root = await realpath(this.path);
      const listing = new Listing(this.#disk);
      const outcomes: Outcome[] = [];
      const agreed: Agreement[] = [];
      for (const some of together(steps)) {
        const done = await Promise.allSettled(some.map((step) => this.#do(listing, root, step)));
        for (const [at, result] of done.entries()) {
          if (result.status === 'rejected') throw result.reason;
          const step = some[at];
          outcomes.push(result.value);
          if (step && result.value.outcome === 'done') agreed.push({ path: step.path, agreed: step.do === 'remove' ? null : step.agreed });
        }
      }
      await this.#agreements.note(agreed);
      return outcomes;
    });
  }

  /** Undefined if the folder does not exist. */
  async #root(make: boolean): Promise<string | undefined> {
    const parent = dirname(this.path);
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const name = basename(this.path);
    try {
      const root = await realpath(this.path);
      if (!(await this.#disk.readdir(parent)).some((entry) => entry.name === name))
        throw new RpcError('INTERNAL_ERROR', `This disk can’t tell ${name} from the folder of another workspace in ${parent}`);
      return root;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    if (!make) return undefined;
    await mkdir(this.path, { mode: 0o700 });
    return realpath(this.path);
  }

  async #bytesAt(listing: Listing, root: string, path: string): Promise<Buffer | undefined> {
    try {
      const place = await placeOf({ disk: this.#disk, listing }, root, path);
      return place.stats ? (await readPlain(place.path)).bytes : undefined;
    } catch (error) {
      if (error instanceof NoPlace || error instanceof NotPlain || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #do(listing: Listing, root: string, step: FolderStep): Promise<Outcome> {
    const { path } = step;
    if (step.do === 'note') return { outcome: 'done' };
    const refused =
      !isMirrored(path) || path.split('/').some(isTemporary) ? 'files with this name are never mirrored' : refusedByDisk(path);
    if (refused !== undefined) return { outcome: 'refused', why: refused };
    try {
      const place = await placeOf({ disk: this.#disk, listing }, root, path);
      await this.#check(place, step.base);
      if (step.do === 'remove') {
        listing.removed();
        await this.#remove(root, place);
      } else {
        await this.#write(place, Buffer.from(step.content, step.encoding));
        for (const each of [...place.missing, place.path]) listing.added(dirname(each), basename(each));
      }
      return { outcome: 'done' };
    } catch (error) {
      if (error instanceof Changed || codeOf(error) === 'EEXIST') return { outcome: 'changed' };
      if (error instanceof NoPlace || error instanceof NotPlain) return { outcome: 'refused', why: error.message };
      // An error of the whole disk is not an error of this file.
      if (codeOf(error) === 'ENOSPC')
        throw new RpcError('INTERNAL_ERROR', `Couldn’t write to ${this.path}: the disk is full`, {}, { cause: error });
      if (codeOf(error) === undefined) throw error;
      return { outcome: 'refused', why: `it can’t be written: ${reasonOf(error)}` };
    }
  }

  /** Throws `Changed` if the contents differ from `base`. */
  async #check({ path, stats }: Place, base: string | null): Promise<void> {
    if (!stats || base === null) {
      if (stats || base !== null) throw new Changed();
      return;
    }
    const read = await readPlain(path);
    if (stampOf(read.stats) !== stampOf(stats) || hashOf(read.bytes) !== base) throw new Changed();
  }

  async #write({ folder, missing, path, stats }: Place, bytes: Buffer): Promise<void> {
    for (const each of missing)
      await mkdir(each, { mode: 0o700 }).catch((error: unknown) => {
        // Another file took the name first.
        if (codeOf(error) !== 'EEXIST') throw error;
      });
    // Keep an executable file executable, and give no permissions to others.
    const mode = stats ? (Number(stats.mode) & 0o700) | 0o600 : 0o600;
    const place = async (from: string, to: string): Promise<void> => {
      if (stats) {
        await this.#unchanged(to, stampOf(stats));
        return this.#disk.rename(from, to);
      }
      await this.#disk.link(from, to).catch((error: unknown) => {
        // For file systems without hard links.
        if (codeOf(error) === 'EEXIST' || codeOf(error) === undefined) throw error;
        return this.#disk.rename(from, to);
      });
    };
    await writeWhole(path, bytes, place, { mode, temporary: join(folder, temporaryName()) });
    if (process.platform !== 'win32') await chmod(path, mode);
  }

  async #remove(root: string, { folder, path, stats }: Place): Promise<void> {
    if (!stats) return;
    await this.#unchanged(path, stampOf(stats));
    await this.#disk.rm(path);
    // Removes folders that have become empty.
    for (let at = folder; at !== root; at = dirname(at)) {
      const isRemoved = await rmdir(at).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
    }
  }

  /** Throws if the file was saved during the comparison. */
  async #unchanged(path: string, stamp: string): Promise<void> {
    const stats = await this.#disk.lstat(path);
    if (stampOf(stats) !== stamp) throw new Changed();
  }
}

/** Number of concurrent writes: a disk can sync several files in the time of one. */
const AT_ONCE = 16;

/** Groups steps in order, with consecutive writes together. */
function together(steps: readonly FolderStep[]): FolderStep[][] {
  const found: FolderStep[][] = [];
  for (const step of steps) {
    const last = found.at(-1);
    if (last && step.do === 'write' && last[0]?.do === 'write' && last.length < AT_ONCE) last.push(step);
    else found.push([step]);
  }
  return found;
}

/** Merges existing and agreed files. Files below an unreadable folder do not count as deleted. */
function entriesOf(
  files: ReadonlyMap<string, Known>,
  problems: ReadonlyMap<string, string>,
  agreed: Awaited<ReturnType<Agreements['read']>>,
): FolderEntry[] {
  const problemOf = (path: string): string | undefined => {
    if (problems.size === 0) return undefined;
    const parts = path.split('/');
    return parts.map((_, at) => problems.get(parts.slice(0, at + 1).join('/'))).find((problem) => problem !== undefined);
  };
  return [...new Set([...files.keys(), ...problems.keys(), ...agreed.keys()])].sort().map((path) => {
    const problem = problemOf(path);
    return {
      path,
      hash: problem === undefined ? (files.get(path)?.hash ?? null) : null,
      agreed: agreed.get(path) ?? null,
      ...(problem === undefined ? {} : { problem }),
    };
  });
}
