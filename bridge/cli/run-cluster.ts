import { resolve } from 'node:path';
import { z } from '#shared/rpc/zod.ts';
import type { ClusterMember, JoinClusterOptions } from '../cluster/join-cluster.ts';
import type { ManagedChromiumOptions } from '../headless/managed-chromium.ts';
import type { BrowserSemaphore } from '../headless/browser-semaphore.ts';
import { toCommandLine } from '../command-line.ts';
import { type NatsSettings, natsSettingsSchema } from '../sync/sync-settings.ts';
import { CommandError } from './command-error.ts';

export interface ClusterRunOptions {
  /** True: use the servers in `sync.json`. */
  cluster?: string | true;
  clusterCredentials?: string;
  clusterUser?: string;
  clusterCa?: string;
  clusterCert?: string;
  clusterKey?: string;
}

/** Maximum time that a write waits for the cluster's acknowledgement, which normally takes milliseconds. */
export const CONFIRM_MS = 2000;

/**
 * Returns the cluster's settings: from the command line, with a password or token from the environment, else those saved by `perch sync
 * nats`. Throws if there are none or they are invalid.
 */
export function getClusterSettings(
  options: ClusterRunOptions,
  storedSettings: NatsSettings | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): NatsSettings {
  const { cluster, clusterCredentials, clusterUser, clusterCa, clusterCert, clusterKey } = options;
  if (typeof cluster !== 'string') {
    if (storedSettings) return storedSettings;
    throw new CommandError(
      `--cluster requires servers (nats://host:port). Pass them here, or set them with \`${toCommandLine('sync nats')}\`.`,
      2,
    );
  }
  const absolute = (path: string | undefined): string | undefined => path && resolve(path);
  const tls = { ca: absolute(clusterCa), cert: absolute(clusterCert), key: absolute(clusterKey) };
  const { data, error } = natsSettingsSchema.safeParse({
    servers: cluster.split(',').map((server) => server.trim()),
    credentials: absolute(clusterCredentials),
    user: clusterUser,
    password: clusterUser === undefined ? undefined : environment['PERCH_CLUSTER_PASSWORD'],
    token: environment['PERCH_CLUSTER_TOKEN'],
    tls: Object.values(tls).some((path) => path !== undefined) ? tls : undefined,
  });
  if (data) return data;
  const reason = z.prettifyError(error).replaceAll(/\s*[✖→]\s*/g, ' ');
  throw new CommandError(`--cluster: ${reason.trim()}`, 2);
}

/**
 * Adds the bridge to the vault's cluster, where it starts a managed Chromium when it is to serve. `managed`: null if only tabs may host.
 * `reservesPlace`: reserves a browser place until another bridge serves this vault.
 */
export async function joinServingCluster(
  options: Omit<JoinClusterOptions, 'host'> & { managed: ManagedChromiumOptions | null; room: BrowserSemaphore; reservesPlace: boolean },
): Promise<ClusterMember> {
  const { managed, room, reservesPlace, ...rest } = options;
  const [{ joinCluster }, { ManagedHost }] = await Promise.all([
    import('../cluster/join-cluster.ts'),
    import('../cluster/managed-host.ts'),
  ]);
  return joinCluster({ ...rest, host: managed && new ManagedHost(options.bridge.hosts, managed, { room, reservesPlace }) });
}
