import { RpcError } from '#shared/rpc/rpc-error.ts';
import { syncContracts, type SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { Config } from '../../config/gateway-config.ts';
import { listConflicts, countConflicts, toConflictFile } from '../../system/conflicts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { createSessionChangedEvent } from '../../storage/session-views.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { AgentToolkit } from '../toolkit/agent-toolkit.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { toSource } from '../trust/content-sources.ts';
import type { Lazy } from '../../system/modules.ts';

/** State without synchronization. */
const SYNC_OFF: SyncState = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };

interface SyncMethodsDeps {
  vault: Vault;
  hub: EventBus;
  config: Pick<Config, 'reload'>;
  sync: SyncPort | undefined;
  agentToolkit: Lazy<Pick<AgentToolkit, 'workspaces'>>;
  labels: Pick<ContentLabels, 'add'>;
  /** Called when conflicting versions were added or removed. */
  onConflictsChange(): void;
}

export const syncMethods = defineMethods(syncContracts)(
  ({ vault, hub, config, sync: port, agentToolkit, labels, onConflictsChange }: SyncMethodsDeps) => ({
    'sync.status': async () => {
      const [info, conflicts] = await Promise.all([port?.info() ?? null, countConflicts(vault)]);
      return { sync: port?.state() ?? SYNC_OFF, journal: info?.journal ?? null, hosts: info?.hosts ?? [], conflicts };
    },

    'sync.conflicts': async () => ({ conflicts: await listConflicts(vault) }),

    'sync.resolve': async ({ id, choice }) => {
      const copy = await vault.conflicts.get(id);
      if (!copy) return { resolved: false };
      if (copy.store === 'files' && choice === 'restore') {
        const file = toConflictFile(copy);
        if (!file)
          throw new RpcError(
            'INVALID_PARAMS',
            'This version of the file was written by another version of Perch and can’t be restored here.',
          );
        // Its label, if it had one, may be gone with the version that won.
        await labels.add('file', `${file.workspace}/${file.path}`, [toSource('unknown', 'another version')]);
        // Written like any other change, so that subscribers of the workspace are notified. If this fails before the conflict is removed,
        // nothing is lost.
        await (await agentToolkit.load()).workspaces.write(file.workspace, file);
      }
      if (!(await vault.conflicts.resolve(id, choice))) return { resolved: false };
      onConflictsChange();
      if (copy.store === 'config') await config.reload();
      if (copy.store === 'projects') hub.emit({ event: 'project.changed', payload: { id: copy.key } }, null);
      if (copy.store === 'sessions' || copy.store === 'heads') hub.emit(createSessionChangedEvent(copy.key), copy.key);
      return { resolved: true };
    },
  }),
);
