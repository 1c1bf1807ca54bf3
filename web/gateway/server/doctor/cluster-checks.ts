import { toClause } from '#shared/clause.ts';
import type { ClusterReport, ServersReport, ClusterStream } from '#shared/ports/cluster-report.ts';
import { type HealthCheck, type DoctorDeps, reportOk, type Finding, reportProblem } from './doctor-deps.ts';

const MAX_SKEW_MS = 5000;
/** Leases last minutes: with a larger clock skew two machines may run the same job. */
const ERROR_SKEW_MS = 60_000;
/** Number of messages above which a lagging follower is not just busy. */
const MAX_LAG = 1000;
const WARNING_RATIO = 0.8;
const ERROR_RATIO = 0.95;
const formatCommand = (words: string): string => `\`perch ${words}\``;

/** Checks of the cluster over which the vault is shared; none if the vault is on one machine only. */
export function clusterChecks({ sync }: Pick<DoctorDeps, 'sync'>): HealthCheck[] {
  let pendingFacts: Promise<ClusterReport | null> | undefined;
  const getFacts = (): Promise<ClusterReport | null> => (pendingFacts ??= sync?.cluster() ?? Promise.resolve(null));
  const withObservation =
    (toFinding: (report: ServersReport, facts: ClusterReport) => Finding): HealthCheck['run'] =>
    async () => {
      const found = await getFacts();
      return found?.seen ? toFinding(found.seen, found) : null;
    };
  return [
    {
      id: 'cluster',
      title: 'Cluster connection',
      async run() {
        const found = await getFacts();
        return found && checkConnection(found);
      },
    },
    { id: 'cluster-behind', title: 'Cluster sync', run: withObservation(checkSync) },
    { id: 'cluster-replicas', title: 'Cluster replicas', run: withObservation(checkReplicas) },
    { id: 'cluster-storage', title: 'Cluster storage', run: withObservation(checkStorage) },
    { id: 'cluster-clock', title: 'Cluster clock', run: withObservation(checkClock) },
    { id: 'cluster-rights', title: 'Cluster permissions', run: withObservation(checkPermissions) },
  ];
}

const PROBLEM_HINTS: Record<NonNullable<ClusterReport['problem']>['code'], string> = {
  unreachable: `Start the servers (if all are running, restart them one by one), or set other servers with ${formatCommand('sync nats')}. To retry now, run ${formatCommand('sync status')}.`,
  refused: `Apply the permissions that ${formatCommand('sync permissions')} prints, create the streams with ${formatCommand('sync prepare')} if the user can’t, or change the credentials with ${formatCommand('sync nats')}.`,
  unfit: `Turn on JetStream for this account and restore the stream settings named above. To use fewer replicas, run ${formatCommand('sync nats --replicas')}.`,
  full: 'Raise the storage limit of the account or the servers (max_file_store, or the account’s max_file). No data is lost in the meantime.',
  failed: `Check the logs (\`logs.tail\`). To retry now, run ${formatCommand('sync status')}.`,
};

function checkConnection({ servers, state, problem, seen }: ClusterReport): Finding {
  if (problem)
    return reportProblem(
      problem.code === 'unreachable' ? 'warning' : 'error',
      `${toClause(problem.message)}. Changes are kept on this computer.`,
      PROBLEM_HINTS[problem.code],
    );
  if (state === 'connecting' || !seen) return reportProblem('info', `Connecting to ${servers.join(', ')}…`);
  return reportOk(`Connected to ${seen.server}${seen.cluster === null ? '' : ` in cluster ${seen.cluster}`}, with JetStream.`);
}

function checkSync({ behind }: ServersReport, { state, unsent }: ClusterReport): Finding {
  const waits = [
    ...(behind > 0 ? [`${behind.toLocaleString('en')} changes to receive`] : []),
    ...(unsent > 0 ? [`${unsent.toLocaleString('en')}${unsent >= 1000 ? ' or more' : ''} changes to send`] : []),
  ];
  if (waits.length === 0) return reportOk('This computer and the cluster are in sync.');
  return reportProblem('info', `${waits.join(', ')}${state === 'catching-up' ? ' (in progress)' : ''}.`);
}

