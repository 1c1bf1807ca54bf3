import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import type { foldersPort } from '#shared/ports/folders-port.ts';
import { lazy } from '#shared/async/lazy.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { ResolveHost } from '../pinned-lookup.ts';
import type { PortHandlers } from '../serve-port.ts';
import { ApprovedRoots } from './approved-roots.ts';
import { ClonedRepositories } from './cloned-repositories.ts';
import { readSourceFile } from './read-source-file.ts';
import { RootWatch, type WatchLimits } from './root-watch.ts';
import { isRepository, listFolders, scanSource } from './scan-source.ts';
import { assertReadableRoot, resolveRoot } from './source-paths.ts';

interface FoldersOptions {
  /** The vault's folder in the bridge's home. */
  home: string;
  keeper: Pick<ProcessKeeper, 'keep'>;
  /** The bridge's home: nothing in it is read but cloned repositories. */
  ownFolder: string;
  watchLimits?: Partial<WatchLimits>;
  resolve?: ResolveHost;
  maxCloneBytes?: number;
}

/** Handlers that read folders, mail archives and repositories on this computer (shared/ports/folders-port.ts). */
export function createFoldersHandlers({
  home,
  keeper,
  ownFolder,
  watchLimits = {},
  resolve,
  maxCloneBytes,
}: FoldersOptions): PortHandlers<typeof foldersPort.calls, typeof foldersPort.events> {
  const approved = new ApprovedRoots(home);
  const getRepositories = lazy(
    async () =>
      new ClonedRepositories({
        home: await realpath(home),
        keeper,
        ...(resolve ? { resolve } : {}),
        ...(maxCloneBytes === undefined ? {} : { maxBytes: maxCloneBytes }),
      }),
  );
  const assertApproved = async (root: string): Promise<void> => {
    if (!(await approved.has(root)))
      throw new RpcError('INVALID_PARAMS', `${root} was not approved on this computer. Add the folder here to read it.`, {
        details: { reason: 'not-approved' },
      });
  };

  return {
    async 'folders.list'({ path = homedir() }) {
      const real = await resolveRoot(path);
      return { path: real, ...(await listFolders(real)) };
    },

    async 'folders.approve'({ path }) {
      const root = await resolveRoot(path);
      assertReadableRoot(root, await realpath(ownFolder));
      const stats = await stat(root);
      if (!stats.isDirectory() && !stats.isFile()) throw new RpcError('INVALID_PARAMS', `${path} is neither a folder nor a file.`);
      await approved.add(root);
      return { root, isFolder: stats.isDirectory(), isRepository: await isRepository(root) };
    },

    async 'folders.revoke'({ root }) {
      const revoked = await approved.remove(root);
      if (revoked) await (await getRepositories()).remove(root);
      return { revoked };
    },

    async 'folders.scan'({ root, ...query }, { signal }) {
      await assertApproved(root);
      return scanSource({ root, ...query, ownFolder: await realpath(ownFolder), signal });
    },

    async 'folders.read'({ root, path, offset, maxBytes }) {
      await assertApproved(root);
      const { bytes, ...file } = await readSourceFile(root, path, { offset, maxBytes, ownFolder: await realpath(ownFolder) });
      return { ...file, content: bytes.toString('base64') };
    },

    async 'folders.watch'({ roots }, { signal, send }) {
      for (const root of roots) await assertApproved(root);
      const watches = roots.map(
        (root) =>
          new RootWatch({
            root,
            limits: watchLimits,
            onChange: (paths) => send('folders.changed', { root, ...(paths === undefined ? {} : { paths }) }),
          }),
      );
      try {
        for (const watch of watches) await watch.start();
        await new Promise<void>((done) => {
          if (signal.aborted) done();
          signal.addEventListener('abort', () => done(), { once: true });
        });
      } finally {
        for (const watch of watches) watch.close();
      }
      return {};
    },

    async 'folders.clone'({ url, ref, allow }, { signal, send }) {
      const onProgress = (bytes: number): void => send('folders.progress', { bytes });
      const checkout = await (await getRepositories()).clone({ url, ref }, { allow, signal, onProgress });
      await approved.add(checkout.root);
      return checkout;
    },

    async 'folders.pull'({ root, allow }, { signal, send }) {
      await assertApproved(root);
      return (await getRepositories()).pull(root, { allow, signal, onProgress: (bytes) => send('folders.progress', { bytes }) });
    },
  };
}
