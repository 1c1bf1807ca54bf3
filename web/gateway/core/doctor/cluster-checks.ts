import { toClause } from '#shared/clause.ts';
import type { ClusterFacts, ClusterSeen, ClusterStream } from '#shared/ports/cluster.ts';
import { type Check, type DoctorDeps, fine, type Finding, wrong } from './deps.ts';

const SKEW_MS = 5000;
/** Leases last minutes: with a larger clock skew two machines may run the same job. */
const BAD_SKEW_MS = 60_000;
/** Number of messages above which a lagging follower is not just busy. */
const LAG = 1000;
const NEARLY_FULL = 0.8;
const OUT = 0.95;
const command = (words: string): string => `\`perch ${words}\``;

/** Checks of the cluster over which the vault is shared; none if the vault is on one machine only. */
export function clusterChecks({ sync }: Pick<DoctorDeps, 'sync'>): Check[] {
  let asked: Promise<ClusterFacts | null> | undefined;
  const facts = (): Promise<ClusterFacts | null> => (asked ??= sync?.cluster() ?? Promise.resolve(null));
  const seen =
    (look: (seen: ClusterSeen, facts: ClusterFacts) => Finding): Check['look'] =>
    async () => {
      const found = await facts();
      return found?.seen ? look(found.seen, found) : null;
    };
  return [
    {
      id: 'cluster',
      title: 'Cluster connection',
      async look() {
        const found = await facts();
        return found && reached(found);
      },
    },
    { id: 'cluster-behind', title: 'Cluster sync', look: seen(behind) },
    { id: 'cluster-replicas', title: 'Cluster replicas', look: seen(replicas) },
    { id: 'cluster-storage', title: 'Cluster storage', look: seen(storage) },
    { id: 'cluster-clock', title: 'Cluster clock', look: seen(clock) },
    { id: 'cluster-rights', title: 'Cluster permissions', look: seen(rights) },
  ];
}

const HINTS: Record<NonNullable<ClusterFacts['problem']>['code'], string> = {
  unreachable: `Start the servers (if all are running, restart them one by one), or set other servers with ${command('sync nats')}. To retry now, run ${command('sync status')}.`,
  refused: `Apply the permissions that ${command('sync permissions')} prints, create the streams with ${command('sync prepare')} if the user can’t, or change the credentials with ${command('sync nats')}.`,
  unfit: `Turn on JetStream for this account and restore the stream settings named above. To use fewer replicas, run ${command('sync nats --replicas')}.`,
  full: 'Raise the storage limit of the account or the servers (max_file_store, or the account’s max_file). No data is lost in the meantime.',
  failed: `Check the logs (\`logs.tail\`). To retry now, run ${command('sync status')}.`,
};

function reached({ servers, state, problem, seen }: ClusterFacts): Finding {
  if (problem)
    return wrong(
      problem.code === 'unreachable' ? 'warning' : 'error',
      `${toClause(problem.message)}. Changes are kept on this computer.`,
      HINTS[problem.code],
    );
  if (state === 'connecting' || !seen) return wrong('info', `Connecting to ${servers.join(', ')}…`);
  return fine(`Connected to ${seen.server}${seen.cluster === null ? '' : ` in cluster ${seen.cluster}`}, with JetStream.`);
}

function behind({ behind }: ClusterSeen, { state, unsent }: ClusterFacts): Finding {
  const waits = [
    ...(behind > 0 ? [`${behind.toLocaleString('en')} changes to receive`] : []),
    ...(unsent > 0 ? [`${unsent.toLocaleString('en')}${unsent >= 1000 ? ' or more' : ''} changes to send`] : []),
  ];
  if (waits.length === 0) return fine('This computer and the cluster are in sync.');
  return wrong('info', `${waits.join(', ')}${state === 'catching-up' ? ' (in progress)' : ''}.`);
}