function checkReplicas({ streams, wantedReplicas }: ServersReport): Finding {
  const few = streams.filter((stream) => stream.replicas < wantedReplicas);
  const leaderless = streams.filter((stream) => stream.replicas > 1 && stream.leader === null);
  // A server that holds several of the vault's streams is reported once.
  const laggingFollowers = new Map<string, { offline: boolean; lag: number }>();
  for (const { name, current, offline, lag } of streams.flatMap(({ followers }) => followers)) {
    if (!offline && current && lag <= MAX_LAG) continue;
    const before = laggingFollowers.get(name);
    laggingFollowers.set(name, { offline: offline || (before?.offline ?? false), lag: lag + (before?.lag ?? 0) });
  }
  if (leaderless.length > 0)
    return reportProblem(
      'error',
      `No leader for ${joinNames(leaderless)}: too few of its servers are online.`,
      'Start the other servers of the cluster. If all are running, restart them one by one.',
    );
  if (laggingFollowers.size > 0) {
    const laggingDescriptions = [...laggingFollowers].map(
      ([name, { offline, lag }]) => `${name} ${offline ? 'is offline' : `is behind${lag > 0 ? ` by ${lag.toLocaleString('en')}` : ''}`}`,
    );
    return reportProblem(
      'warning',
      `Some replicas are not current: ${laggingDescriptions.join(', ')}. If one more server fails, syncing may stop.`,
      'Start or restart that server, or check its disk and network.',
    );
  }
  if (few.length > 0)
    return reportProblem(
      'warning',
      `${joinNames(few)} has ${few[0]?.replicas} of ${wantedReplicas} replicas.`,
      `Ask an operator to set num_replicas of each of the vault’s streams to ${wantedReplicas}, or use fewer replicas with ${formatCommand('sync nats --replicas')}.`,
    );
  const maxReplicas = Math.max(...streams.map((stream) => stream.replicas));
  return reportOk(
    maxReplicas === 1
      ? 'Each record is stored on one server, as configured.'
      : `Each record is stored on ${maxReplicas} servers, and all are current.`,
  );
}

const joinNames = (streams: readonly ClusterStream[]): string => streams.map(({ name }) => name).join(', ');

function checkStorage({ storage: { used, limit }, streams }: ServersReport): Finding {
  const limits = [
    ...(limit === null ? [] : [{ what: 'The account', used, limit }]),
    ...streams.flatMap(({ name, bytes, maxBytes }) => (maxBytes === null ? [] : [{ what: name, used: bytes, limit: maxBytes }])),
  ].sort((a, b) => b.used / b.limit - a.used / a.limit);
  const [highest] = limits;
  const own = formatMegabytes(streams.reduce((sum, { bytes }) => sum + bytes, 0));
  if (!highest) return reportOk(`The vault uses ${own} on each of its servers. There is no limit besides disk space.`);
  const summary = `${highest.what} uses ${formatMegabytes(highest.used)} of ${formatMegabytes(highest.limit)}`;
  if (highest.used < WARNING_RATIO * highest.limit) return reportOk(`${summary}. The vault uses ${own} on each of its servers.`);
  return reportProblem(
    highest.used < ERROR_RATIO * highest.limit ? 'warning' : 'error',
    `${summary}. When it is full, changes are only kept on this computer.`,
    `Ask an operator to raise the limit. ${formatCommand('sync permissions --storage')} prints an account with a higher one.`,
  );
}

function checkClock({ skew }: ServersReport): Finding {
  if (skew < MAX_SKEW_MS) return reportOk('The clocks of this computer and the servers match.');
  return reportProblem(
    skew < ERROR_SKEW_MS ? 'warning' : 'error',
    `The clocks of this computer and the servers differ by ${Math.round(skew / 1000).toLocaleString('en')} s. Scheduled jobs depend on them.`,
    'Turn on automatic time on this computer and the servers.',
  );
}

function checkPermissions({ hearsAll, othersStreams }: ServersReport): Finding {
  const hint = `Apply what ${formatCommand('sync permissions')} prints: an account for this vault and a user with minimal permissions.`;
  if (othersStreams !== null && othersStreams > 0)
    return reportProblem('warning', `The vault’s user can read ${formatStreams(othersStreams)} of others in its account.`, hint);
  if (hearsAll) return reportProblem('info', 'The vault’s user can listen to everything in its account, which has no other streams.', hint);
  return reportOk('The vault’s user has the permissions it needs and can’t read or list data of others.');
}

const formatStreams = (streams: number): string => (streams === 1 ? 'one stream' : `${streams.toLocaleString('en')} streams`);
const formatMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MB`;
