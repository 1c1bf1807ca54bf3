import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { addJitter, Backoff } from '#shared/async/backoff.ts';
import type { ClusterReport } from '#shared/ports/cluster-report.ts';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import type { LeaseRequest } from '#shared/sync/lease-request.ts';
import { releaseSharedLease, acquireSharedLease } from '#shared/sync/nats/shared-leases.ts';
import type { VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { abortableDelay, Presence } from '#shared/sync/nats/presence.ts';
import type { ClusterProblem } from '#shared/sync/nats/cluster-problem.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Journal, JournalEvents, OpenedJournal, ReplicaRequest } from '../journal/journal.ts';
import { ClusterSession, DRAIN_MS, type ClusterSessionOptions } from './cluster-session.ts';
import { ConditionWaiter } from './confirmations.ts';
import { CLUSTER_ORIGIN, type RecordExchange } from './record-exchange.ts';
import { examineCluster } from '#shared/sync/nats/examine-cluster.ts';
import { describeClusterError } from './cluster-problems.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './sync-state.ts';

/** File in the home directory with this bridge's progress in the stream. */
const STATE_FILE = 'sync-state.sqlite';

/** Maximum time that a lease waits for earlier writes to reach the others, which normally takes milliseconds. */
const MAX_SETTLE_MS = 5000;
const RETRY_MS = { first: 250, max: 15_000 };
/** After a connection that lasted longer than this, the next attempt is immediate. */
const STEADY_MS = 5000;
const MAX_COUNTED = 1000;

export interface SharedJournalOptions extends ClusterSessionOptions {
  /** The local journal that this bridge's hosts read and write. Closed with this one. */
  journal: Journal;
  dir: string;
  /** 256 bits, base64url. */
  vaultKey: string;
  /**
   * How long a write waits for the cluster's acknowledgement, in milliseconds. 0: does not wait. It never waits while the cluster is
   * unreachable.
   */
  confirmMs?: number;
  /** Overrides for tests. */
  retryMs?: { first: number; max: number };
}

/** State of the connection to the cluster. */
interface ClusterState {
  state: 'connecting' | 'catching-up' | 'shared' | 'apart';
  problem: ClusterProblem | null;
}

/**
 * The bridge's journal, synced with a JetStream stream in the background, sealed (docs/decisions/0063). An acknowledged write is on this
 * bridge's disk; `info` tells whether the cluster has it too. Only leases are granted by the cluster.
 */
export class SharedJournal extends EventEmitter<JournalEvents> implements Journal {
  readonly #options: SharedJournalOptions;
  readonly #journal: Journal;
  readonly #seal: RecordSeal;
  readonly #state: SyncState;
  readonly #presence: Presence;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #closed: Promise<void> | undefined;
  #hosts: () => readonly string[] = () => [];
  #session: ClusterSession | undefined;
  #foreignCount = 0;
  /** Schema that each host writes, and the newest one written. */
  readonly #schemas = new Map<string, number>();
  #schema = 0;
  #disconnectedSince: number | null = null;
  readonly #tasks = new Set<(cluster: VaultStreams, signal: AbortSignal) => void>();
  readonly #sending = new ConditionWaiter();
  cluster: ClusterState = { state: 'connecting', problem: null };

  constructor(options: SharedJournalOptions) {
    super();
    this.setMaxListeners(0);
    this.#options = options;
    this.#journal = options.journal;
    this.#seal = new RecordSeal(options.vaultKey);
    this.#state = new SyncState(join(options.dir, STATE_FILE));
    this.#presence = new Presence(this.#seal, () => this.#hosts());
    this.#journal.on('changed', this.#changed);
    this.#journal.on('replaced', this.#replaced);
    this.#running = this.#run();
  }

  get path(): string {
    return this.#journal.path;
  }

  get head(): number {
    return this.#journal.head;
  }

  /** Sets the function that returns the hosts attached to this bridge, which is announced to the others. */
  tellHosts(hosts: () => readonly string[]): void {
    this.#hosts = hosts;
  }

  /** Calls `work` for every connection to the cluster, including the current one. `signal` is aborted at disconnection. */
  whileConnected(work: (cluster: VaultStreams, signal: AbortSignal) => void): void {
    this.#tasks.add(work);
    const connected = this.#session?.connected;
    if (connected) work(connected.cluster, connected.signal);
  }

  /** Whether everything in the cluster is in the local journal. */
  get isCaughtUp(): boolean {
    return this.#cluster !== undefined;
  }

  /** The connection, once caught up. */
  get #cluster(): VaultStreams | undefined {
    return this.#session?.caughtUp?.cluster;
  }

  get #exchange(): RecordExchange | undefined {
    return this.#session?.caughtUp?.exchange;
  }

  async open(replica: ReplicaRequest): Promise<OpenedJournal> {
    const opened = await this.#journal.open(replica);
    this.#schemas.set(replica.origin, replica.schema);
    this.#schema = Math.max(this.#schema, opened.schema);
    return opened;
  }

  pull(after: number, limit: number, except?: string): ReturnType<Journal['pull']> {
    return this.#journal.pull(after, limit, except);
  }

  snapshot(): AsyncIterableIterator<SequencedRecord> {
    return this.#journal.snapshot();
  }

  async push(records: readonly SyncRecord[], pusher: string): ReturnType<Journal['push']> {
    // Update the schema before storing: the records may be sent immediately.
    if (records.length > 0) this.#schema = Math.max(this.#schema, this.#schemas.get(pusher) ?? 0);
    const pushed = await this.#journal.push(records, pusher);
    const { confirmMs = 0 } = this.#options;
    if (confirmMs > 0 && pushed.last > pushed.before) await this.#sentUpTo(pushed.last, confirmMs);
    return pushed;
  }

  /** Waits until the cluster has everything up to `seq`, is unreachable, or `ms` milliseconds have passed. Resolves to whether it has. */
  async #sentUpTo(seq: number, ms: number): Promise<boolean> {
    const isSent = (): boolean => (this.#state.marks.sent?.seq ?? 0) >= seq;
    await this.#sending.wait(() => !this.#exchange || isSent(), ms);
    return isSent();
  }

  putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    return this.#journal.putBlob(hash, bytes);
  }

  /** Attachments missing here may be in the cluster. */
  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    const bytes = (await this.#journal.getBlob(hash)) ?? (await this.#exchange?.blob(hash).catch(() => undefined));
    return bytes;
  }

  /** Rejects while the cluster is away: other bridges' leases are unknown, and no run is better than two. */
  async takeLease({ settled = false, ...lease }: LeaseRequest): Promise<number | null> {
    if (settled && !(await this.#sentUpTo(this.#journal.head, MAX_SETTLE_MS))) return null;
    const others = this.#presence.others();
    const present = lease.present && others && [...lease.present, ...others];
    const cluster = this.#cluster;
    if (!cluster) return null;
    try {
      return await acquireSharedLease(cluster, this.#seal, { ...lease, present }, (request) => this.#journal.takeLease(request));
    } catch {
      return null;
    }
  }

  async releaseLease(name: string, holder: string, fence: number): Promise<void> {
    await this.#journal.releaseLease(name, holder, fence);
    // If the release fails, the lease expires.
    if (this.#cluster) await releaseSharedLease(this.#cluster, this.#seal, { name, holder, fence }).catch(() => {});
  }

  async info(): Promise<JournalInfo> {
    const info = await this.#journal.info();
    const notices = [...info.notices];
    if (this.#foreignCount > 0)
      notices.push({
        at: Date.now(),
        message: 'Data in the cluster was not encrypted by this vault or was changed. It was ignored and sent again from here.',
      });
    // The problem may be over by the time this is counted.
    const { problem } = this.cluster;
    if (problem) {
      const waiting = await this.#describeUnsent();
      notices.push({
        at: this.#disconnectedSince ?? Date.now(),
        message: `${problem.message.replace(/\.$/, '')}. ${waiting} not synced with other computers yet. Everything is saved on this computer.`,
      });
    }
    return { ...info, notices };
  }

  /** Examines the cluster for `perch doctor`. Facts that the servers do not report in time are left out. */
  async examine(): Promise<ClusterReport> {
    const { servers } = this.#options.nats;
    const cluster = this.#cluster;
    const report = cluster && (await examineCluster(cluster, this.#seal, this.#state.marks.read).catch(() => undefined));
    const { state, problem } = this.cluster;
    const { count } = await this.#countUnsent();
    return { servers, state, problem: problem && { code: problem.code, message: problem.message }, unsent: count, seen: report ?? null };
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#leave());
  }

  /** Announces that the hosts have left, so that others need not wait for a timeout. */
  async #leave(): Promise<void> {
    const { signal } = new AbortController();
    if (this.#cluster) await Promise.race([this.#presence.leave(this.#cluster).catch(() => {}), abortableDelay(DRAIN_MS, signal)]);
    this.#stop.abort();
    await this.#running;
    await this.#journal.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Counts the changes that are not in the stream yet, up to a limit. */
  async #countUnsent(): Promise<{ count: number; isMore: boolean }> {
    const sent = this.#state.marks.sent?.seq ?? 0;
    const { records, head, next } = await this.#journal.pull(sent, MAX_COUNTED);
    return { count: records.length, isMore: next < head };
  }

  async #describeUnsent(): Promise<string> {
    const { count, isMore } = await this.#countUnsent();
    if (isMore) return `More than ${count.toLocaleString('en')} changes are`;
    return count === 1 ? 'One change is' : `${count.toLocaleString('en')} changes are`;
  }

  readonly #changed = (head: number): void => {
    this.emit('changed', head);
    this.#session?.kick();
  };

  /** The journal was replaced: check everything known about the stream again. */
  readonly #replaced = (reason: string): void => {
    this.emit('replaced', reason);
    void this.#cluster?.nc.close();
  };

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { first, max } = this.#options.retryMs ?? RETRY_MS;
    const backoff = new Backoff(first, max);
    try {
      while (!signal.aborted) {
        const begun = performance.now();
        try {
          await this.#connect().run(signal);
        } catch (error) {
          if (!signal.aborted) {
            this.#setState('apart', describeClusterError(error));
            const { doubtful, alone } = this.#state.marks;
            if (!doubtful && !alone) this.#state.recordMarks([], { doubtful: true });
          }
        }
        if (performance.now() - begun > STEADY_MS) backoff.reset();
        await abortableDelay(addJitter(backoff.next()), signal);
      }
    } finally {
      this.#journal.off('changed', this.#changed);
      this.#journal.off('replaced', this.#replaced);
      this.#state.close();
    }
  }

  #connect(): ClusterSession {
    this.#session = new ClusterSession({
      ...{ options: this.#options, journal: this.#journal, seal: this.#seal, state: this.#state, presence: this.#presence },
      schema: () => this.#schema,
      sawSchema: (schema) => (this.#schema = Math.max(this.#schema, schema)),
      onschema: async (newer) => {
        this.#schema = newer;
        await this.#journal.open({ origin: CLUSTER_ORIGIN, schema: newer, position: this.#state.marks.sent });
        this.emit('replaced', 'Another computer has a newer version of Perch');
      },
      onforeign: () => void this.#foreignCount++,
      onconnected: (cluster, signal) => {
        for (const work of this.#tasks) work(cluster, signal);
      },
      onstate: (state) => this.#setState(state, null),
      onsent: () => this.#sending.look(),
    });
    return this.#session;
  }

  #setState(state: ClusterState['state'], problem: ClusterProblem | null): void {
    const before = this.cluster;
    this.cluster = { state, problem };
    this.#disconnectedSince = problem ? (this.#disconnectedSince ?? Date.now()) : null;
    if (problem && problem.message !== before.problem?.message) this.#options.log?.(`${problem.code}: ${problem.message}`);
    if (!problem && state === 'shared' && before.state !== 'shared') this.#options.log?.('The vault is synced with the cluster');
  }
}
