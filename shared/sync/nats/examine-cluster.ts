import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { ServersReport, ClusterStream } from '../../ports/cluster-report.ts';
import { type VaultStreams, getStreamNames } from './vault-streams.ts';
import type { VaultSeal } from './vault-seal.ts';

/**
 * Reports the state of a vault's streams, and the permissions of its user. Rejects if the servers do not respond. `read`: position of the
 * caller.
 */
export async function examineCluster(
  cluster: Pick<VaultStreams, 'nc' | 'jsm' | 'here' | 'wantedReplicas'>,
  seal: VaultSeal,
  read: number,
): Promise<ServersReport> {
  const { nc, jsm, wantedReplicas } = cluster;
  const names = getStreamNames(seal.vault);
  const all = Object.values(names);
  const [infos, account, skew, hearsAll, othersStreams] = await Promise.all([
    Promise.all(all.map((name) => jsm.streams.info(name))),
    jsm.getAccountInfo(),
    measureClockSkew(cluster, seal, names.here),
    canSubscribeToAll(nc),
    countForeignStreams(cluster, all),
  ]);
  const limit = account.limits.max_storage;
  return {
    server: nc.info?.server_name ?? nc.getServer(),
    cluster: nc.info?.cluster ?? null,
    streams: infos.map(toClusterStream),
    wantedReplicas,
    behind: Math.max(0, (infos[0]?.state.last_seq ?? 0) - read),
    storage: { used: account.storage, limit: limit >= 0 ? limit : null },
    skew,
    hearsAll,
    othersStreams,
  };
}

function toClusterStream({ config, state, cluster }: StreamInfo): ClusterStream {
  return {
    name: config.name,
    replicas: config.num_replicas,
    bytes: state.bytes,
    maxBytes: config.max_bytes > 0 ? config.max_bytes : null,
    messages: state.messages,
    leader: cluster?.leader || null,
    followers: (cluster?.replicas ?? []).map(({ name, current, offline, lag }) => ({
      name,
      current,
      offline: offline ?? false,
      lag: lag ?? 0,
    })),
  };
}

/** Measures the clock skew by the timestamp that a server gives a message. */
async function measureClockSkew({ jsm, here }: Pick<VaultStreams, 'jsm' | 'here'>, seal: VaultSeal, stream: string): Promise<number> {
  const before = Date.now();
  // Not a bridge's key, so it has no meaning to listeners.
  const seq = await here.put(await seal.name('clock'), '');
  const after = Date.now();
  const message = await jsm.streams.getMessage(stream, { seq });
  if (!message) return 0;
  const at = message.time.getTime();
  return Math.max(0, before - at, at - after);
}

async function canSubscribeToAll(nc: NatsConnection): Promise<boolean> {
  let isRefused = false;
  const subscription = nc.subscribe('>', {
    callback: (error) => {
      if (error) isRefused = true;
    },
  });
  await nc.flush();
  subscription.unsubscribe();
  return !isRefused;
}

async function countForeignStreams({ jsm }: Pick<VaultStreams, 'jsm'>, ownNames: readonly string[]): Promise<number | null> {
  try {
    let count = 0;
    for await (const name of jsm.streams.names()) if (!ownNames.includes(name)) count++;
    return count;
  } catch {
    return null;
  }
}
