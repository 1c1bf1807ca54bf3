import { RpcError } from '#shared/rpc/errors.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace.ts';
import { whileLent } from '../while-lent.ts';
import type { FilesMirrorDeps } from './files-mirror.ts';
import type { GoneChoice } from './workspace-mirror.ts';

/** The mirror of workspaces in folders, as used by the rest of the gateway. */
export interface KeptMirror {
  readonly states: MirrorState[];
  /** Reports that something may have changed. */
  look(): void;
  /** Resumes a stopped workspace. Throws `NOT_FOUND` if the workspace is not mirrored. */
  resume(workspace: string, gone: GoneChoice): Promise<MirrorState>;
  stop(): void;
}

/** Mirrors workspaces while a bridge with the capability `files` is connected. */
export function keepMirror(deps: FilesMirrorDeps): KeptMirror {
  const kept = whileLent({ kind: 'files' }, deps, async () => new (await import('./files-mirror.ts')).FilesMirror(deps));
  return {
    get states() {
      return kept.part?.states ?? [];
    },
    look: () => kept.part?.look(),
    async resume(workspace, gone) {
      const resumed = await (await kept.loaded())?.resume(workspace, gone);
      if (!resumed) throw new RpcError('NOT_FOUND', `Workspace "${workspace}" is not mirrored to a folder.`);
      return resumed;
    },
    stop: () => kept.stop(),
  };
}
