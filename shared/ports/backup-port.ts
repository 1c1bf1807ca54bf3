import { defineMethod } from '../rpc/contract.ts';
import { backupEntry, backupExport, restoreChanges } from '../rpc/methods/backup-contracts.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** The bridge's folder of backups: each is the journal's content in one zip file. */
export const backupPort = definePort({
  kind: 'backup',
  featureName: 'Backing up to disk',
  calls: {
    'backup.export': defineMethod({
      params: z.object({ passphrase: z.string().optional() }),
      result: backupExport,
      docs: 'Creates a backup in the folder. With a passphrase it includes the secrets, encrypted.',
      policy: { scope: 'admin' },
    }),
    'backup.list': defineMethod({
      params: z.object({}),
      result: z.object({ backups: z.array(backupEntry) }),
      docs: 'Lists the backups of the folder, newest first. Each one is checked completely.',
      policy: { scope: 'read' },
    }),
    'backup.restore': defineMethod({
      params: z.object({ name: z.string(), passphrase: z.string().optional(), replace: z.boolean(), dryRun: z.boolean() }),
      result: z.object({ restored: z.boolean(), changes: restoreChanges }),
      docs: 'Restores a backup of the folder, completely or not at all.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
