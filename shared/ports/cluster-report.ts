import { z } from '../rpc/zod.ts';

/** A server that keeps a stream besides the leading one. */
const streamFollower = z.object({
  name: z.string(),
  /** Has everything that the leader has. */
  current: z.boolean(),
  offline: z.boolean(),
  /** Operations that it has not applied yet; 0 if unknown. */
  lag: z.number(),
});

const clusterStream = z.object({
  name: z.string(),
  /** Number of servers that store it, as configured; bytes on each. */
  replicas: z.number().int(),
  bytes: z.number(),
  /** Maximum size; null if unlimited. */
  maxBytes: z.number().nullable(),
  messages: z.number(),
  /** Null on a single server, and if there is no leader. */
  leader: z.string().nullable(),
  followers: z.array(streamFollower),
});
export type ClusterStream = z.infer<typeof clusterStream>;

/** State of a vault that several machines share (docs/decisions/0063), as its bridge sees it: for the doctor. */
export const clusterReport = z.object({
  /** Servers of the setting. */
  servers: z.array(z.string()),
  state: z.enum(['connecting', 'catching-up', 'shared', 'apart']),
  /** Reason why the bridge is not connected to the cluster. */
  problem: z.object({ code: z.enum(['unreachable', 'refused', 'unfit', 'full', 'failed']), message: z.string() }).nullable(),
  /** Changes that are here and not there yet; never more than a thousand are counted. */
  unsent: z.number().int(),
  /** Report of the servers; null while none can be reached. */
  seen: z
    .object({
      /** The server at hand, and the cluster that it belongs to. */
      server: z.string(),
      cluster: z.string().nullable(),
      streams: z.array(clusterStream),
      /** Wanted number of replicas of each record. */
      wantedReplicas: z.number().int(),
      /** Number of stream messages that this bridge has not read yet. */
      behind: z.number().int(),
      /** Storage that the account uses, and its limit; in bytes, replicas counted each. Null: unlimited. */
      storage: z.object({ used: z.number(), limit: z.number().nullable() }),
      /** Minimum difference between the servers' clock and the bridge's, in ms. */
      skew: z.number(),
      /** The user may listen to everything in its account. */
      hearsAll: z.boolean(),
      /** Number of other owners' streams that the account may list; null if it may list none. */
      othersStreams: z.number().int().nullable(),
    })
    .nullable(),
});
export type ClusterReport = z.infer<typeof clusterReport>;
export type ServersReport = NonNullable<ClusterReport['seen']>;
