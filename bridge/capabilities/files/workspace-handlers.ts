import { join } from 'node:path';
import type { filesPort } from '#shared/ports/files-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { getErrorCode, describeError } from '../../home-directory.ts';
import type { PortHandlers } from '../serve-port.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { WorkspaceFolder } from './workspace-folder.ts';
import { type FSWatcher, watch } from 'node:fs';

/** Delay that groups changes. */
const DEBOUNCE_MS = 200;

/** Maximum number of watches, which the system limits across all programs. Changes in further folders are found by the next scan. */
const MAX_WATCHES = 500;

/** Whether one watch covers all subfolders. */
const IS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32';

/** Watches a folder and its subfolders. Failures are ignored, since the mirror also scans at intervals. */
class FolderWatch {
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

/** Maximum number of entries per response. */
const MAX_ENTRIES_PER_EVENT = 500;

export const WORKSPACES_FOLDER = 'workspaces';

/** Handlers for the folders of workspaces, `workspaces/<name>` in the bridge's home (shared/ports/files-port.ts). */
export function createWorkspaceHandlers({
  home,
  disk = nodeDisk,
}: {
  home: string;
  disk?: Disk;
}): PortHandlers<typeof filesPort.calls, typeof filesPort.events> {
  const folders = new Map<string, WorkspaceFolder>();
  /** Watchers of a folder's changes. */
  const watches = new Map<string, Set<FolderWatch>>();
  const getFolder = (name: string): WorkspaceFolder => {
    const folder = folders.get(name) ?? new WorkspaceFolder(disk, join(home, WORKSPACES_FOLDER, name));
    folders.set(name, folder);
    return folder;
  };
  const updateWatches = (name: string): void => {
    for (const watch of watches.get(name) ?? []) watch.setFolders(getFolder(name).folders);
  };

  return {
    'files.scan': async ({ workspace, known, make }, { send }) => {
      const folder = getFolder(workspace);
      const { entries, ...scanned } = await folder.scan(known, make).catch(rethrowDiskError(folder));
      updateWatches(workspace);
      for (let from = 0; from < entries.length; from += MAX_ENTRIES_PER_EVENT)
        send('files.entries', { entries: entries.slice(from, from + MAX_ENTRIES_PER_EVENT) });
      return { ...scanned, folder: folder.path };
    },

    'files.read': async ({ workspace, files }) => {
      const folder = getFolder(workspace);
      return { files: await folder.read(files).catch(rethrowDiskError(folder)) };
    },

    'files.apply': async ({ workspace, steps }) => {
      const folder = getFolder(workspace);
      return { outcomes: await folder.apply(steps).catch(rethrowDiskError(folder)) };
    },

    'files.watch': async ({ workspaces }, { signal, send }) => {
      const ownWatches = new Map(workspaces.map((name) => [name, new FolderWatch(() => send('files.changed', { workspace: name }))]));
      for (const [name, watch] of ownWatches) {
        watches.set(name, new Set([...(watches.get(name) ?? []), watch]));
        updateWatches(name);
      }
      await new Promise<void>((done) => {
        if (signal.aborted) done();
        signal.addEventListener('abort', () => done(), { once: true });
      });
      for (const [name, watch] of ownWatches) {
        watch.close();
        watches.get(name)?.delete(watch);
      }
      return {};
    },
  };
}

/** Converts a disk error to a message. */
const rethrowDiskError =
  ({ path }: WorkspaceFolder) =>
  (error: unknown): never => {
    if (error instanceof RpcError || getErrorCode(error) === undefined) throw error;
    const reason = getErrorCode(error) === 'ENOSPC' ? 'the disk is full' : describeError(error);
    throw new RpcError('INTERNAL_ERROR', `Couldn’t use ${path}: ${reason}`, {}, { cause: error });
  };
