import { call } from '../rpc/contract.ts';
import { backupEntry, backupExported, restoreChanges } from '../rpc/methods/backup.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** The bridge's folder of backups (design.md, "One vault"): what is in the journal, as one zip each. */
export const backupPort = port({
  kind: 'backup',
  what: 'A backup on disk',
  calls: {
    'backup.export': call({
      params: z.object({ passphrase: z.string().optional() }),
      result: backupExported,
      docs: 'Writes a new backup into the folder; with a passphrase the secrets too, sealed.',
      policy: { scope: 'admin' },
    }),
    'backup.list': call({
      params: z.object({}),
      result: z.object({ backups: z.array(backupEntry) }),
      docs: 'The backups of the folder, newest first; all of each is checked.',
      policy: { scope: 'read' },
    }),
    'backup.restore': call({
      params: z.object({ name: z.string(), passphrase: z.string().optional(), replace: z.boolean(), dryRun: z.boolean() }),
      result: z.object({ restored: z.boolean(), changes: restoreChanges }),
      docs: 'Brings a backup of the folder back, all of it or nothing.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
