import { RpcError } from '#shared/rpc/errors.ts';
import type { sync, SyncState } from '#shared/rpc/methods/sync.ts';
import type { Config } from '../config.ts';
import { conflictsOf, countConflicts, fileOf } from '../conflicts.ts';
import type { Handlers } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import { sessionChanged } from '../sessions.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import type { Workbench } from '../workbench.ts';

/** State without synchronization. */
const OFF: SyncState = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };

export interface SyncMethodsDeps {
  vault: Vault;
  hub: Hub;
  config: Pick<Config, 'reload'>;
  sync: SyncPort | undefined;
  workbench(): Promise<Pick<Workbench, 'workspaces'>>;
  /** Called when conflicting versions were added or removed. */
  changed(): void;
}

export const syncMethods = ({ vault, hub, config, sync: port, workbench, changed }: SyncMethodsDeps): Handlers<typeof sync> => ({
  'sync.status': async () => {
    const [info, conflicts] = await Promise.all([port?.info() ?? null, countConflicts(vault)]);
    return { sync: port?.state() ?? OFF, journal: info?.journal ?? null, hosts: info?.hosts ?? [], conflicts };
  },

  'sync.conflicts': async () => ({ conflicts: await conflictsOf(vault) }),

  'sync.resolve': async ({ id, choice }) => {
    const copy = await vault.conflicts.get(id);
    if (!copy) return { resolved: false };
    if (copy.store === 'files' && choice === 'restore') {
      const file = fileOf(copy);
      if (!file)
        throw new RpcError(
          'INVALID_PARAMS',
          'This version of the file was written by another version of Perch and can’t be restored here.',
        );
      // Written like any other change, so that subscribers of the workspace are notified. If this fails before the conflict is removed,
      // nothing is lost.
      await (await workbench()).workspaces.write(file.workspace, file);
    }
    if (!(await vault.conflicts.resolve(id, choice))) return { resolved: false };
    changed();
    if (copy.store === 'config') await config.reload();
    if (copy.store === 'sessions' || copy.store === 'heads') hub.emit(sessionChanged(copy.key), copy.key);
    return { resolved: true };
  },
});
