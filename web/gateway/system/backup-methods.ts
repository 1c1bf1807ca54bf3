import { backupPort } from '#shared/ports/backup-port.ts';
import { backupContracts } from '#shared/rpc/methods/backup-contracts.ts';
import type { Bridge } from '../ports/bridge-interface.ts';
import { defineMethods } from './methods.ts';
import type { SyncPort } from '../sync/sync-port.ts';

interface BackupMethodsDeps {
  bridge: Bridge;
  sync: Pick<SyncPort, 'info' | 'waitForPosition'> | undefined;
}

/** Backups are made of the journal, which contains everything acknowledged here. */
export const backupMethods = defineMethods(backupContracts)(({ bridge, sync }: BackupMethodsDeps) => ({
  'backup.export': (params, { signal }) => bridge.call(backupPort, 'backup.export', params, { signal }),

  'backup.status': async (_params, { signal }) => {
    const { backups } = await bridge.call(backupPort, 'backup.list', {}, { signal });
    return { backups, count: backups.length };
  },

  // Once started, a restore is not cancelled by its caller.
  'backup.restore': async (params) => {
    const result = await bridge.call(backupPort, 'backup.restore', params);
    // Later requests see the restored data.
    if (result.restored) await sync?.waitForPosition((await sync.info())?.journal.head ?? 0);
    return result;
  },
}));
