import { z } from '../rpc/zod.ts';

/**
 * What is kept in one vault on all its replicas, by store. `conflicts`: where two replicas changed a record apart, the one that lost is kept as a
 * copy (stores where records are only ever added, or that nobody writes by hand, have no use for that).
 */
export const SYNC_STORES = {
  sessions: { conflicts: true },
  /** Which message a session's active branch ends in. */
  heads: { conflicts: true },
  messages: { conflicts: false },
  runs: { conflicts: false },
  config: { conflicts: true },
  secrets: { conflicts: false },
  memories: { conflicts: true },
  usage: { conflicts: false },
  plans: { conflicts: false },
  jobs: { conflicts: false },
  jobRuns: { conflicts: false },
  execRequests: { conflicts: false },
  execPolicies: { conflicts: false },
  approvals: { conflicts: false },
  devices: { conflicts: false },
  apiKeys: { conflicts: false },
  /** What `/v1/responses` keeps for its callers. */
  responses: { conflicts: false },
  /** What was told to the agent and waits for its next run. */
  systemEvents: { conflicts: false },
  files: { conflicts: false },
  conflicts: { conflicts: false },
} as const satisfies Record<string, { conflicts: boolean }>;
export type SyncStore = keyof typeof SYNC_STORES;

const SYNC_STORE_NAMES = Object.keys(SYNC_STORES) as [SyncStore, ...SyncStore[]];

/** A reading of the hybrid clock: `<wall ms, 15 digits>-<counter, 4 in base 36>-<origin>`. It sorts as it should. */
export const reading = z.string().regex(/^\d{15}-[0-9a-z]{4}-[A-Za-z0-9_-]{1,100}$/);

/** SHA-256 of an attachment's bytes, in hex. */
export const blobHash = z.string().regex(/^[0-9a-f]{64}$/);

export const syncRecord = z.object({
  store: z.enum(SYNC_STORE_NAMES),
  key: z.string().min(1).max(600),
  clock: reading,
  /** The fencing number under which it was written, where it was (runs): a higher one wins whatever the clocks say. */
  fence: z.number().int().nonnegative().optional(),
  /** The clock of the journal's version that this one was made from; null where there was none. Only where the store has conflicts. */
  base: reading.nullable().optional(),
  deleted: z.literal(true).optional(),
  /** How the payload is sealed. There is only `none` so far: what leaves the machine will be sealed (design.md, "One vault"). */
  seal: z.literal('none').default('none'),
  /** The record as JSON; null where it is deleted. */
  payload: z.string().nullable(),
  /** Attachments that it refers to. */
  blobs: z.array(blobHash).max(1000).optional(),
});
/** The last change of one record, as it travels between replicas and lies in the journal. */
export type SyncRecord = z.infer<typeof syncRecord>;

/** What decides between two versions of one record. */
export type Version = Pick<SyncRecord, 'clock' | 'fence'>;

/**
 * Whether `a` wins over `b`, versions of one record: the higher fence, then the later reading. Readings of two writers are never equal, so this is a total
 * order, and replicas agree whatever the order in which they hear of changes, and how often.
 */
export function wins(a: Version, b: Version): boolean {
  const [fenceA, fenceB] = [a.fence ?? 0, b.fence ?? 0];
  return fenceA === fenceB ? a.clock > b.clock : fenceA > fenceB;
}

/** Who wrote it. */
export const originOf = (clock: string): string => clock.slice(21);

/** Milliseconds since 1970, by the writer's clock. */
export const wallOf = (clock: string): number => Number(clock.slice(0, 15));
