import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type { ClusterFacts } from '#shared/ports/cluster.ts';
import type { JournalInfo, SequencedRecord } from '#shared/ports/journal.ts';
import type { LeaseWanted } from '#shared/sync/lease.ts';
import { releaseShared, takeShared } from '#shared/sync/nats/leases.ts';
import type { Places } from '#shared/sync/nats/places.ts';
import { pause, Presence } from '#shared/sync/nats/presence.ts';
import type { ClusterProblem } from '#shared/sync/nats/problems.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Journal, JournalEvents, Opened, Replica } from '../journal/journal.ts';
import { ClusterSession, PARTING_MS, type SessionOptions } from './cluster-session.ts';
import { Confirmations } from './confirmations.ts';
import { CLUSTER_ORIGIN, type Exchange } from './exchange.ts';
import { examineCluster } from '#shared/sync/nats/examine.ts';
import { problemOf } from './problems.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './state.ts';

/** In the home directory: how far this bridge has come with the stream. */
export const STATE_FILE = 'sync-state.sqlite';

/** How long a lease waits for what was stored before it to be with the others: where they are there some milliseconds. */
const SETTLED_WITHIN_MS = 5000;
const RETRY_MS = { first: 250, most: 15_000 };
/** A connection that lasted longer than this was a good one: the next is tried at once. */
const STEADY_MS = 5000;
const COUNTED = 1000;

export interface SharedJournalOptions extends SessionOptions {
  /** The embedded journal, which stays what this bridge's hosts read and write. It is closed with this one. */
  journal: Journal;
  dir: string;
  /** 256 bit, base64url. */
  vaultKey: string;
  /** A write is answered once the cluster has it too, or after so many milliseconds, or at once where the cluster is away; 0: it is not waited for. */
  confirmMs?: number;
  /** For tests. */
  retryMs?: { first: number; most: number };
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
  #session: ClusterSession | undefined;
  #foreign = 0;
  /** What each host has said that it writes, and the newest of what was written. */
  readonly #schemas = new Map<string, number>();
  #schema = 0;
  #apartSince: number | null = null;
  readonly #works = new Set<(cluster: Places, signal: AbortSignal) => void>();
  readonly #sending = new Confirmations();
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
    const connected = this.#session?.connected;
    if (connected) work(connected.cluster, connected.signal);
  }

  /** Whether what the cluster had is here. */
  get isCaughtUp(): boolean {
    return this.#cluster !== undefined;
  }

  /** While what it had is here. */
  get #cluster(): Places | undefined {
    return this.#session?.caughtUp?.cluster;
  }

  get #exchange(): Exchange | undefined {
    return this.#session?.caughtUp?.exchange;
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

  /** Resolves when the cluster has all up to there, is away, or after `ms`: whether it has. */
  async #sentUpTo(seq: number, ms: number): Promise<boolean> {
    const isSent = (): boolean => (this.#state.marks.sent?.seq ?? 0) >= seq;
    await this.#sending.wait(() => !this.#exchange || isSent(), ms);
    return isSent();
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
  async takeLease({ settled = false, ...lease }: LeaseWanted): Promise<number | null> {
    if (settled && !(await this.#sentUpTo(this.#journal.head, SETTLED_WITHIN_MS))) return null;
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
        message: 'Data in the cluster was not encrypted by this vault or was changed. It was ignored and sent again from here.',
      });
    // It may be over by the time that is counted.
    const { problem } = this.cluster;
    if (problem) {
      const waiting = await this.#waiting();
      notices.push({
        at: this.#apartSince ?? Date.now(),
        message: `${problem.message.replace(/\.$/, '')}. ${waiting} not synced with other computers yet. Everything is saved on this computer.`,
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
    this.#session?.kick();
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
        const begun = performance.now();
        try {
          await this.#connect().run(signal);
        } catch (error) {
          if (!signal.aborted) {
            this.#is('apart', problemOf(error));
            const { doubtful, alone } = this.#state.marks;
            if (!doubtful && !alone) this.#state.note([], { doubtful: true });
          }
        }
        if (performance.now() - begun > STEADY_MS) wait = first;
        await pause(wait * (0.75 + Math.random() / 2), signal);
        wait = Math.min(most, wait * 2);
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
      onforeign: () => void this.#foreign++,
      onconnected: (cluster, signal) => {
        for (const work of this.#works) work(cluster, signal);
      },
      onstate: (state) => this.#is(state, null),
      onsent: () => this.#sending.look(),
    });
    return this.#session;
  }

  #is(state: ClusterState['state'], problem: ClusterProblem | null): void {
    const before = this.cluster;
    this.cluster = { state, problem };
    this.#apartSince = problem ? (this.#apartSince ?? Date.now()) : null;
    if (problem && problem.message !== before.problem?.message) this.#options.log?.(`${problem.code}: ${problem.message}`);
    if (!problem && state === 'shared' && before.state !== 'shared') this.#options.log?.('The vault is synced with the cluster');
  }
}
