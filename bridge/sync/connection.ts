import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { connect, credsAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
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
import { Objm, type ObjectStore } from '@nats-io/obj';
import { inboxOf } from './permissions.ts';
import type { RecordSeal } from './record-seal.ts';
import type { NatsSettings } from './settings.ts';
import { ClusterProblem, isWithoutJetStream, problemOf } from './problems.ts';

const CONNECT_MS = 5000;
/** Leases are remembered for so long after they were last taken; a bridge that says nothing for so long is gone. */
const LEASE_TTL_MS = 7 * 24 * 60 * 60 * 1000;
export const HERE_TTL_MS = 12_000;
const STREAM_NOT_FOUND = 10059;
/** So one server of a cluster can be lost, and the vault goes on. */
const REPLICAS = 3;

/** A vault's places in the cluster. */
export interface Cluster {
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
  /** Who has which lease. */
  leases: KV;
  /** Which hosts are attached to which bridge. */
  here: KV;
  /** On how many servers each record is to lie; the streams that are there may say otherwise. */
  wantedReplicas: number;
  /** The most bytes of one message. */
  maxBytes: number;
}

export type ResolveSecret = (text: string) => Promise<string>;

/** Gets in, and makes of the vault's places what is not there. Rejects with a `ClusterProblem`. */
export async function openCluster(settings: NatsSettings, seal: RecordSeal, resolve: ResolveSecret): Promise<Cluster> {
  let nc: NatsConnection | undefined;
  try {
    nc = await connectTo(settings, resolve, inboxOf(seal.vault));
    const jsm = await jetstreamManager(nc, { timeout: CONNECT_MS });
    const stream = `PERCH_${seal.vault}`;
    const prefix = `perch.${seal.vault}.r.`;
    const wantedReplicas = settings.replicas ?? (nc.info?.cluster === undefined ? 1 : REPLICAS);
    const info = await streamOf(jsm, stream, prefix, wantedReplicas);
    const js = jetstream(nc, { timeout: CONNECT_MS });
    const { num_replicas: replicas } = info.config;
    const kvm = new Kvm(js);
    const [objects, leases, here] = await Promise.all([
      new Objm(js).create(`${stream}_blobs`, { storage: StorageType.File, replicas }),
      // Asked of whoever leads: a replica may be behind.
      kvm.create(`${stream}_leases`, { ttl: LEASE_TTL_MS, replicas, allow_direct: false }),
      kvm.create(`${stream}_here`, { ttl: HERE_TTL_MS, storage: StorageType.Memory, replicas }),
    ]);
    const maxBytes = (nc.info?.max_payload ?? 1_048_576) - 4096;
    return { nc, js, jsm, stream, prefix, info, objects, leases, here, wantedReplicas, maxBytes };
  } catch (error) {
    await nc?.close().catch(() => {});
    // A single server that answers for itself, and says in its greeting that it has none.
    if (isWithoutJetStream(error) && nc?.info?.cluster === undefined && !(nc?.info && 'jetstream' in nc.info && nc.info.jetstream))
      throw new ClusterProblem('unfit', 'The server at hand has no JetStream', { cause: error });
    throw problemOf(error);
  }
}

async function connectTo(
  { servers, credentials, user, password, token, tls }: NatsSettings,
  resolve: ResolveSecret,
  inboxPrefix: string,
): Promise<NatsConnection> {
  const file = async (path: string, what: string): Promise<Uint8Array> => {
    return readFile(path).catch((error: unknown) => {
      throw new ClusterProblem('refused', `The file of ${what} (${path}) cannot be read`, { cause: error });
    });
  };
  const credentialsIn = async (path: string): Promise<Uint8Array> => {
    const bytes = await file(path, 'credentials');
    if (!/-----BEGIN[^]*-----BEGIN/.test(Buffer.from(bytes).toString()))
      throw new ClusterProblem('refused', `The file of credentials (${path}) has none in it`);
    return bytes;
  };
  for (const [path, what] of [
    [tls?.ca, 'the authority'],
    [tls?.cert, 'the certificate'],
    [tls?.key, 'the certificate’s key'],
  ] as const)
    if (path !== undefined) await file(path, what);
  // The client hands on to Node whatever else is in it.
  const secured: ConnectionOptions & NonNullable<NodeConnectionOptions['tls']> = {
    ...(tls?.ca !== undefined && { caFile: tls.ca }),
    ...(tls?.cert !== undefined && { certFile: tls.cert, keyFile: tls.key }),
    checkServerIdentity: isOneOf(servers),
  };
  const nc = await connect({
    servers,
    name: 'perch',
    inboxPrefix,
    timeout: CONNECT_MS,
    // The caller begins anew, and looks at everything again.
    reconnect: false,
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(credentials !== undefined && { authenticator: credsAuthenticator(await credentialsIn(credentials)) }),
    ...(user !== undefined && { user, pass: await resolve(password ?? '') }),
    ...(token !== undefined && { token: await resolve(token) }),
    ...((tls ?? servers.some((server) => server.startsWith('tls://'))) && { tls: secured }),
  });
  hearErrors(nc);
  return nc;
}

/**
 * Whether a certificate is for one of the servers. The client, which tells TLS no name where a server is given by its address, would have all of them be
 * `localhost`.
 */
function isOneOf(servers: readonly string[]): (name: string, certificate: PeerCertificate) => Error | undefined {
  const hosts = servers.map((server) => new URL(server.includes('://') ? server : `nats://${server}`).hostname.replace(/^\[(.*)\]$/, '$1'));
  return (_, certificate) => {
    const problems = hosts.map((host) => checkServerIdentity(host, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

/**
 * The client takes all listeners from its socket while that may still have an error to tell (what it writes after the server's end), and an error that nobody
 * hears would end the bridge. The socket is not part of the client's interface; without it nothing is changed.
 */
function hearErrors(nc: NatsConnection): void {
  const { socket } = (nc as unknown as { protocol?: { transport?: { socket?: Socket } } }).protocol?.transport ?? {};
  if (!socket) return;
  const removeAll = socket.removeAllListeners.bind(socket);
  socket.removeAllListeners = (event) => removeAll(event).on('error', () => {});
}

async function streamOf(jsm: JetStreamManager, name: string, prefix: string, replicas: number): Promise<StreamInfo> {
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
  const { max_msgs_per_subject: versions, max_age: age, max_msgs: most } = info.config;
  if (versions !== 1 || age > 0 || most > 0)
    throw new ClusterProblem(
      'unfit',
      `The stream ${name} forgets records or keeps old ones: give it back max_msgs_per_subject 1, no max_age and no max_msgs`,
    );
  return info;
}
