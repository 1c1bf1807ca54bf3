import { backupPort } from '#shared/ports/backup.ts';
import type { backups } from '#shared/rpc/methods/backup.ts';
import type { Bridge } from '../bridge.ts';
import type { Handlers } from '../dispatch.ts';
import type { SyncPort } from '../sync.ts';

interface BackupDeps {
  bridge: Bridge;
  sync: Pick<SyncPort, 'info' | 'reached'> | undefined;
}

/** What was acknowledged here is in the journal, which is what is backed up. */
export const backupMethods = ({ bridge, sync }: BackupDeps): Handlers<typeof backups> => ({
  'backup.export': (params, { signal }) => bridge.call(backupPort, 'backup.export', params, { signal }),

  'backup.status': async (_params, { signal }) => {
    const { backups } = await bridge.call(backupPort, 'backup.list', {}, { signal });
    return { backups, count: backups.length };
  },

  // A restore that has begun is not stopped by who asked for it.
  'backup.restore': async (params) => {
    const result = await bridge.call(backupPort, 'backup.restore', params);
    // Whoever asks next finds what came back.
    if (result.restored) await sync?.reached((await sync.info())?.journal.head ?? 0);
    return result;
  },
});
