import { call } from '../contract.ts';
import { z } from '../zod.ts';

const count = z.number().int().nonnegative();
const passphrase = z.string().min(8).max(1000).optional();

export const backupExported = z.object({
  /** Its file on the bridge's disk. */
  path: z.string(),
  /** Files in it. */
  files: count,
  /** Bytes. */
  size: count,
  /** Attachments that records refer to and that were not on this disk yet. */
  missing: count,
});

export const backupEntry = z.object({
  path: z.string(),
  /** What `backup.restore` takes. */
  name: z.string(),
  size: count,
  /** ISO 8601. */
  created: z.string().optional(),
  records: count.optional(),
  /** It holds the secrets, sealed under a passphrase. */
  secrets: z.boolean().optional(),
  /** Why it cannot be used. */
  problem: z.string().optional(),
});
export type BackupEntry = z.infer<typeof backupEntry>;

/** What a restore changes, store by store. */
export const restoreChanges = z.record(z.string(), z.object({ added: count, changed: count, unchanged: count, removed: count }));

/** Backups of everything, each one zip (interface document 1, section 4.1; decisions, "Devices, logs …"). */
export const backups = {
  'backup.export': call({
    params: z.strictObject({ passphrase }),
    result: backupExported,
    docs: 'Writes everything into one zip in the bridge’s folder of backups. Secrets are left out, unless a passphrase of 8 characters or more seals them.',
    policy: { scope: 'admin' },
  }),
  'backup.status': call({
    params: z.strictObject({}),
    result: z.object({ backups: z.array(backupEntry), count }),
    docs: 'Lists backups, the newest first, each checked as a whole.',
    policy: { scope: 'read' },
  }),
  'backup.restore': call({
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
    docs: 'Brings a backup back, all of it or nothing; with `dryRun` says only what that would change. `replace` also deletes what is not in it. Paired devices stay as they are.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
