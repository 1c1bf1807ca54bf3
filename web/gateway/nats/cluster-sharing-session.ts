import { addJitter, Backoff } from '#shared/async/backoff.ts';
import { getLeaderName } from '#shared/sync/nats/scan-stream.ts';
import { openVaultStreams, type VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { abortableDelay, Presence } from '#shared/sync/nats/presence.ts';
import { ClusterProblem, toClusterProblem } from '#shared/sync/nats/cluster-problem.ts';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import type { SealingKey } from '../storage/secret-sealing.ts';
import type { JournalConnection } from '../sync/journal-connection.ts';
import { connectToCluster } from './connect-to-cluster.ts';
import { StreamJournal, RECORDS_REMOVED_MESSAGE } from './stream-journal.ts';
import type { StreamReplica } from './stream-records.ts';
import { type SharingKeys, WebSeal } from './web-seal.ts';

const RETRY_RANGE_MS = { first: 500, most: 15_000 };
/** Interval of checks that the stream is still the same. */
const CHECK_INTERVAL_MS = 10_000;
/** Duration after which a connection counts as stable: the next attempt is made at once. */
const STABLE_AFTER_MS = 5000;
const STREAM_NOT_FOUND = 10059;

/** Settings that a browser needs to share its vault without a bridge. */
export interface SharingSettings {
  way: BrowserTransport;
  keys: SharingKeys;
  vaultKey: SealingKey;
}

interface SharingSessionOptions extends SharingSettings {
  replica: StreamReplica;
  /** Schema version of this build's records. */
  schema: number;
  /** Called when a connection to the vault's stream is open. */
  onConnected(line: JournalConnection): void;
  /** Reports the state; the problem is a message for people. */
  onstate(state: 'connecting' | 'attached', problem: string | null): void;
  /** For tests. */
  retryMs?: { first: number; most: number };
  lookMs?: number;
  agreedMs?: number;
}

/**
 * Maintains a connection to the vault's stream for a browser without a bridge (docs/decisions/0067): connects, announces this host, checks
 * that the stream is still the same, and reconnects with a delay whenever something ends.
 */
export class SharingSession {
  readonly #options: SharingSessionOptions;
  readonly #closed = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: SharingSessionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Disconnects without reconnecting. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { onstate, retryMs: { first: minRetryMs, most: maxRetryMs } = RETRY_RANGE_MS, keys } = this.#options;
    const { signal } = this.#closed;
    const seal = await WebSeal.create(keys);
    const backoff = new Backoff(minRetryMs, maxRetryMs);
    onstate('connecting', null);
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        await this.#runSession(seal);
      } catch (error) {
        if (!signal.aborted) {
          onstate('connecting', toClusterProblem(error, { who: 'browser' }).message);
          await this.#markDoubtful();
        }
      }
      if (performance.now() - startedAt > STABLE_AFTER_MS) backoff.reset();
      await abortableDelay(addJitter(backoff.next()), signal);
    }
  }

  /** One connection, from start to end; always ends with an error, or because it is no longer needed. */
  async #runSession(seal: WebSeal): Promise<void> {
    const { way, replica, schema, vaultKey, onConnected, onstate, agreedMs } = this.#options;
    const end = new AbortController();
    const signal = AbortSignal.any([this.#closed.signal, end.signal]);
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const connecting = connectToCluster(seal.vault, way);
    const nc = await Promise.race([connecting, stopped]);
    if (!nc) return void connecting.then((connection) => connection.close()).catch(() => {});
    let journal: StreamJournal | undefined;
    try {
      const places = await Promise.race([openVaultStreams(nc, seal), stopped]);
      if (!places) return;
      const presence = new Presence(seal, () => [replica.origin]);
      const broken = Promise.withResolvers<never>();
      journal = new StreamJournal({
        ...{ places, seal, replica, presence, vaultKey, schema, agreedMs },
        onend: broken.reject,
        onUncertain: () => void (signal.aborted || this.#markDoubtful()),
      });
      onstate('attached', null);
      onConnected(journal.connection);
      const closed = nc.closed().then((error) => {
        throw error ?? new ClusterProblem('unreachable', 'The connection to the cluster was closed');
      });
      const tasks = [closed, broken.promise, presence.run(places, signal), this.#watchStream(places, journal, signal)];
      await Promise.race([stopped, ...tasks.map((part) => part.then(() => stopped))]);
    } finally {
      end.abort();
      journal?.close();
      void nc.close().catch(() => {});
    }
  }

  /** After trouble, servers may disagree about what was read. If the replica cannot store that, its writes report the problem. */
  #markDoubtful(): Promise<void> {
    return this.#options.replica.markDoubtful().catch(() => {});
  }

  /** Checks the stream, since a reader may not notice that it was deleted or recreated, or that records were removed. */
  async #watchStream(places: VaultStreams, journal: StreamJournal, signal: AbortSignal): Promise<void> {
    const {
      jsm,
      stream,
      info: { created },
    } = places;
    let leader = getLeaderName(places);
    for (;;) {
      await abortableDelay(this.#options.lookMs ?? CHECK_INTERVAL_MS, signal);
      if (signal.aborted) return;
      const { subjects } = journal;
      const info = await jsm.streams.info(stream).catch((error: unknown) => {
        const isStreamMissing = error instanceof Error && 'code' in error && error.code === STREAM_NOT_FOUND;
        throw isStreamMissing ? new ClusterProblem('failed', 'The stream of this vault was deleted', { cause: error }) : error;
      });
      if (info.created !== created) throw new ClusterProblem('failed', 'The stream was created again');
      if ((info.state.num_subjects ?? 0) < subjects) journal.markDoubtful(RECORDS_REMOVED_MESSAGE);
      // A new leader may number messages differently from the previous one, although all connections stayed open.
      const newLeader = getLeaderName(places, info);
      if (leader !== '' && newLeader !== '' && newLeader !== leader)
        throw new ClusterProblem('unreachable', 'Another server of the cluster has taken over');
      leader = newLeader || leader;
    }
  }
}
