import { call } from '../rpc/contract.ts';
import { backupEntry, backupExported, restoreChanges } from '../rpc/methods/backup.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** The bridge's folder of backups: each is the journal's content in one zip file. */
export const backupPort = port({
  kind: 'backup',
  what: 'Backing up to disk',
  calls: {
    'backup.export': call({
      params: z.object({ passphrase: z.string().optional() }),
      result: backupExported,
      docs: 'Creates a backup in the folder. With a passphrase it includes the secrets, encrypted.',
      policy: { scope: 'admin' },
    }),
    'backup.list': call({
      params: z.object({}),
      result: z.object({ backups: z.array(backupEntry) }),
      docs: 'Lists the backups of the folder, newest first. Each one is checked completely.',
      policy: { scope: 'read' },
    }),
    'backup.restore': call({
      params: z.object({ name: z.string(), passphrase: z.string().optional(), replace: z.boolean(), dryRun: z.boolean() }),
      result: z.object({ restored: z.boolean(), changes: restoreChanges }),
      docs: 'Restores a backup of the folder, completely or not at all.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
