import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { chmod, mkdir, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MAX_FOLDER_BATCH, type FolderEntry, type FolderStep, isMirrored } from '#shared/ports/files-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { getErrorCode, describeError, writeFileAtomically } from '../../home-directory.ts';
import { type BaselineEntry, SyncBaseline } from './sync-baseline.ts';
import { type Disk, toStamp } from './disk.ts';
import { DirectoryCache } from './directory-cache.ts';
import { isTemporary, checkDiskName, createTemporaryName } from './file-names.ts';
import { NoLocationError, type FileLocation, findLocation } from './file-location.ts';
import { toHash, type ScannedFile, NotRegularFileError, readRegularFile, scanFolder } from './scan-folder.ts';

interface ScanResult {
  state: 'same' | 'read' | 'vanished';
  /** Changes whenever the reported entries change. */
  mark: string;
  entries: FolderEntry[];
}

interface StepOutcome {
  outcome: 'done' | 'changed' | 'refused';
  why?: string;
}

/** The file is not in the expected state. */
class ChangedFileError extends Error {}

/** A workspace's folder and its last agreed state. Operations are serialized. */
export class WorkspaceFolder {
  readonly path: string;
  /** Folders on disk as of the last scan, the root first. */
  folders: readonly string[] = [];
  readonly #disk: Disk;
  readonly #baseline: SyncBaseline;
  #scanned: ReadonlyMap<string, ScannedFile> = new Map();
  readonly #mutex = new Mutex();

  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.path = path;
    this.#baseline = new SyncBaseline(disk, `${path}.synced.json`);
  }

  /** Returns the folder's current and agreed entries. `make`: also create the folder if it existed and has vanished. */
  scan(lastMark: string | null, make: boolean): Promise<ScanResult> {
    return this.#mutex.run(async () => {
      const baseline = await this.#baseline.read();
      const root = await this.#openRoot(make || baseline.size === 0);
      this.folders = [];
      if (root === undefined) return { state: 'vanished', mark: 'vanished', entries: mergeEntries(new Map(), new Map(), baseline) };
      const { files, problems, folders } = await scanFolder(this.#disk, root, this.#scanned);
      this.#scanned = files;
      this.folders = folders;
      const entries = mergeEntries(files, problems, baseline);
      const mark = createHash('sha256');
      for (const entry of entries) mark.update(`${JSON.stringify(entry)}\n`);
      const read = mark.digest('hex');
      return read === lastMark ? { state: 'same', mark: read, entries: [] } : { state: 'read', mark: read, entries };
    });
  }

  /** Reads the first of the wanted files, as many as fit in a response; skips files that have changed. */
  async read(
    requested: readonly { path: string; hash: string }[],
  ): Promise<{ path: string; content: string; encoding: 'utf8' | 'base64' }[]> {
    const root = await realpath(this.path);
    const listing = new DirectoryCache(this.#disk);
    const files = [];
    let remainingBytes: number = MAX_FOLDER_BATCH.bytes;
    for (const { path, hash } of requested) {
      const bytes = await this.#readBytes(listing, root, path);
      if (!bytes || toHash(bytes) !== hash) continue;
      remainingBytes -= bytes.length;
      if (remainingBytes < 0 && files.length > 0) break;
      const encoding: 'utf8' | 'base64' = isUtf8(bytes) && !bytes.includes(0) ? 'utf8' : 'base64';
      files.push({ path, content: bytes.toString(encoding), encoding });
    }
    return files;
  }

  /** Applies steps in order, and records the agreed state of those that succeeded. Rejects if that can't be recorded. */
  apply(steps: readonly FolderStep[]): Promise<StepOutcome[]> {
    return this.#mutex.run(async () => {
      const root = await realpath(this.path);
      const listing = new DirectoryCache(this.#disk);
      const outcomes: StepOutcome[] = [];
      const agreedEntries: BaselineEntry[] = [];
      for (const some of groupWrites(steps)) {
        const results = await Promise.allSettled(some.map((step) => this.#applyStep(listing, root, step)));
        for (const [at, result] of results.entries()) {
          if (result.status === 'rejected') throw result.reason;
          const step = some[at];
          outcomes.push(result.value);
          if (step && result.value.outcome === 'done')
            agreedEntries.push({ path: step.path, agreed: step.do === 'remove' ? null : step.agreed });
        }
      }
      await this.#baseline.update(agreedEntries);
      return outcomes;
    });
  }

  /** Undefined if the folder does not exist. */
  async #openRoot(make: boolean): Promise<string | undefined> {
    const parent = dirname(this.path);
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const name = basename(this.path);
    try {
      const root = await realpath(this.path);
      if (!(await this.#disk.readdir(parent)).some((entry) => entry.name === name))
        throw new RpcError('INTERNAL_ERROR', `This disk can’t tell ${name} from the folder of another workspace in ${parent}`);
      return root;
    } catch (error) {
      if (getErrorCode(error) !== 'ENOENT') throw error;
    }
    if (!make) return undefined;
    await mkdir(this.path, { mode: 0o700 });
    return realpath(this.path);
  }

  async #readBytes(listing: DirectoryCache, root: string, path: string): Promise<Buffer | undefined> {
    try {
      const location = await findLocation({ disk: this.#disk, listing }, root, path);
      return location.stats ? (await readRegularFile(location.path)).bytes : undefined;
    } catch (error) {
      if (error instanceof NoLocationError || error instanceof NotRegularFileError || getErrorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #applyStep(listing: DirectoryCache, root: string, step: FolderStep): Promise<StepOutcome> {
    const { path } = step;
    if (step.do === 'note') return { outcome: 'done' };
    const refused =
      !isMirrored(path) || path.split('/').some(isTemporary) ? 'files with this name are never mirrored' : checkDiskName(path);
    if (refused !== undefined) return { outcome: 'refused', why: refused };
    try {
      const location = await findLocation({ disk: this.#disk, listing }, root, path);
      await this.#assertBase(location, step.base);
      if (step.do === 'remove') {
        listing.onRemoved();
        await this.#removeFile(root, location);
      } else {
        await this.#writeFile(location, Buffer.from(step.content, step.encoding));
        for (const each of [...location.missing, location.path]) listing.onAdded(dirname(each), basename(each));
      }
      return { outcome: 'done' };
    } catch (error) {
      if (error instanceof ChangedFileError || getErrorCode(error) === 'EEXIST') return { outcome: 'changed' };
      if (error instanceof NoLocationError || error instanceof NotRegularFileError) return { outcome: 'refused', why: error.message };
      // An error of the whole disk is not an error of this file.
      if (getErrorCode(error) === 'ENOSPC')
        throw new RpcError('INTERNAL_ERROR', `Couldn’t write to ${this.path}: the disk is full`, {}, { cause: error });
      if (getErrorCode(error) === undefined) throw error;
      return { outcome: 'refused', why: `it can’t be written: ${describeError(error)}` };
    }
  }

  /** Throws `ChangedFileError` if the contents differ from `base`. */
  async #assertBase({ path, stats }: FileLocation, base: string | null): Promise<void> {
    if (!stats || base === null) {
      if (stats || base !== null) throw new ChangedFileError();
      return;
    }
    const read = await readRegularFile(path);
    if (toStamp(read.stats) !== toStamp(stats) || toHash(read.bytes) !== base) throw new ChangedFileError();
  }

  async #writeFile({ folder, missing, path, stats }: FileLocation, bytes: Buffer): Promise<void> {
    for (const each of missing)
      await mkdir(each, { mode: 0o700 }).catch((error: unknown) => {
        // Another file took the name first.
        if (getErrorCode(error) !== 'EEXIST') throw error;
      });
    // Keep an executable file executable, and give no permissions to others.
    const mode = stats ? (Number(stats.mode) & 0o700) | 0o600 : 0o600;
    const moveInto = async (from: string, to: string): Promise<void> => {
      if (stats) {
        await this.#assertUnchanged(to, toStamp(stats));
        return this.#disk.rename(from, to);
      }
      await this.#disk.link(from, to).catch((error: unknown) => {
        // For file systems without hard links.
        if (getErrorCode(error) === 'EEXIST' || getErrorCode(error) === undefined) throw error;
        return this.#disk.rename(from, to);
      });
    };
    await writeFileAtomically(path, bytes, moveInto, { mode, temporary: join(folder, createTemporaryName()) });
    if (process.platform !== 'win32') await chmod(path, mode);
  }

  async #removeFile(root: string, { folder, path, stats }: FileLocation): Promise<void> {
    if (!stats) return;
    await this.#assertUnchanged(path, toStamp(stats));
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
  async #assertUnchanged(path: string, stamp: string): Promise<void> {
    const stats = await this.#disk.lstat(path);
    if (toStamp(stats) !== stamp) throw new ChangedFileError();
  }
}

/** Number of concurrent writes: a disk can sync several files in the time of one. */
const MAX_CONCURRENT_WRITES = 16;

/** Groups steps in order, with consecutive writes together. */
function groupWrites(steps: readonly FolderStep[]): FolderStep[][] {
  const groups: FolderStep[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last && step.do === 'write' && last[0]?.do === 'write' && last.length < MAX_CONCURRENT_WRITES) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Merges existing and agreed files. Files below an unreadable folder do not count as deleted. */
function mergeEntries(
  files: ReadonlyMap<string, ScannedFile>,
  problems: ReadonlyMap<string, string>,
  baseline: Awaited<ReturnType<SyncBaseline['read']>>,
): FolderEntry[] {
  const findProblem = (path: string): string | undefined => {
    if (problems.size === 0) return undefined;
    const parts = path.split('/');
    return parts.map((_, at) => problems.get(parts.slice(0, at + 1).join('/'))).find((problem) => problem !== undefined);
  };
  return [...new Set([...files.keys(), ...problems.keys(), ...baseline.keys()])].sort().map((path) => {
    const problem = findProblem(path);
    return {
      path,
      hash: problem === undefined ? (files.get(path)?.hash ?? null) : null,
      agreed: baseline.get(path) ?? null,
      ...(problem === undefined ? {} : { problem }),
    };
  });
}
