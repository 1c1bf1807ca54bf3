import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { MAX_CHANGED_PATHS } from '#shared/ports/folders-port.ts';
import { isHiddenName } from './source-paths.ts';

/** Whether one watch covers all subfolders. */
const IS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32';

export interface WatchLimits {
  /** Time without changes after which they are reported, and the longest time that they wait. */
  debounceMs: number;
  maxWaitMs: number;
  /** Interval for folders that can't be watched, and for roots that don't exist. */
  pollMs: number;
  /** Maximum number of watched folders, which the system limits across all programs. */
  maxFolders: number;
}

const DEFAULT_LIMITS: WatchLimits = { debounceMs: 500, maxWaitMs: 5_000, pollMs: 30_000, maxFolders: 5_000 };

interface RootWatchOptions {
  root: string;
  limits?: Partial<WatchLimits>;
  /** `paths`: changed files and folders below the root, if they are known. */
  onChange(paths: string[] | undefined): void;
  /** Replaces the system's watches in tests. */
  watchFolder?: typeof watch;
}

/**
 * Reports changes below a root. On Linux each folder has a watch of its own, but no file, as libraries for this do: a folder of 10,000
 * files takes one. Folders without a watch, because the system has none left or there are too many, are reported as possibly changed at
 * intervals.
 */
export class RootWatch {
  readonly #root: string;
  readonly #limits: WatchLimits;
  readonly #onChange: RootWatchOptions['onChange'];
  readonly #watchFolder: typeof watch;
  readonly #watchers = new Map<string, FSWatcher>();
  /** Changed paths to report; null if they are too many, or unknown. */
  #changed: Set<string> | null = new Set();
  #firstChangeAt: number | undefined;
  #debounceTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #isComplete = false;
  #isClosed = false;
  /** Name of the root if it is a file: its folder is watched, since programs replace files. */
  #fileName: string | undefined;

  constructor({ root, limits, onChange, watchFolder = watch }: RootWatchOptions) {
    this.#root = root;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#onChange = onChange;
    this.#watchFolder = watchFolder;
  }

  /** Resolves once everything that can be watched is. */
  async start(): Promise<void> {
    if (this.#isClosed) return;
    clearTimeout(this.#pollTimer);
    this.#isComplete = true;
    const stats = await lstat(this.#root).catch(() => undefined);
    if (!stats) this.#isComplete = false;
    else if (stats.isDirectory()) await this.#watchBelow(this.#root);
    else {
      this.#fileName = basename(this.#root);
      this.#watch(dirname(this.#root));
    }
    if (this.#isClosed || this.#isComplete) return;
    this.#pollTimer = setTimeout(() => void this.#poll(stats !== undefined), this.#limits.pollMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#debounceTimer);
    clearTimeout(this.#pollTimer);
    for (const folder of [...this.#watchers.keys()]) this.#unwatch(folder);
  }

  async #poll(existed: boolean): Promise<void> {
    const exists = await lstat(this.#root).then(
      () => true,
      () => false,
    );
    if (this.#isClosed) return;
    if (exists || existed) this.#addChange(undefined);
    await this.start();
  }

  async #watchBelow(folder: string): Promise<void> {
    if (!this.#watch(folder) || IS_RECURSIVE) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isDirectory() && !isHiddenName(entry.name) && !this.#isClosed) await this.#watchBelow(join(folder, entry.name));
  }

  /** False if it can't be watched. */
  #watch(folder: string): boolean {
    if (this.#isClosed || this.#watchers.has(folder)) return true;
    if (this.#watchers.size >= this.#limits.maxFolders) return (this.#isComplete = false);
    try {
      const isRecursive = IS_RECURSIVE && this.#fileName === undefined;
      const watcher = this.#watchFolder(folder, { persistent: false, recursive: isRecursive }, (event, name) => {
        void this.#handle(folder, event, name);
      });
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => {
        this.#unwatch(folder);
        this.#scheduleRestart();
      });
      return true;
    } catch {
      // The folder is gone, or the system has no watches left.
      return (this.#isComplete = false);
    }
  }

  #unwatch(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  async #handle(folder: string, event: string, name: string | null): Promise<void> {
    if (this.#isClosed) return;
    if (this.#fileName !== undefined) {
      if (name === null || name === this.#fileName) this.#addChange(this.#fileName);
      return;
    }
    const path = name === null ? folder : join(folder, name);
    const below = relative(this.#root, path).split(sep);
    if (below.some(isHiddenName)) return;
    this.#addChange(name === null ? undefined : below.join('/'));
    if (event !== 'rename') return;
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isDirectory()) return this.#watchBelow(path);
    if (stats || this.#isClosed) return;
    for (const watched of [...this.#watchers.keys()]) if (watched === path || watched.startsWith(path + sep)) this.#unwatch(watched);
    // A root that was removed or moved is watched for its return.
    if (!(await lstat(this.#root).catch(() => undefined))) this.#scheduleRestart();
  }

  /** Starts anew after the root was lost, or a watch of it. */
  #scheduleRestart(): void {
    if (this.#isClosed) return;
    for (const folder of [...this.#watchers.keys()]) this.#unwatch(folder);
    this.#addChange(undefined);
    clearTimeout(this.#pollTimer);
    this.#pollTimer = setTimeout(() => void this.#poll(false), this.#limits.pollMs).unref();
  }

  #addChange(path: string | undefined): void {
    if (path === undefined || (this.#changed && this.#changed.size >= MAX_CHANGED_PATHS)) this.#changed = null;
    else this.#changed?.add(path);
    const now = performance.now();
    this.#firstChangeAt ??= now;
    clearTimeout(this.#debounceTimer);
    const wait = Math.min(this.#limits.debounceMs, this.#firstChangeAt + this.#limits.maxWaitMs - now);
    this.#debounceTimer = setTimeout(() => this.#report(), Math.max(0, wait)).unref();
  }

  #report(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    this.#firstChangeAt = undefined;
    this.#onChange(changed ? [...changed].sort() : undefined);
  }
}
