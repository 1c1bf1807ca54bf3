import {
  DiscardPolicy,
  jetstream,
  type JetStreamClient,
  jetstreamManager,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { Objm, type ObjectStore } from '@nats-io/obj';
import { extendRequestTimeouts } from './request-timeouts.ts';
import { ClusterProblem, isWithoutJetStream } from './cluster-problem.ts';
import type { VaultSeal } from './vault-seal.ts';

/** An answer is waited for so long. */
export const CONNECT_TIMEOUT_MS = 5000;
/** Leases expire this long after they were last taken, and hosts after this long without a heartbeat. */
const LEASE_TTL_MS = 7 * 24 * 60 * 60 * 1000;
export const PRESENCE_TTL_MS = 12_000;
const STREAM_NOT_FOUND = 10059;
/** A cluster can then lose one server. */
const DEFAULT_REPLICAS = 3;

/** A vault's places in the cluster. */
export interface VaultStreams {
  nc: NatsConnection;
  js: JetStreamClient;
  jsm: JetStreamManager;
  /** The last version of each record, a subject each. */
  stream: string;
  /** The subject of a record's name is this and the name. */
  prefix: string;
  info: StreamInfo;
  /** Attachments, and records too large for a message. */
  objects: ObjectStore;
  /** Holders of leases. */
  leases: KV;
  /** Hosts attached to each bridge, and browsers that are present without one. */
  here: KV;
  /** Wanted number of replicas of each record; existing streams may have another. */
  wantedReplicas: number;
  /** The most bytes of one message. */
  maxBytes: number;
}

/** Whether only one server has the stream, so that replicas cannot diverge. */
export const isSingleReplica = ({ info }: Pick<VaultStreams, 'info'>): boolean => info.config.num_replicas === 1;

/**
 * Inbox prefix of a client: the vault's own, so that no user needs permission to read all replies, as under `_INBOX.>`
 * (docs/decisions/0077).
 */
export const getInboxPrefix = (vault: string): string => `_INBOX_${vault}`;

/** The streams of a vault by content (docs/decisions/0063). */
export const getStreamNames = (vault: string): Record<'records' | 'objects' | 'leases' | 'here', string> => ({
  records: `PERCH_${vault}`,
  objects: `OBJ_PERCH_${vault}_blobs`,
  leases: `KV_PERCH_${vault}_leases`,
  here: `KV_PERCH_${vault}_here`,
});

/**
 * Creates the missing streams and buckets of the vault, over an open connection. `replicas`: of streams that are created. Rejects with the
 * client's errors.
 */
export async function openVaultStreams(nc: NatsConnection, { vault }: Pick<VaultSeal, 'vault'>, replicas?: number): Promise<VaultStreams> {
  extendRequestTimeouts(nc);
  try {
    const jsm = await jetstreamManager(nc, { timeout: CONNECT_TIMEOUT_MS });
    const stream = `PERCH_${vault}`;
    const prefix = `perch.${vault}.r.`;
    const wantedReplicas = replicas ?? (nc.info?.cluster === undefined ? 1 : DEFAULT_REPLICAS);
    const info = await getOrCreateStream(jsm, stream, prefix, wantedReplicas);
    const js = jetstream(nc, { timeout: CONNECT_TIMEOUT_MS });
    const { num_replicas: count } = info.config;
    const kvm = new Kvm(js);
    const [objects, leases, presence] = await Promise.all([
      new Objm(js).create(`${stream}_blobs`, { storage: StorageType.File, replicas: count }),
      // Reads from the leader, since a replica may be behind.
      kvm.create(`${stream}_leases`, { ttl: LEASE_TTL_MS, replicas: count, allow_direct: false }),
      // On disk although it is transient: servers (2.9) that lost their memory in a failure may never agree on it again.
      kvm.create(`${stream}_here`, { ttl: PRESENCE_TTL_MS, storage: StorageType.File, replicas: count }),
    ]);
    const maxBytes = (nc.info?.max_payload ?? 1_048_576) - 4096;
    return { nc, js, jsm, stream, prefix, info, objects, leases, here: presence, wantedReplicas, maxBytes };
  } catch (error) {
    // A single server that answers for itself and reports in its greeting that it has no JetStream.
    if (isWithoutJetStream(error) && nc.info?.cluster === undefined && !(nc.info && 'jetstream' in nc.info && nc.info.jetstream))
      throw new ClusterProblem('unfit', 'The server doesn’t have JetStream', { cause: error });
    throw error;
  }
}

async function getOrCreateStream(jsm: JetStreamManager, name: string, prefix: string, replicas: number): Promise<StreamInfo> {
  const config = {
    name,
    subjects: [`${prefix}>`],
    max_msgs_per_subject: 1,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    storage: StorageType.File,
    num_replicas: replicas,
    allow_direct: true,
  };
  const info = await jsm.streams.info(name).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === STREAM_NOT_FOUND) return jsm.streams.add(config);
    throw error;
  });
  const { max_msgs_per_subject: versions, max_age: age, max_msgs: maxMessages } = info.config;
  if (versions !== 1 || age > 0 || maxMessages > 0)
    throw new ClusterProblem(
      'unfit',
      `The stream ${name} has other settings than it needs. Set max_msgs_per_subject to 1, and remove max_age and max_msgs`,
    );
  return info;
}
