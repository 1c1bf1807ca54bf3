import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { connect, credsAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { CONNECT_TIMEOUT_MS, getInboxPrefix, openVaultStreams, type VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { ClusterProblem } from '#shared/sync/nats/cluster-problem.ts';
import type { RecordSeal } from './record-seal.ts';
import type { NatsSettings } from './sync-settings.ts';
import { describeClusterError } from './cluster-problems.ts';

export type ResolveSecret = (text: string) => Promise<string>;

/** Connects to the cluster and creates the vault's missing streams. Rejects with a `ClusterProblem`. */
export async function openCluster(settings: NatsSettings, seal: RecordSeal, resolve: ResolveSecret): Promise<VaultStreams> {
  let nc: NatsConnection | undefined;
  try {
    nc = await connectToServers(settings, resolve, getInboxPrefix(seal.vault));
    return await openVaultStreams(nc, seal, settings.replicas);
  } catch (error) {
    await nc?.close().catch(() => {});
    throw describeClusterError(error);
  }
}

async function connectToServers(
  { servers, credentials, user, password, token, tls }: NatsSettings,
  resolve: ResolveSecret,
  inboxPrefix: string,
): Promise<NatsConnection> {
  const file = async (path: string, noun: string): Promise<Uint8Array> => {
    return readFile(path).catch((error: unknown) => {
      throw new ClusterProblem('refused', `Couldn’t read the ${noun} (${path})`, { cause: error });
    });
  };
  const credentialsIn = async (path: string): Promise<Uint8Array> => {
    const bytes = await file(path, 'credentials file');
    if (!/-----BEGIN[^]*-----BEGIN/.test(Buffer.from(bytes).toString()))
      throw new ClusterProblem('refused', `The credentials file (${path}) contains no credentials`);
    return bytes;
  };
  for (const [path, what] of [
    [tls?.ca, 'CA certificate'],
    [tls?.cert, 'client certificate'],
    [tls?.key, 'key of the client certificate'],
  ] as const)
    if (path !== undefined) await file(path, what);
  // The client passes other TLS options to Node.
  const secured: ConnectionOptions & NonNullable<NodeConnectionOptions['tls']> = {
    ...(tls?.ca !== undefined && { caFile: tls.ca }),
    ...(tls?.cert !== undefined && { certFile: tls.cert, keyFile: tls.key }),
    checkServerIdentity: createHostCheck(servers),
  };
  const nc = await connect({
    servers,
    name: 'perch',
    inboxPrefix,
    timeout: CONNECT_TIMEOUT_MS,
    // The caller reconnects and checks everything again.
    reconnect: false,
    pingInterval: 10_000,
    maxPingOut: 2,
    ...(credentials !== undefined && { authenticator: credsAuthenticator(await credentialsIn(credentials)) }),
    ...(user !== undefined && { user, pass: await resolve(password ?? '') }),
    ...(token !== undefined && { token: await resolve(token) }),
    ...((tls ?? servers.some((server) => server.startsWith('tls://'))) && { tls: secured }),
  });
  ignoreSocketErrors(nc);
  return nc;
}

/**
 * Returns a certificate check that accepts any of the servers' host names. The client passes no name to TLS for a server given by its
 * address, which would require `localhost`.
 */
function createHostCheck(servers: readonly string[]): (name: string, certificate: PeerCertificate) => Error | undefined {
  const hosts = servers.map((server) => new URL(server.includes('://') ? server : `nats://${server}`).hostname.replace(/^\[(.*)\]$/, '$1'));
  return (_, certificate) => {
    const problems = hosts.map((host) => checkServerIdentity(host, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

/**
 * Handles socket errors after close: the client removes all listeners from its socket, which may still emit an error (a write after the
 * server has closed), and an unhandled error would end the bridge. The socket is not a public property of the client; without it this does
 * nothing.
 */
function ignoreSocketErrors(nc: NatsConnection): void {
  const { socket } = (nc as unknown as { protocol?: { transport?: { socket?: Socket } } }).protocol?.transport ?? {};
  if (!socket) return;
  const removeAll = socket.removeAllListeners.bind(socket);
  socket.removeAllListeners = (event) => removeAll(event).on('error', () => {});
}
