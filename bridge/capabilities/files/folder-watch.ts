import { type FSWatcher, watch } from 'node:fs';

/** Delay that groups changes. */
const DEBOUNCE_MS = 200;
/** Maximum number of watches, which the system limits across all programs. Changes in further folders are found by the next scan. */
const MAX_WATCHES = 500;
/** Whether one watch covers all subfolders. */
const IS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32';

/** Watches a folder and its subfolders. Failures are ignored, since the mirror also scans at intervals. */
export class FolderWatch {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches exactly these folders from now on. */
  setFolders(folders: readonly string[]): void {
    const watched = new Set(folders.slice(0, IS_RECURSIVE ? 1 : MAX_WATCHES));
    for (const [folder, watcher] of this.#watchers) if (!watched.has(folder)) this.#remove(folder, watcher);
    for (const folder of watched) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.setFolders([]);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false, recursive: IS_RECURSIVE }, () => this.#scheduleChange());
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => {
        this.#remove(folder, watcher);
        this.#scheduleChange();
      });
    } catch {
      // The folder is gone, or no watches are left.
    }
  }

  #remove(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
  }

  #scheduleChange(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onChange();
    }, DEBOUNCE_MS).unref();
  }
}
