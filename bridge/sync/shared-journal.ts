import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { ClusterFacts } from '#shared/ports/cluster.ts';
import type { JournalInfo, SequencedRecord } from '#shared/ports/journal.ts';
import type { LeaseWanted } from '#shared/sync/lease.ts';
import { releaseShared, takeShared } from '#shared/sync/nats/leases.ts';
import type { Places } from '#shared/sync/nats/places.ts';
import { pause, Presence } from '#shared/sync/nats/presence.ts';
import { ClusterProblem } from '#shared/sync/nats/problems.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Journal, JournalEvents, Opened, Replica } from '../journal/journal.ts';
import { keepClean, OBJECT_AGES, type ObjectAges } from './clean.ts';
import { openCluster, type ResolveSecret } from './connection.ts';
import { CLUSTER_ORIGIN, Exchange } from './exchange.ts';
import { examineCluster } from '#shared/sync/nats/examine.ts';
import { problemOf } from './problems.ts';
import { RecordSeal } from './record-seal.ts';
import type { NatsSettings } from './settings.ts';
import { SyncState } from './state.ts';

/** In the home directory: how far this bridge has come with the stream. */
export const STATE_FILE = 'sync-state.sqlite';

const RETRY_MS = { first: 250, most: 15_000 };
/** How often it is looked whether the stream is still the same. */
const LOOK_MS = 3000;
const PARTING_MS = 500;
const COUNTED = 1000;

export interface SharedJournalOptions {
  /** The embedded journal, which stays what this bridge's hosts read and write. It is closed with this one. */
  journal: Journal;
  dir: string;
  /** 256 bit, base64url. */
  vaultKey: string;
  nats: NatsSettings;
  /** The text of a setting, where that refers to a secret. */
  resolve?: ResolveSecret;
  log?: (line: string) => void;
  /** A write is answered once the cluster has it too, or after so many milliseconds, or at once where the cluster is away; 0: it is not waited for. */
  confirmMs?: number;
  /** For tests. */
  retryMs?: { first: number; most: number };
  lookMs?: number;
  ages?: ObjectAges;
}

/** How a bridge stands with the cluster. */
export interface ClusterState {
  state: 'connecting' | 'catching-up' | 'shared' | 'apart';
  problem: ClusterProblem | null;
}

