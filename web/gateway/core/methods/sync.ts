import type { sync, SyncState } from '#shared/rpc/methods/sync.ts';
import type { Config } from '../config.ts';
import { conflictsOf, countConflicts } from '../conflicts.ts';
import type { Handlers } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import { sessionChanged } from '../sessions.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';

/** Where there is nothing to sync with. */
const OFF: SyncState = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };

export interface SyncMethodsDeps {
  vault: Vault;
  hub: Hub;
  config: Pick<Config, 'reload'>;
  sync: SyncPort | undefined;
  /** Tells that versions that were put aside have come or gone. */
  changed(): void;
}

export const syncMethods = ({ vault, hub, config, sync: port, changed }: SyncMethodsDeps): Handlers<typeof sync> => ({
  'sync.status': async () => {
    const [info, conflicts] = await Promise.all([port?.info() ?? null, countConflicts(vault)]);
    return { sync: port?.state() ?? OFF, journal: info?.journal ?? null, hosts: info?.hosts ?? [], conflicts };
  },

  'sync.conflicts': async () => ({ conflicts: await conflictsOf(vault) }),

  'sync.resolve': async ({ id, choice }) => {
    const copy = (await vault.conflicts.list()).find((candidate) => candidate.id === id);
    if (!copy || !(await vault.conflicts.resolve(id, choice))) return { resolved: false };
    changed();
    if (copy.store === 'config') await config.reload();
    if (copy.store === 'sessions' || copy.store === 'heads') hub.emit(sessionChanged(copy.key), copy.key);
    return { resolved: true };
  },
});
