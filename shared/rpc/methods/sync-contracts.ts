import { attachedHost, journalInfo } from '../../ports/journal-info.ts';
import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const syncState = z.object({
  /**
   * `off`: no bridge was ever connected. `away`: the bridge is not connected now. `catching-up`: syncing. `synced`: everything acknowledged is on disk.
   * `failing`: the journal cannot be written. `outdated`: a newer build wrote the data; this host only reads.
   */
  state: z.enum(['off', 'away', 'catching-up', 'synced', 'failing', 'outdated']),
  role: z.enum(['holder', 'replica', 'none']),
  /** Number of changes that exist only on this host. */
  pending: z.number(),
  /** Milliseconds since the Unix epoch. */
  lastSyncAt: z.number().nullable(),
  /** Records read and their total, while catching up. */
  progress: z.object({ done: z.number(), total: z.number() }).nullable(),
  /** A sentence for the person, if there is a problem. */
  problem: z.string().nullable(),
});
/** Sync state of a host. */
export type SyncState = z.infer<typeof syncState>;

const syncConflict = z.object({
  id: z.string(),
  kind: z.enum(['session', 'branch', 'setting', 'memory', 'file', 'project']),
  /** The subject of the conflict: the title of a chat, the name of a project or setting, or `<workspace>/<path>` of a file. */
  about: z.string(),
  /** Author and time of the version that lost, in milliseconds since the Unix epoch. */
  origin: z.string(),
  at: z.number(),
  /** Both versions, shortened, for comparison. For files that are not text, their type and size; null if deleted. */
  kept: z.string().nullable(),
  aside: z.string(),
  /** The session it belongs to. */
  path: z.string().optional(),
});
/** Two concurrent versions: one was kept, the other lost. */
export type SyncConflict = z.infer<typeof syncConflict>;

/** Sync of the vault across devices. */
export const syncContracts = {
  'sync.status': defineMethod({
    params: z.strictObject({}),
    result: z.object({
      sync: syncState,
      /** Null without a bridge. */
      journal: journalInfo.nullable(),
      hosts: z.array(attachedHost),
      conflicts: z.number(),
    }),
    docs: 'Returns the sync state of the host that serves the request, details of the journal on disk, and the attached hosts.',
    policy: { scope: 'read' },
  }),
  'sync.conflicts': defineMethod({
    params: z.strictObject({}),
    result: z.object({ conflicts: z.array(syncConflict) }),
    docs: 'Lists the versions that lost against a concurrent change on another device: the newest 200, newest first.',
    policy: { scope: 'read' },
  }),
  'sync.resolve': defineMethod({
    params: z.strictObject({ id: z.string().max(1000), choice: z.enum(['keep', 'restore']) }),
    result: z.object({ resolved: z.boolean() }),
    docs: 'Resolves a conflict: `keep` discards the version that lost, `restore` puts it in place of the current one.',
    policy: { scope: 'write' },
  }),
};