function replicas({ streams, wantedReplicas }: ClusterSeen): Finding {
  const few = streams.filter((stream) => stream.replicas < wantedReplicas);
  const leaderless = streams.filter((stream) => stream.replicas > 1 && stream.leader === null);
  // A server that holds several of the vault's streams is reported once.
  const late = new Map<string, { offline: boolean; lag: number }>();
  for (const { name, current, offline, lag } of streams.flatMap(({ followers }) => followers)) {
    if (!offline && current && lag <= LAG) continue;
    const before = late.get(name);
    late.set(name, { offline: offline || (before?.offline ?? false), lag: lag + (before?.lag ?? 0) });
  }
  if (leaderless.length > 0)
    return wrong(
      'error',
      `No leader for ${namesOf(leaderless)}: too few of its servers are online.`,
      'Start the other servers of the cluster. If all are running, restart them one by one.',
    );
  if (late.size > 0) {
    const said = [...late].map(
      ([name, { offline, lag }]) => `${name} ${offline ? 'is offline' : `is behind${lag > 0 ? ` by ${lag.toLocaleString('en')}` : ''}`}`,
    );
    return wrong(
      'warning',
      `Some replicas are not current: ${said.join(', ')}. If one more server fails, syncing may stop.`,
      'Start or restart that server, or check its disk and network.',
    );
  }
  if (few.length > 0)
    return wrong(
      'warning',
      `${namesOf(few)} has ${few[0]?.replicas} of ${wantedReplicas} replicas.`,
      `Ask an operator to set num_replicas of each of the vault’s streams to ${wantedReplicas}, or use fewer replicas with ${command('sync nats --replicas')}.`,
    );
  const most = Math.max(...streams.map((stream) => stream.replicas));
  return fine(
    most === 1 ? 'Each record is stored on one server, as configured.' : `Each record is stored on ${most} servers, and all are current.`,
  );
}

const namesOf = (streams: readonly ClusterStream[]): string => streams.map(({ name }) => name).join(', ');

function storage({ storage: { used, limit }, streams }: ClusterSeen): Finding {
  const limits = [
    ...(limit === null ? [] : [{ what: 'The account', used, limit }]),
    ...streams.flatMap(({ name, bytes, maxBytes }) => (maxBytes === null ? [] : [{ what: name, used: bytes, limit: maxBytes }])),
  ].sort((a, b) => b.used / b.limit - a.used / a.limit);
  const [worst] = limits;
  const own = megabytes(streams.reduce((sum, { bytes }) => sum + bytes, 0));
  if (!worst) return fine(`The vault uses ${own} on each of its servers. There is no limit besides disk space.`);
  const said = `${worst.what} uses ${megabytes(worst.used)} of ${megabytes(worst.limit)}`;
  if (worst.used < NEARLY_FULL * worst.limit) return fine(`${said}. The vault uses ${own} on each of its servers.`);
  return wrong(
    worst.used < OUT * worst.limit ? 'warning' : 'error',
    `${said}. When it is full, changes are only kept on this computer.`,
    `Ask an operator to raise the limit. ${command('sync permissions --storage')} prints an account with a higher one.`,
  );
}

function clock({ skew }: ClusterSeen): Finding {
  if (skew < SKEW_MS) return fine('The clocks of this computer and the servers match.');
  return wrong(
    skew < BAD_SKEW_MS ? 'warning' : 'error',
    `The clocks of this computer and the servers differ by ${Math.round(skew / 1000).toLocaleString('en')} s. Scheduled jobs depend on them.`,
    'Turn on automatic time on this computer and the servers.',
  );
}

function rights({ hearsAll, othersStreams }: ClusterSeen): Finding {
  const hint = `Apply what ${command('sync permissions')} prints: an account for this vault and a user with minimal permissions.`;
  if (othersStreams !== null && othersStreams > 0)
    return wrong('warning', `The vault’s user can read ${count(othersStreams)} of others in its account.`, hint);
  if (hearsAll) return wrong('info', 'The vault’s user can listen to everything in its account, which has no other streams.', hint);
  return fine('The vault’s user has the permissions it needs and can’t read or list data of others.');
}

const count = (streams: number): string => (streams === 1 ? 'one stream' : `${streams.toLocaleString('en')} streams`);
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MB`;
