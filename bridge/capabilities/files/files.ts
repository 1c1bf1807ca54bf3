import { join } from 'node:path';
import type { filesPort } from '#shared/ports/files.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { codeOf, reasonOf } from '../../home.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { Folder } from './folder.ts';
import { FolderWatch } from './watch.ts';

/** Maximum number of entries per response. */
const TOLD = 500;

export const WORKSPACES_FOLDER = 'workspaces';

/** Handlers for the folders of workspaces, `workspaces/<name>` in the bridge's home (shared/ports/files.ts). */
export function filesHandlers({
  home,
  disk = nodeDisk,
}: {
  home: string;
  disk?: Disk;
}): PortHandlers<typeof filesPort.calls, typeof filesPort.events> {
  const folders = new Map<string, Folder>();
  /** Watchers of a folder's changes. */
  const watches = new Map<string, Set<FolderWatch>>();
  const folderOf = (name: string): Folder => {
    const folder = folders.get(name) ?? new Folder(disk, join(home, WORKSPACES_FOLDER, name));
    folders.set(name, folder);
    return folder;
  };
  const follow = (name: string): void => {
    for (const watch of watches.get(name) ?? []) watch.follow(folderOf(name).folders);
  };

  return {
    'files.scan': async ({ workspace, known, make }, { send }) => {
      const folder = folderOf(workspace);
      const { entries, ...scanned } = await folder.scan(known, make).catch(told(folder));
      follow(workspace);
      for (let from = 0; from < entries.length; from += TOLD) send('files.entries', { entries: entries.slice(from, from + TOLD) });
      return { ...scanned, folder: folder.path };
    },

    'files.read': async ({ workspace, files }) => {
      const folder = folderOf(workspace);
      return { files: await folder.read(files).catch(told(folder)) };
    },

    'files.apply': async ({ workspace, steps }) => {
      const folder = folderOf(workspace);
      return { outcomes: await folder.apply(steps).catch(told(folder)) };
    },

    'files.watch': async ({ workspaces }, { signal, send }) => {
      const own = new Map(workspaces.map((name) => [name, new FolderWatch(() => send('files.changed', { workspace: name }))]));
      for (const [name, watch] of own) {
        watches.set(name, new Set([...(watches.get(name) ?? []), watch]));
        follow(name);
      }
      await new Promise<void>((done) => {
        if (signal.aborted) done();
        signal.addEventListener('abort', () => done(), { once: true });
      });
      for (const [name, watch] of own) {
        watch.close();
        watches.get(name)?.delete(watch);
      }
      return {};
    },
  };
}

/** Converts a disk error to a message. */
const told =
  ({ path }: Folder) =>
  (error: unknown): never => {
    if (error instanceof RpcError || codeOf(error) === undefined) throw error;
    const why = codeOf(error) === 'ENOSPC' ? 'the disk is full' : reasonOf(error);
    throw new RpcError('INTERNAL_ERROR', `Couldn’t use ${path}: ${why}`, {}, { cause: error });
  };
