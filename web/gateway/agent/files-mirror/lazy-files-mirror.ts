import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace-contracts.ts';
import { whenCapabilityAvailable } from '../../system/when-capability-available.ts';
import type { FilesMirrorDeps } from './files-mirror.ts';
import type { MissingFilesChoice } from './workspace-mirror.ts';

/** The mirror of workspaces in folders, as used by the rest of the gateway. */
export interface LazyFilesMirror {
  readonly states: MirrorState[];
  /** Reports that something may have changed. */
  refresh(): void;
  /** Resumes a stopped workspace. Throws `NOT_FOUND` if the workspace is not mirrored. */
  resume(workspace: string, choice: MissingFilesChoice): Promise<MirrorState>;
  stop(): void;
}

/** Mirrors workspaces while a bridge with the capability `files` is connected. */
export function createLazyFilesMirror(deps: FilesMirrorDeps): LazyFilesMirror {
  const lazyMirror = whenCapabilityAvailable(
    { kind: 'files' },
    deps,
    async () => new (await import('./files-mirror.ts')).FilesMirror(deps),
  );
  return {
    get states() {
      return lazyMirror.feature?.states ?? [];
    },
    refresh: () => lazyMirror.feature?.refresh(),
    async resume(workspace, choice) {
      const resumed = await (await lazyMirror.waitUntilLoaded())?.resume(workspace, choice);
      if (!resumed) throw new RpcError('NOT_FOUND', `Workspace "${workspace}" is not mirrored to a folder.`);
      return resumed;
    },
    stop: () => lazyMirror.stop(),
  };
}
