import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import { getLeaderName } from '#shared/sync/nats/scan-stream.ts';
import { isSingleReplica, type VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { abortableDelay, type Presence } from '#shared/sync/nats/presence.ts';
import { ClusterProblem } from '#shared/sync/nats/cluster-problem.ts';
import type { Journal } from '../journal/journal.ts';
import { runCleanup, OBJECT_AGES, type ObjectAges } from './clean-cluster.ts';
import { openCluster, type ResolveSecret } from './cluster-connection.ts';
import { CLUSTER_ORIGIN, RecordExchange } from './record-exchange.ts';
import type { RecordSeal } from './record-seal.ts';
import type { NatsSettings } from './sync-settings.ts';
import type { SyncState } from './sync-state.ts';

/** Interval at which the stream's identity is checked. */
const CHECK_MS = 3000;
/** Maximum time to wait for pending work at the end of a session. */
export const DRAIN_MS = 500;

export interface ClusterSessionOptions {
  nats: NatsSettings;
  /** Resolves a setting's text that refers to a secret. */
  resolve?: ResolveSecret;
  log?: (line: string) => void;
  /** Overrides for tests. */
  checkMs?: number;
  ages?: ObjectAges;
}

interface ClusterSessionDeps {
  options: ClusterSessionOptions;
  journal: Journal;
  seal: RecordSeal;
  state: SyncState;
  presence: Presence;
  /** Returns the newest schema of all writers. */
  schema(): number;
  /** Called with the schema of records in the journal. */
  sawSchema(schema: number): void;
  /** Called when a record with a newer schema arrives. */
  onschema(schema: number): Promise<void>;
  /** Called for messages not sealed with the vault's key or not for their subject. */
  onforeign(): void;
  /** Called when the vault's streams are ready. `signal` is aborted at disconnection. */
  onconnected(cluster: VaultStreams, signal: AbortSignal): void;
  onstate(state: 'catching-up' | 'shared'): void;
  /** Called after records are sent, and when sending ends. */
  onsent(): void;
}

/** One connection to the cluster, from opening to close. */
export class ClusterSession {
  readonly #deps: ClusterSessionDeps;
  #wake: () => void = () => {};
  #requestFullCheck: () => void = () => {};
  /** Number of subjects that the stream had beyond the known ones at the last full check. */
  #excess = 0;
  /** Set while the vault's streams are available. */
  connected: { cluster: VaultStreams; signal: AbortSignal } | undefined;
  /** Set once everything in the stream is in the journal. */
  caughtUp: { cluster: VaultStreams; exchange: RecordExchange } | undefined;

  constructor(deps: ClusterSessionDeps) {
    this.#deps = deps;
  }

  /** Wakes the sender: the journal may have new records. */
  kick(): void {
    this.#wake();
  }

  /** Runs until `stop` is aborted, then resolves. Rejects with any error that ends the session. */
  async run(stop: AbortSignal): Promise<void> {
    const { seal, onconnected, onstate } = this.#deps;
    const { nats, resolve = async (text) => text } = this.#deps.options;
    const end = new AbortController();
    const signal = AbortSignal.any([stop, end.signal]);
    const aborted = new Promise<undefined>((done) => signal.addEventListener('abort', () => done(undefined), { once: true }));
    const opening = openCluster(nats, seal, resolve);
    const cluster = await Promise.race([opening, aborted]);
    if (!cluster || signal.aborted) {
      void opening.then(({ nc }) => nc.close()).catch(() => {});
      return;
    }
    try {
      await this.#start(cluster);
      onstate('catching-up');
      this.connected = { cluster, signal };
      onconnected(cluster, signal);
      const parts = this.#startTasks(cluster, signal);
      try {
        await Promise.race([aborted, ...parts.map((part) => part.then(() => aborted))]);
      } finally {
        end.abort();
        this.connected = undefined;
        this.caughtUp = undefined;
        this.#deps.onsent();
        void cluster.nc.close().catch(() => {});
        // Does not wait for work on a closed connection: it no longer changes the state.
        await Promise.race([Promise.allSettled(parts), abortableDelay(DRAIN_MS, new AbortController().signal)]);
      }
    } finally {
      end.abort();
      void cluster.nc.close().catch(() => {});
    }
  }

  /** Starts the concurrent tasks, which run until the signal is aborted. The first rejection ends the session. */
  #startTasks(cluster: VaultStreams, signal: AbortSignal): Promise<unknown>[] {
    const { options, journal, seal, state, presence, schema, onschema, onforeign } = this.#deps;
    const { ages = OBJECT_AGES, log = () => {} } = options;
    const shared = { journal, cluster, seal, state, ages };
    const exchange = new RecordExchange({
      ...{ ...shared, signal, schema, onschema, onforeign },
      onresend: () => this.kick(),
      onunsure: () => void (signal.aborted || this.#markDoubtful()),
    });
    const caughtUp = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => caughtUp.resolve(), { once: true });
    const closed = cluster.nc.closed().then((error) => {
      throw error ?? new ClusterProblem('unreachable', 'The connection to the cluster was closed');
    });
    const sending = caughtUp.promise.then(async () => {
      if (signal.aborted) return;
      this.caughtUp = { cluster, exchange };
      await this.#sendAll(exchange, signal);
    });
    return [
      ...[closed, exchange.read(caughtUp.resolve), sending],
      ...[presence.run(cluster, signal), this.#checkStream(cluster, signal), runCleanup(shared, signal, log)],
      caughtUp.promise.then(() => this.#recheckStream(exchange, signal)),
    ];
  }

  /** Checks that the state belongs to this stream and journal; resets it otherwise. */
  async #start(cluster: VaultStreams): Promise<void> {
    const { info } = cluster;
    const { state, journal, options, sawSchema } = this.#deps;
    const { marks } = state;
    const createdAt = info.created;
    // The stream was recreated, restored from an older copy, or had messages removed.
    this.#sawLeader(getLeaderName(cluster));
    const isOther = marks.stream !== createdAt || info.state.last_seq < marks.read || (info.state.num_subjects ?? 0) < state.subjects;
    const replica = { origin: CLUSTER_ORIGIN, schema: 0 };
    let opened = await journal.open({ ...replica, position: isOther ? null : marks.sent });
    if (isOther || opened.wantsAll || opened.stale || marks.schema !== SCHEMA_VERSION) {
      if (marks.stream !== '')
        options.log?.('The stream or the journal was replaced or lost records. Reading and sending everything again');
      state.reset(createdAt, SCHEMA_VERSION);
      opened = await journal.open({ ...replica, position: null });
    }
    await journal.open({ origin: CLUSTER_ORIGIN, schema: opened.schema, position: opened.position });
    sawSchema(opened.schema);
    state.recordMarks([], { sent: opened.position, alone: isSingleReplica(cluster) });
  }

  async #sendAll(exchange: RecordExchange, signal: AbortSignal): Promise<void> {
    const { onsent, onstate } = this.#deps;
    signal.addEventListener('abort', () => this.kick(), { once: true });
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      while (!signal.aborted && (await exchange.send())) onsent();
      onsent();
      if (signal.aborted) return;
      onstate('shared');
      await woken;
    }
  }

  /**
   * Records the stream's leader. A new leader may number messages differently, even while all connections stay open. A restarted single
   * server may have lost its last acknowledged messages in a power cut.
   */
  #sawLeader(leader: string): void {
    const { state } = this.#deps;
    const before = state.marks.leader;
    if (leader === '' || leader === before) return;
    state.recordMarks([], { leader, ...(before !== '' && { doubtful: true }) });
    this.#requestFullCheck();
  }

  /** Compares the number of subjects: if the stream was read to its end, unknown subjects were skipped. */
  #compare(subjects: number): void {
    const { state } = this.#deps;
    const passedOver = subjects - state.subjects;
    if (passedOver <= this.#excess) return;
    this.#excess = passedOver;
    this.#markDoubtful();
  }

  /** Marks the state as doubtful and triggers a full check. */
  #markDoubtful(): void {
    this.#deps.state.recordMarks([], { doubtful: true });
    this.#requestFullCheck();
  }

  /** Repeats the full check whenever the state is doubtful. */
  async #recheckStream(exchange: RecordExchange, signal: AbortSignal): Promise<void> {
    const { state } = this.#deps;
    signal.addEventListener('abort', () => this.#requestFullCheck(), { once: true });
    while (!signal.aborted) {
      const doubted = new Promise<void>((resolve) => (this.#requestFullCheck = resolve));
      const { doubtful, leader } = state.marks;
      if (doubtful) {
        await exchange.recheck();
        if (signal.aborted || state.marks.leader !== leader) continue;
        state.recordMarks([], { doubtful: false });
      }
      await doubted;
    }
  }

  /** Checks the stream at intervals: a consumer may not notice that its stream was deleted or recreated. */
  async #checkStream(cluster: VaultStreams, signal: AbortSignal): Promise<void> {
    const { jsm, stream } = cluster;
    const { created } = cluster.info;
    for (;;) {
      await abortableDelay(this.#deps.options.checkMs ?? CHECK_MS, signal);
      if (signal.aborted) return;
      const { state } = this.#deps;
      const { subjects: known } = state;
      const { read } = state.marks;
      const info = await jsm.streams.info(stream).catch((error: unknown) => {
        throw new ClusterProblem('unreachable', 'The stream of this vault is missing or can’t be reached', { cause: error });
      });
      if (info.created !== created || (info.state.num_subjects ?? 0) < known)
        throw new ClusterProblem('failed', 'The stream was recreated, or records were removed from it');
      this.#sawLeader(getLeaderName(cluster, info));
      if (info.state.last_seq < read) {
        state.recordMarks([], { read: info.state.last_seq, doubtful: true });
        throw new ClusterProblem('failed', 'The servers of the cluster lost the end of the stream');
      }
      if (state.marks.read >= info.state.last_seq) this.#compare(info.state.num_subjects ?? 0);
    }
  }
}
