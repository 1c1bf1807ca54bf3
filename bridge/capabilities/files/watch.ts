import { type FSWatcher, watch } from 'node:fs';

/** Delay that groups changes. */
const QUIET_MS = 200;
/** Maximum number of watches, which the system limits across all programs. Changes in further folders are found by the next scan. */
const MAX_WATCHED = 500;
/** Whether one watch covers all subfolders. */
const RECURSIVE = process.platform === 'darwin' || process.platform === 'win32';

/** Watches a folder and its subfolders. Failures are ignored, since the mirror also scans at intervals. */
export class FolderWatch {
  readonly #tell: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** Watches exactly these folders from now on. */
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
      // The folder is gone, or no watches are left.
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
