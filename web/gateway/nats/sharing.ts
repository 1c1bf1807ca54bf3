import { leaderOf } from '#shared/sync/nats/look-through.ts';
import { openPlaces, type Places } from '#shared/sync/nats/places.ts';
import { pause, Presence } from '#shared/sync/nats/presence.ts';
import { ClusterProblem, problemOf } from '#shared/sync/nats/problems.ts';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import type { SealingKey } from '../storage/sealing.ts';
import type { JournalLine } from '../sync/journal-line.ts';
import { connectTo } from './connect.ts';
import { StreamLine, TAKEN_OUT } from './stream-line.ts';
import type { LocalCopy } from './stream-records.ts';
import { type SharingKeys, WebSeal } from './web-seal.ts';

const RETRY_MS = { first: 500, most: 15_000 };
/** Interval of checks that the stream is still the same. */
const LOOK_MS = 10_000;
/** Duration after which a connection counts as stable: the next attempt is made at once. */
const STEADY_MS = 5000;
const STREAM_NOT_FOUND = 10059;

/** Settings that a browser needs to share its vault without a bridge. */
export interface SharingSetting {
  way: BrowserWay;
  keys: SharingKeys;
  vaultKey: SealingKey;
}

export interface SharingOptions extends SharingSetting {
  copy: LocalCopy;
  /** Schema version of this build's records. */
  schema: number;
  /** Called when a connection to the vault's stream is open. */
  online(line: JournalLine): void;
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
export class Sharing {
  readonly #options: SharingOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: SharingOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Disconnects without reconnecting. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { onstate, retryMs: { first, most } = RETRY_MS, keys } = this.#options;
    const { signal } = this.#stop;
    const seal = await WebSeal.of(keys);
    let wait = first;
    onstate('connecting', null);
    while (!signal.aborted) {
      const begun = performance.now();
      try {
        await this.#session(seal);
      } catch (error) {
        if (!signal.aborted) {
          onstate('connecting', problemOf(error, { who: 'browser' }).message);
          await this.#doubt();
        }
      }
      if (performance.now() - begun > STEADY_MS) wait = first;
      // Jitter, so that many browsers do not reconnect at the same moment.
      await pause(wait * (0.75 + Math.random() / 2), signal);
      wait = Math.min(most, wait * 2);
    }
  }

  /** One connection, from start to end; always ends with an error, or because it is no longer needed. */
  async #session(seal: WebSeal): Promise<void> {
    const { way, copy, schema, vaultKey, online, onstate, agreedMs } = this.#options;
    const end = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, end.signal]);
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const connecting = connectTo(seal.vault, way);
    const nc = await Promise.race([connecting, stopped]);
    if (!nc) return void connecting.then((late) => late.close()).catch(() => {});
    let line: StreamLine | undefined;
    try {
      const places = await Promise.race([openPlaces(nc, seal), stopped]);
      if (!places) return;
      const presence = new Presence(seal, () => [copy.origin]);
      const broken = Promise.withResolvers<never>();
      line = new StreamLine({
        ...{ places, seal, copy, presence, vaultKey, schema, agreedMs },
        onend: broken.reject,
        ontrouble: () => void (signal.aborted || this.#doubt()),
      });
      onstate('attached', null);
      online(line.line);
      const closed = nc.closed().then((error) => {
        throw error ?? new ClusterProblem('unreachable', 'The connection to the cluster was closed');
      });
      const parts = [closed, broken.promise, presence.run(places, signal), this.#look(places, line, signal)];
      await Promise.race([stopped, ...parts.map((part) => part.then(() => stopped))]);
    } finally {
      end.abort();
      line?.close();
      void nc.close().catch(() => {});
    }
  }

  /** After trouble, servers may disagree about what was read. If the replica cannot store that, its writes report the problem. */
  #doubt(): Promise<void> {
    return this.#options.copy.markDoubtful().catch(() => {});
  }

  /** Checks the stream, since a reader may not notice that it was deleted or recreated, or that records were removed. */
  async #look(places: Places, line: StreamLine, signal: AbortSignal): Promise<void> {
    const {
      jsm,
      stream,
      info: { created },
    } = places;
    let leader = leaderOf(places);
    for (;;) {
      await pause(this.#options.lookMs ?? LOOK_MS, signal);
      if (signal.aborted) return;
      const { subjects } = line;
      const info = await jsm.streams.info(stream).catch((error: unknown) => {
        const isGone = error instanceof Error && 'code' in error && error.code === STREAM_NOT_FOUND;
        throw isGone ? new ClusterProblem('failed', 'The stream of this vault was deleted', { cause: error }) : error;
      });
      if (info.created !== created) throw new ClusterProblem('failed', 'The stream was created again');
      if ((info.state.num_subjects ?? 0) < subjects) line.doubt(TAKEN_OUT);
      // A new leader may number messages differently from the previous one, although all connections stayed open.
      const now = leaderOf(places, info);
      if (leader !== '' && now !== '' && now !== leader)
        throw new ClusterProblem('unreachable', 'Another server of the cluster has taken over');
      leader = now || leader;
    }
  }
}
