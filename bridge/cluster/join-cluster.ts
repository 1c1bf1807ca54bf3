import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Bridge } from '../server/start-bridge.ts';
import type { ShutdownReason } from '../server/serve-vault.ts';
import { RecordSeal } from '../sync/record-seal.ts';
import type { SharedJournal } from '../sync/shared-journal.ts';
import { acceptBridges, dialBridge, type DialContext, isGone } from './dial-bridge.ts';
import { ClusterRoutes } from './cluster-routes.ts';
import { type ServingElectionDeps, ServingElection, type SERVING_TIMES } from './serving-election.ts';
import { ServingLease } from './serving-lease.ts';

export interface JoinClusterOptions {
  bridge: Pick<Bridge, 'hosts' | 'shared'>;
  /** The vault's synced journal, whose connection is shared. */
  journal: Pick<SharedJournal, 'whileConnected' | 'isCaughtUp'>;
  /** 256 bits, base64url. */
  vaultKey: string;
  host: ServingElectionDeps['host'];
  log(line: string): void;
  times?: typeof SERVING_TIMES;
}

/** A bridge's membership in the cluster. */
export interface ClusterMember {
  /** Name of the bridge while it runs. */
  readonly name: string;
  readonly serving: ServingElection;
  readonly routes: ClusterRoutes;
  /** Close code and reason for this bridge's clients when it stops, so that they connect to another bridge. */
  readonly shutdownReason: ShutdownReason;
  /** Hands over before the bridge stops. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

const CLUSTER_RESTARTING: ShutdownReason = { code: 1012, reason: 'gateway restarting' };

/** Id in the outgoing requests of a vault's bridges, by which each of them rejects requests that come back. */
export const toViaId = (vaultKey: string): string => new RecordSeal(vaultKey).name('via');

/** Makes a bridge one of several that serve its vault, each for any client (docs/decisions/0069). */
export function joinCluster({ bridge, journal, vaultKey, host, log, times }: JoinClusterOptions): ClusterMember {
  const { hosts, shared } = bridge;
  const name = randomBytes(12).toString('hex');
  const seal = new RecordSeal(vaultKey);
  const routes = new ClusterRoutes({ ...shared, hosts, log });
  let current: { dialling: DialContext; lease: ServingLease; nc: NatsConnection } | undefined;
  journal.whileConnected((places, signal) => {
    const dialling = { nc: places.nc, seal, vaultKey };
    const connected = { dialling, lease: new ServingLease(places, seal), nc: places.nc };
    current = connected;
    acceptBridges(dialling, name, (link) => routes.acceptLink(link));
    signal.addEventListener('abort', () => {
      if (current === connected) current = undefined;
    });
  });
  const dial = async (to: string): ReturnType<typeof dialBridge> => {
    if (!current) throw new Error('the cluster is offline');
    return dialBridge(current.dialling, to);
  };
  const serving = new ServingElection({
    ...{ bridge: name, hosts, host, log, ...(times && { times }) },
    lease: () => current?.lease ?? null,
    isCaughtUp: () => journal.isCaughtUp,
    isGone: async (other) => current !== undefined && isGone(current.dialling, other),
    dropBridge: (other) => routes.dropHost(other),
    async use(other) {
      await routes.useHost(other, dial);
      return other !== null && routes.reaches(other);
    },
    others: () => routes.listOthers,
  });
  shared.figures.push(
    {
      name: 'perch_cluster_serving',
      help: '1 while the host of this bridge serves the vault.',
      read: () => Number(serving.state?.bridge === name),
    },
    { name: 'perch_cluster_links', help: 'Connections to other bridges of the vault.', read: () => routes.counts.links },
    {
      name: 'perch_cluster_streams',
      help: 'Streams on these connections: clients and requests of one bridge served by another’s host.',
      read: () => routes.counts.streams,
    },
  );
  serving.start();
  return {
    ...{ name, serving, routes, shutdownReason: CLUSTER_RESTARTING },
    leave: () => serving.leave(),
    async close() {
      await serving.close();
      routes.close();
      await host?.stop();
    },
  };
}
