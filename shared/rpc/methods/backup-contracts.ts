import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const count = z.number().int().nonnegative();
const passphrase = z.string().min(8).max(1000).optional();

export const backupExport = z.object({
  /** Path of the file on the bridge's disk. */
  path: z.string(),
  /** Number of files in the backup. */
  files: count,
  /** Size in bytes. */
  size: count,
  /** Number of attachments that records refer to but that were not on this disk yet. */
  missing: count,
});

export const backupEntry = z.object({
  path: z.string(),
  /** The name to pass to `backup.restore`. */
  name: z.string(),
  size: count,
  /** An ISO 8601 timestamp. */
  created: z.string().optional(),
  records: count.optional(),
  /** Whether the backup contains the secrets, encrypted with a passphrase. */
  secrets: z.boolean().optional(),
  /** Why the backup cannot be used. */
  problem: z.string().optional(),
});
export type BackupEntry = z.infer<typeof backupEntry>;

/** The changes that a restore makes in each store. */
export const restoreChanges = z.record(z.string(), z.object({ added: count, changed: count, unchanged: count, removed: count }));

/** Backups of all data, each one zip file. */
export const backupContracts = {
  'backup.export': defineMethod({
    params: z.strictObject({ passphrase }),
    result: backupExport,
    docs: 'Writes a backup of all data as one zip file to the bridge’s backup folder. Secrets are included only if a passphrase (at least 8 characters) is given to encrypt them.',
    policy: { scope: 'admin' },
  }),
  'backup.status': defineMethod({
    params: z.strictObject({}),
    result: z.object({ backups: z.array(backupEntry), count }),
    docs: 'Lists the backups, newest first. Each one is verified in full.',
    policy: { scope: 'read' },
  }),
  'backup.restore': defineMethod({
    params: z.strictObject({
      name: z
        .string()
        .max(200)
        .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*\.zip$/, 'must be the name of a backup'),
      passphrase,
      replace: z.boolean().default(false),
      dryRun: z.boolean().default(false),
    }),
    result: z.object({ restored: z.boolean(), changes: restoreChanges }),
    emits: ['config.changed', 'sessions.changed'],
    docs: 'Restores a backup completely or not at all. With `dryRun: true` only returns what would change. With `replace: true` also deletes everything that is not in the backup. Paired devices are not changed.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
