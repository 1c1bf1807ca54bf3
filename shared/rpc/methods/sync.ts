import { attachedHost, journalInfo } from '../../ports/journal.ts';
import { call } from '../contract.ts';
import { z } from '../zod.ts';

export const syncState = z.object({
  /**
   * `off`: no bridge was ever there. `away`: it is not there now. `catching-up`: it is being read and written. `synced`: what is acknowledged is on disk.
   * `failing`: the journal takes nothing. `outdated`: the data was written by a newer build, and this host only reads.
   */
  state: z.enum(['off', 'away', 'catching-up', 'synced', 'failing', 'outdated']),
  role: z.enum(['holder', 'replica', 'none']),
  /** Changes that are here alone. */
  pending: z.number(),
  /** Milliseconds since 1970. */
  lastSyncAt: z.number().nullable(),
  /** While it catches up: records read, of how many. */
  progress: z.object({ done: z.number(), total: z.number() }).nullable(),
  /** A sentence for the person, where something is wrong. */
  problem: z.string().nullable(),
});
/** How one host stands with the journal. */
export type SyncState = z.infer<typeof syncState>;

export const conflict = z.object({
  id: z.string(),
  kind: z.enum(['session', 'branch', 'setting', 'memory', 'file']),
  /** What it is about, in words: the chat's title, the setting's name, `<workspace>/<path>` of a file. */
  about: z.string(),
  /** Of the version that was put aside: who wrote it, and when, milliseconds since 1970. */
  origin: z.string(),
  at: z.number(),
  /** Both versions, shortened, for the person to compare; of a file that is no text its type and size; null: gone. */
  kept: z.string().nullable(),
  aside: z.string(),
  /** The session that it belongs to. */
  path: z.string().optional(),
});
/** Two versions that were written apart: one is kept, one was put aside. */
export type Conflict = z.infer<typeof conflict>;

/** The vault on several devices (design.md, "One vault"); ours, beside the interface document's. */
export const sync = {
  'sync.status': call({
    params: z.strictObject({}),
    result: z.object({
      sync: syncState,
      /** Null where there is no bridge. */
      journal: journalInfo.nullable(),
      hosts: z.array(attachedHost),
      conflicts: z.number(),
    }),
    docs: 'How the host that answers stands with the journal, what is on disk, and who is attached.',
    policy: { scope: 'read' },
  }),
  'sync.conflicts': call({
    params: z.strictObject({}),
    result: z.object({ conflicts: z.array(conflict) }),
    docs: 'Versions that were put aside because another device wrote apart from them, the newest 200, newest first.',
    policy: { scope: 'read' },
  }),
  'sync.resolve': call({
    params: z.strictObject({ id: z.string().max(1000), choice: z.enum(['keep', 'restore']) }),
    result: z.object({ resolved: z.boolean() }),
    docs: 'Forgets a version that was put aside (`keep`), or puts it in the place of the other one (`restore`).',
    policy: { scope: 'write' },
  }),
};
