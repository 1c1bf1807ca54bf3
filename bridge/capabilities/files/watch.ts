import { type FSWatcher, watch } from 'node:fs';

/** Changes come in crowds. */
const QUIET_MS = 200;
/** The system has only so many watches for all its programs; what lies in folders beyond is seen at the next look. */
const MAX_WATCHED = 500;
/** Where one watch sees all folders below. */
const RECURSIVE = process.platform === 'darwin' || process.platform === 'win32';

/** Watches folders, the first of which the others lie below. What cannot be watched is left: the mirror also looks by itself. */
export class FolderWatch {
  readonly #tell: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** Watches these from now on, and no others. */
  follow(folders: readonly string[]): void {
    const wanted = new Set(folders.slice(0, RECURSIVE ? 1 : MAX_WATCHED));
    for (const [folder, watcher] of this.#watchers) if (!wanted.has(folder)) this.#drop(folder, watcher);
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.follow([]);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false, recursive: RECURSIVE }, () => this.#changed());
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => {
        this.#drop(folder, watcher);
        this.#changed();
      });
    } catch {
      // Gone already, or no watch is left.
    }
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tell();
    }, QUIET_MS).unref();
  }
}