/**
 * The bridge's own journal, with everything in it carried to a JetStream stream and from it, sealed, in the background (docs/decisions/0063). What is
 * acknowledged is on this bridge's disk, as ever; when it is on the cluster's is another matter, which `info` tells. Only leases are the cluster's to give.
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
  #cluster: Places | undefined;
  #exchange: Exchange | undefined;
  #kick: () => void = () => {};
  #foreign = 0;
  /** What each host has said that it writes, and the newest of what was written. */
  readonly #schemas = new Map<string, number>();
  #schema = 0;
  #apartSince: number | null = null;
  readonly #works = new Set<(cluster: Places, signal: AbortSignal) => void>();
  #connected: { cluster: Places; signal: AbortSignal } | undefined;
  readonly #unsent = new Set<() => void>();
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

  /** Who is attached to this bridge, for the other ones to know. */
  tellHosts(hosts: () => readonly string[]): void {
    this.#hosts = hosts;
  }

  /** Calls `work` with each connection to the cluster, now where there is one; `signal` ends with it. */
  whileConnected(work: (cluster: Places, signal: AbortSignal) => void): void {
    this.#works.add(work);
    if (this.#connected) work(this.#connected.cluster, this.#connected.signal);
  }

  /** Whether what the cluster had is here. */
  get isCaughtUp(): boolean {
    return this.#cluster !== undefined;
  }

  async open(replica: Replica): Promise<Opened> {
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
    // Before they are stored, for they may be on their way at once.
    if (records.length > 0) this.#schema = Math.max(this.#schema, this.#schemas.get(pusher) ?? 0);
    const pushed = await this.#journal.push(records, pusher);
    const { confirmMs = 0 } = this.#options;
    if (confirmMs > 0 && pushed.last > pushed.before) await this.#sentUpTo(pushed.last, confirmMs);
    return pushed;
  }

  /** Resolves when the cluster has all up to there, is away, or after `ms`. */
  #sentUpTo(seq: number, ms: number): Promise<void> {
    const isThere = (): boolean => !this.#exchange || (this.#state.marks.sent?.seq ?? 0) >= seq;
    if (isThere()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#unsent.delete(look);
        resolve();
      };
      const look = (): void => void (isThere() && settle());
      const timer = setTimeout(settle, ms);
      this.#unsent.add(look);
    });
  }

  #lookAtUnsent(): void {
    for (const look of [...this.#unsent]) look();
  }

  putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    return this.#journal.putBlob(hash, bytes);
  }

  /** One that is not here may be at the cluster. */
  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    const bytes = (await this.#journal.getBlob(hash)) ?? (await this.#exchange?.blob(hash).catch(() => undefined));
    return bytes;
  }

  /** Nobody can say what other bridges do while the cluster is away: better no run than two. */
  async takeLease(lease: LeaseWanted): Promise<number | null> {
    const others = this.#presence.others();
    const present = lease.present && others && [...lease.present, ...others];
    const cluster = this.#cluster;
    if (!cluster) return null;
    try {
      return await takeShared(cluster, this.#seal, { ...lease, present }, (wanted) => this.#journal.takeLease(wanted));
    } catch {
      return null;
    }
  }

  async releaseLease(name: string, holder: string, fence: number): Promise<void> {
    await this.#journal.releaseLease(name, holder, fence);
    // Where that cannot be said it ends by its time.
    if (this.#cluster) await releaseShared(this.#cluster, this.#seal, { name, holder, fence }).catch(() => {});
  }

  async info(): Promise<JournalInfo> {
    const info = await this.#journal.info();
    const notices = [...info.notices];
    if (this.#foreign > 0)
      notices.push({
        at: Date.now(),
        message: 'Something in the cluster was not sealed by this vault, or was changed there: it was left out, and sent anew from here.',
      });
    // It may be over by the time that is counted.
    const { problem } = this.cluster;
    if (problem) {
      const waiting = await this.#waiting();
      notices.push({
        at: this.#apartSince ?? Date.now(),
        message: `${problem.message}. ${waiting} not shared with the other machines yet; everything is on this machine’s disk.`,
      });
    }
    return { ...info, notices };
  }

  /** How it stands with the cluster, for the doctor. What the servers do not say in time is left out. */
  async examine(): Promise<ClusterFacts> {
    const { servers } = this.#options.nats;
    const cluster = this.#cluster;
    const seen = cluster && (await examineCluster(cluster, this.#seal, this.#state.marks.read).catch(() => undefined));
    const { state, problem } = this.cluster;
    const { count } = await this.#countUnsent();
    return { servers, state, problem: problem && { code: problem.code, message: problem.message }, unsent: count, seen: seen ?? null };
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#leave());
  }

  /** The hosts are gone by now, and the others need not wait until that shows. */
  async #leave(): Promise<void> {
    const { signal } = new AbortController();
    if (this.#cluster) await Promise.race([this.#presence.leave(this.#cluster).catch(() => {}), pause(PARTING_MS, signal)]);
    this.#stop.abort();
    await this.#running;
    await this.#journal.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Changes that are not in the stream yet, as many as are counted. */
  async #countUnsent(): Promise<{ count: number; isMore: boolean }> {
    const sent = this.#state.marks.sent?.seq ?? 0;
    const { records, head, next } = await this.#journal.pull(sent, COUNTED);
    return { count: records.length, isMore: next < head };
  }

  async #waiting(): Promise<string> {
    const { count, isMore } = await this.#countUnsent();
    if (isMore) return `More than ${count.toLocaleString('en')} changes are`;
    return count === 1 ? 'One change is' : `${count.toLocaleString('en')} changes are`;
  }

  readonly #changed = (head: number): void => {
    this.emit('changed', head);
    this.#kick();
  };

  /** It is another journal: whatever was known of the stream is to be looked at anew. */
  readonly #replaced = (reason: string): void => {
    this.emit('replaced', reason);
    void this.#cluster?.nc.close();
  };

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { first, most } = this.#options.retryMs ?? RETRY_MS;
    let wait = first;
    try {
      while (!signal.aborted) {
        try {
          await this.#session(() => (wait = first));
        } catch (error) {
          if (!signal.aborted) {
            this.#is('apart', problemOf(error));
            if (!this.#state.marks.doubtful) this.#state.note([], { doubtful: true });
          }
        }
        await pause(wait * (0.75 + Math.random() / 2), signal);
        wait = Math.min(most, wait * 2);
      }
    } finally {
      this.#journal.off('changed', this.#changed);
      this.#journal.off('replaced', this.#replaced);
      this.#state.close();
    }
  }

  /** One connection, from its beginning to its end, which is always an error or the bridge's own. */
  async #session(onshared: () => void): Promise<void> {
    const { nats, resolve = async (text) => text, ages = OBJECT_AGES, log = () => {} } = this.#options;
    const end = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, end.signal]);
    const aborted = new Promise<undefined>((done) => signal.addEventListener('abort', () => done(undefined), { once: true }));
    const opening = openCluster(nats, this.#seal, resolve);
    const cluster = await Promise.race([opening, aborted]);
    if (!cluster || signal.aborted) {
      void opening.then(({ nc }) => nc.close()).catch(() => {});
      return;
    }
    try {
      await this.#begin(cluster);
      const shared = { journal: this.#journal, cluster, seal: this.#seal, state: this.#state, ages };
      const exchange = new Exchange({
        ...shared,
        signal,
        schema: () => this.#schema,
        onschema: async (newer) => {
          this.#schema = newer;
          await this.#journal.open({ origin: CLUSTER_ORIGIN, schema: newer, position: this.#state.marks.sent });
          this.emit('replaced', 'Another machine has a newer build');
        },
        onforeign: () => void this.#foreign++,
        onresend: () => this.#kick(),
      });
      this.#is('catching-up', null);
      this.#connected = { cluster, signal };
      for (const work of this.#works) work(cluster, signal);
      const caughtUp = Promise.withResolvers<void>();
      const closed = cluster.nc.closed().then((error) => {
        throw error ?? new ClusterProblem('unreachable', 'The connection to the cluster was closed');
      });
      const sending = caughtUp.promise.then(async () => {
        if (signal.aborted) return;
        this.#cluster = cluster;
        this.#exchange = exchange;
        await this.#sendAll(exchange, signal, onshared);
      });
      const parts = [
        ...[closed, exchange.read(caughtUp.resolve), sending],
        ...[this.#presence.run(cluster, signal), this.#look(cluster, exchange, signal), keepClean(shared, signal, log)],
        caughtUp.promise.then(() => this.#lookAgain(exchange, signal)),
      ];
      try {
        await Promise.race([aborted, ...parts.map((part) => part.then(() => aborted))]);
      } finally {
        end.abort();
        caughtUp.resolve();
        this.#cluster = undefined;
        this.#exchange = undefined;
        this.#connected = undefined;
        this.#lookAtUnsent();
        void cluster.nc.close().catch(() => {});
        // What hangs on a connection that is gone is not waited for: it notes nothing any more.
        await Promise.race([Promise.allSettled(parts), pause(PARTING_MS, new AbortController().signal)]);
      }
    } finally {
      end.abort();
      void cluster.nc.close().catch(() => {});
    }
  }

  /** Looks whether the stream and the journal are those that the state is about. */
  async #begin({ info }: Places): Promise<void> {
    const state = this.#state;
    const { marks } = state;
    const made = info.created;
    // Made anew, put back from an older copy, or with messages taken out of it.
    const isOther = marks.stream !== made || info.state.last_seq < marks.read || (info.state.num_subjects ?? 0) < state.subjects;
    const replica = { origin: CLUSTER_ORIGIN, schema: 0 };
    let opened = await this.#journal.open({ ...replica, position: isOther ? null : marks.sent });
    if (isOther || opened.wantsAll || opened.stale || marks.schema !== SCHEMA_VERSION) {
      if (marks.stream !== '')
        this.#options.log?.('the stream or the journal is another one, or has lost records: all is read and sent anew');
      state.reset(made, SCHEMA_VERSION);
      opened = await this.#journal.open({ ...replica, position: null });
    }
    await this.#journal.open({ origin: CLUSTER_ORIGIN, schema: opened.schema, position: opened.position });
    this.#schema = Math.max(this.#schema, opened.schema);
    state.note([], { sent: opened.position });
  }

  async #sendAll(exchange: Exchange, signal: AbortSignal, onshared: () => void): Promise<void> {
    signal.addEventListener('abort', () => this.#kick(), { once: true });
    while (!signal.aborted) {
      const woken = new Promise<void>((wake) => (this.#kick = wake));
      while (!signal.aborted && (await exchange.send())) this.#lookAtUnsent();
      this.#lookAtUnsent();
      if (signal.aborted) return;
      onshared();
      this.#is('shared', null);
      await woken;
    }
  }

  /** After trouble. */
  async #lookAgain(exchange: Exchange, signal: AbortSignal): Promise<void> {
    if (signal.aborted || !this.#state.marks.doubtful) return;
    await exchange.lookAgain();
    if (!signal.aborted) this.#state.note([], { doubtful: false });
  }

  /** A stream that is deleted or made anew need not be noticed by who reads it. */
  async #look({ jsm, stream, info: { created } }: Places, exchange: Exchange, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(this.#options.lookMs ?? LOOK_MS, signal);
      if (signal.aborted) return;
      const known = this.#state.subjects;
      const info = await jsm.streams.info(stream).catch((error: unknown) => {
        throw new ClusterProblem('unreachable', 'The stream of this vault is gone, or cannot be reached', { cause: error });
      });
      if (info.created !== created || (info.state.num_subjects ?? 0) < known)
        throw new ClusterProblem('failed', 'The stream was made anew, or records were taken out of it');
      await exchange.checkFlow(info.state.last_seq);
    }
  }

  #is(state: ClusterState['state'], problem: ClusterProblem | null): void {
    const before = this.cluster;
    this.cluster = { state, problem };
    this.#apartSince = problem ? (this.#apartSince ?? Date.now()) : null;
    if (problem && problem.message !== before.problem?.message) this.#options.log?.(`${problem.code}: ${problem.message}`);
    if (!problem && state === 'shared' && before.state !== 'shared') this.#options.log?.('the vault is shared with the cluster');
  }
}
