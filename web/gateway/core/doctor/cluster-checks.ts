import type { ClusterFacts, ClusterSeen, ClusterStream } from '#shared/ports/cluster.ts';
import { type Check, type DoctorDeps, fine, type Finding, wrong } from './deps.ts';

const SKEW_MS = 5000;
/** Leases are measured in minutes: a clock that is off by more gives a job to two. */
const BAD_SKEW_MS = 60_000;
/** A follower that is so far behind is not just busy. */
const LAG = 1000;
const NEARLY_FULL = 0.8;
const OUT = 0.95;
const command = (words: string): string => `\`npm run -s perch -- ${words}\``;

/** The cluster that the vault's machines share it over; nothing where it is on one alone. */
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
      title: 'The cluster',
      async look() {
        const found = await facts();
        return found && reached(found);
      },
    },
    { id: 'cluster-behind', title: 'What the machines know of each other', look: seen(behind) },
    { id: 'cluster-replicas', title: 'The cluster’s copies', look: seen(replicas) },
    { id: 'cluster-storage', title: 'Room in the cluster', look: seen(storage) },
    { id: 'cluster-clock', title: 'The cluster’s clock', look: seen(clock) },
    { id: 'cluster-rights', title: 'Rights in the cluster', look: seen(rights) },
  ];
}

const HINTS: Record<NonNullable<ClusterFacts['problem']>['code'], string> = {
  unreachable: `Start the servers (anew, one after the other, where all of them run), or name others with ${command('sync nats')}; ${command('sync status')} tries it at once.`,
  refused: `Give the servers what ${command('sync permissions')} prints, make the streams with ${command('sync prepare')} where the user may not, or get in another way with ${command('sync nats')}.`,
  unfit: `Switch JetStream on for this account, and give the stream back what the message names; ${command('sync nats --replicas')} asks for fewer copies.`,
  full: 'Give the account or the servers more room (max_file_store, or the account’s max_file); nothing is lost meanwhile.',
  failed: `Look into the log by \`logs.tail\`; ${command('sync status')} tries it at once.`,
};

function reached({ servers, state, problem, seen }: ClusterFacts): Finding {
  if (problem)
    return wrong(
      problem.code === 'unreachable' ? 'warning' : 'error',
      `${problem.message}. What changes is kept on this machine.`,
      HINTS[problem.code],
    );
  if (state === 'connecting' || !seen) return wrong('info', `${servers.join(', ')}: the connection is being made.`);
  return fine(`${seen.server}${seen.cluster === null ? '' : ` of the cluster ${seen.cluster}`} answers, with JetStream.`);
}

function behind({ behind }: ClusterSeen, { state, unsent }: ClusterFacts): Finding {
  const waits = [
    ...(behind > 0 ? [`${behind.toLocaleString('en')} changes of others are still to be read`] : []),
    ...(unsent > 0 ? [`${unsent.toLocaleString('en')}${unsent >= 1000 ? ' or more' : ''} of this machine still to be sent`] : []),
  ];
  if (waits.length === 0) return fine('All that is here is there, and all that is there is here.');
  return wrong('info', `${waits.join(', ')}${state === 'catching-up' ? '; it is under way' : ''}.`);
}

function replicas({ streams, wantedReplicas }: ClusterSeen): Finding {
  const few = streams.filter((stream) => stream.replicas < wantedReplicas);
  const leaderless = streams.filter((stream) => stream.replicas > 1 && stream.leader === null);
  // Of a server that has several of the vault's streams it is said once.
  const late = new Map<string, { offline: boolean; lag: number }>();
  for (const { name, current, offline, lag } of streams.flatMap(({ followers }) => followers)) {
    if (!offline && current && lag <= LAG) continue;
    const before = late.get(name);
    late.set(name, { offline: offline || (before?.offline ?? false), lag: lag + (before?.lag ?? 0) });
  }
  if (leaderless.length > 0)
    return wrong(
      'error',
      `No server leads ${namesOf(leaderless)}: too few of those that have it are there.`,
      'Start the cluster’s other servers; where all of them run, restart them one after the other.',
    );
  if (late.size > 0) {
    const said = [...late].map(
      ([name, { offline, lag }]) => `${name} ${offline ? 'is offline' : `is behind${lag > 0 ? ` by ${lag.toLocaleString('en')}` : ''}`}`,
    );
    return wrong(
      'warning',
      `Not all copies are current: ${said.join(', ')}. While that is so, losing one more server may stop sharing.`,
      'Start that server, anew where it runs already; or look at its disk and its network.',
    );
  }
  if (few.length > 0)
    return wrong(
      'warning',
      `${namesOf(few)} lies on ${few[0]?.replicas} of the ${wantedReplicas} servers that it is to lie on.`,
      `Have an operator set num_replicas of each of the vault’s streams to ${wantedReplicas}, or ask for fewer with ${command('sync nats --replicas')}.`,
    );
  const most = Math.max(...streams.map((stream) => stream.replicas));
  return fine(most === 1 ? 'Each record lies on one server, as it is set.' : `Each record lies on ${most} servers, and all are current.`);
}

const namesOf = (streams: readonly ClusterStream[]): string => streams.map(({ name }) => name).join(', ');

function storage({ storage: { used, limit }, streams }: ClusterSeen): Finding {
  const limits = [
    ...(limit === null ? [] : [{ what: 'The account', used, limit }]),
    ...streams.flatMap(({ name, bytes, maxBytes }) => (maxBytes === null ? [] : [{ what: name, used: bytes, limit: maxBytes }])),
  ].sort((a, b) => b.used / b.limit - a.used / a.limit);
  const [worst] = limits;
  const own = megabytes(streams.reduce((sum, { bytes }) => sum + bytes, 0));
  if (!worst) return fine(`The vault has ${own} on each server that keeps it; nothing limits that but their disks.`);
  const said = `${worst.what} stores ${megabytes(worst.used)} of the ${megabytes(worst.limit)} that it may`;
  if (worst.used < NEARLY_FULL * worst.limit) return fine(`${said}; the vault has ${own} on each server that keeps it.`);
  return wrong(
    worst.used < OUT * worst.limit ? 'warning' : 'error',
    `${said}. When it is full, changes are kept on this machine alone.`,
    `Have an operator raise the limit; ${command('sync permissions --storage')} prints an account with a larger one.`,
  );
}

function clock({ skew }: ClusterSeen): Finding {
  if (skew < SKEW_MS) return fine('This machine and the servers agree on the time.');
  return wrong(
    skew < BAD_SKEW_MS ? 'warning' : 'error',
    `This machine’s clock and the servers’ differ by ${Math.round(skew / 1000).toLocaleString('en')} s: leases of scheduled jobs go by it.`,
    'Have this machine and the servers set their clocks by the network.',
  );
}

function rights({ hearsAll, othersStreams }: ClusterSeen): Finding {
  const hint = `Give the servers what ${command('sync permissions')} prints: an account for this vault, and a user with no more than it needs.`;
  if (othersStreams !== null && othersStreams > 0)
    return wrong('warning', `The user of this vault may look at ${count(othersStreams)} of others in its account.`, hint);
  if (hearsAll) return wrong('info', 'The user of this vault may listen to everything in its account, where no other streams are.', hint);
  return fine('The user of this vault may do what it must, and cannot hear or list what is others’.');
}

const count = (streams: number): string => (streams === 1 ? 'one stream' : `${streams.toLocaleString('en')} streams`);
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MB`;
