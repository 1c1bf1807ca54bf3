import { z } from '../rpc/zod.ts';

/** A host attached to the bridge. */
export const attachedHost = z.object({
  origin: z.string(),
  kind: z.enum(['tab', 'headless']),
  build: z.string(),
  /** The name it reports, such as `Chromium 156 on Linux`. */
  name: z.string(),
  /** When it was attached, in milliseconds since the Unix epoch. */
  since: z.number(),
  ready: z.boolean(),
  /** Whether it serves the gateway's clients. */
  holder: z.boolean(),
});
export type AttachedHost = z.infer<typeof attachedHost>;

export const journalInfo = z.object({
  id: z.string(),
  /** Path of its file on the bridge's disk. */
  path: z.string(),
  bytes: z.number(),
  head: z.number(),
  schema: z.number(),
  records: z.number(),
  tombstones: z.number(),
  blobs: z.number(),
  blobBytes: z.number(),
  /** Time of the last accepted change by the bridge's clock, in milliseconds since the Unix epoch; null in an empty journal. */
  changedAt: z.number().nullable(),
  /** Incidents to show to the person, such as a damaged journal that was rebuilt. */
  notices: z.array(z.object({ at: z.number(), message: z.string() })),
  /** Free bytes on its disk; null if unknown. */
  free: z.number().nullable(),
});
export type JournalInfo = z.infer<typeof journalInfo>;
