import { type PortServer, serveCalls, type CallHandlers, createPortClient } from '#shared/link/port-calls.ts';
import { memoryPair } from '#shared/link/link.ts';
import {
  type JournalContracts,
  journalContracts,
  type JournalEvents,
  journalEvents,
  type JournalPosition,
  type SequencedRecord,
} from '#shared/ports/journal-port.ts';
import { MAX_JOURNAL_BATCH } from '#shared/ports/journal-batch.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { releaseSharedLease, acquireSharedLease } from '#shared/sync/nats/shared-leases.ts';
import { examineCluster } from '#shared/sync/nats/examine-cluster.ts';
import { hasMore } from '#shared/sync/nats/stream-messages.ts';
import { getLeaderName, rescanStream } from '#shared/sync/nats/scan-stream.ts';
import { fetchBlob, sendBlob } from '#shared/sync/nats/record-messages.ts';
import { isSingleReplica, type VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import type { Presence } from '#shared/sync/nats/presence.ts';
import { toClusterProblem } from '#shared/sync/nats/cluster-problem.ts';
import type { VaultSeal } from '#shared/sync/nats/vault-seal.ts';
import { getClockOrigin, type SyncRecord } from '#shared/sync/record.ts';
import { Mutex, raceAbort } from '#shared/async/mutex.ts';
import type { SealingKey } from '../storage/secret-sealing.ts';
import type { JournalConnection } from '../sync/journal-connection.ts';
import { StreamReader } from './stream-reader.ts';
import { type StreamReplica, StreamRecords } from './stream-records.ts';

/** Age at which an attachment in the cluster is stored again by the sender of a record with it (docs/decisions/0065). */
const BLOB_RENEWAL_MS = 20 * 24 * 60 * 60 * 1000;

/** Message for a stream that has lost records, so that everything is sent again. */
export const RECORDS_REMOVED_MESSAGE = 'Records were removed from the cluster; they are sent again from here';

interface StreamJournalOptions {
  places: VaultStreams;
  seal: VaultSeal;
  replica: StreamReplica;
  presence: Pick<Presence, 'others'>;
  /** Key that seals the vault's secrets. */
  vaultKey: SealingKey;
  /** Schema version of this build's records. */
  schema: number;
  /** Called with the error when the stream can no longer be read. */
  onend(error: unknown): void;
  /** Called when messages of the stream may be skipped. */
  onUncertain(): void;
  /** For tests. */
  agreedMs?: number | undefined;
}

/**
 * The vault's stream as a journal (shared/ports/journal-port.ts): sequence numbers are the stream's, and each writer merges. State that another
 * journal would store is derived: whether the stream is the same one, from its creation time and number of subjects; and whether a subject
 * was reset to an older version or removed, by comparison with local data.
 */
export class StreamJournal {
  readonly connection: JournalConnection;
  readonly #options: StreamJournalOptions;
  readonly #server: PortServer<JournalEvents>;
  readonly #reader: StreamReader;
  readonly #records: StreamRecords;
  #head = 0;
  readonly #closed = new AbortController();
  readonly #fetchMutex = new Mutex();
  /** Aborts the search for skipped messages. */
  #recheck = new AbortController();
  /** Whether the stream may be damaged: everything has to be read, and missing records sent. */
  #isDoubtful = false;
  #schema = 0;
  /** Number of subjects when the stream was opened. */
  #subjects = 0;

  constructor(options: StreamJournalOptions) {
    this.#options = options;
    const { places, seal, replica, schema, vaultKey } = options;
    const [ours, theirs] = memoryPair<string>();
    this.#server = serveCalls<JournalContracts, JournalEvents>(theirs, journalContracts, this.#handlers(), { fault: options.onend });
    this.#reader = new StreamReader(places, { onarrived: (seq) => this.#notifyHead(seq), onunsure: () => this.#onUncertain() });
    this.#records = new StreamRecords({
      ...{ places, seal, replica, schema },
      onschema: (newer) => this.#onNewerSchema(newer),
      onDamaged: (reason) => this.markDoubtful(reason),
      onwrote: (seq, message) => this.#reader.noteOwnMessage(seq, message),
    });
    this.connection = {
      ...createPortClient(ours, journalContracts, journalEvents),
      vaultKey,
      isBehind: true,
      recheck: (take) => void this.#recheckStream(take).catch((error: unknown) => error instanceof RpcError || options.onend(error)),
      putBlob: (hash, bytes) => sendBlob(places, seal, { hash, bytes, renew: BLOB_RENEWAL_MS }),
      getBlob: (hash) => this.#fetchBlob(hash),
    };
  }

  /** Minimum number of subjects in the stream, since written ones stay. */
  get subjects(): number {
    return Math.max(this.#subjects, this.#records.subjects);
  }

  close(): void {
    this.#closed.abort(new Error('The connection to the cluster was closed'));
    this.#recheck.abort();
    this.#reader.stop();
    this.#server.close();
  }

  /** Requests that everything is read again, and missing records sent: after a loss of data, a server may lack records of its leader. */
  markDoubtful(reason: string): void {
    if (this.#isDoubtful) return;
    this.#isDoubtful = true;
    this.#onUncertain();
    this.#server.send('journal.replaced', { reason });
  }

  /**
   * Fetches attachments one after another: a server closes a connection that does not accept several within seconds. The client itself
   * reports no end.
   */
  #fetchBlob(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { places, seal } = this.#options;
    const { signal } = this.#closed;
    return this.#fetchMutex.take(signal, async () => {
      const bytes = await raceAbort(fetchBlob(places, seal, hash), signal);
      return bytes && new Uint8Array(bytes);
    });
  }

  #handlers(): CallHandlers<JournalContracts> {
    const { places, seal, replica, presence } = this.#options;
    const { origin } = replica;
    return {
      'journal.open': ({ position }) => this.#handleCall(() => this.#open(position)),
      'journal.pull': ({ after, limit }) => this.#handleCall(() => this.#pull(after, limit)),
      'journal.push': ({ records }) => this.#handleCall(() => this.#push(records)),
      'journal.ready': async () => ({}),
      'host.leave': async () => ({}),
      'journal.info': async () => {
        throw new RpcError('NOT_FOUND', 'There is no journal because the bridge is not running.');
      },
      'journal.cluster': async () => {
        const usage = await examineCluster(places, seal, this.#reader.last).catch(() => null);
        return { cluster: { servers: [places.nc.getServer()], state: 'shared', problem: null, unsent: 0, seen: usage } };
      },
      'lease.take': ({ name, presumed, ttlMs }) =>
        this.#toRpcErrors(async () => {
          const others = presence.others();
          const leaseRequest = { name, holder: origin, presumed, ttlMs, present: others && [origin, ...others] };
          return { fence: await acquireSharedLease(places, seal, leaseRequest, () => this.#getFence(name)) };
        }),
      'lease.release': ({ name, fence }) =>
        this.#toRpcErrors(async () => {
          await releaseSharedLease(places, seal, { name, holder: origin, fence });
          return {};
        }),
      'host.signal': async () => ({ delivered: false }),
    };
  }

  async #open(position: JournalPosition | null): ReturnType<CallHandlers<JournalContracts>['journal.open']> {
    const { places, replica, onend } = this.#options;
    this.#recheck.abort();
    const pushed = position ? await replica.countPushed() : 0;
    const { created, state } = await places.jsm.streams.info(places.stream);
    const subjects = state.num_subjects ?? 0;
    const isSame = !this.#isDoubtful && position?.journal === places.stream && isEra(position.era, created, subjects) && pushed <= subjects;
    const seq = isSame && position.seq <= state.last_seq ? position.seq : 0;
    if (seq === 0 && position?.journal === places.stream && position.seq > 0) this.#onUncertain();
    this.#records.reset(seq, state.last_seq);
    await this.#reader.start({ after: seq, lastSeq: state.last_seq }, onend);
    this.#head = state.last_seq;
    this.#subjects = subjects;
    this.#isDoubtful = false;
    return {
      position: { journal: places.stream, era: createEra(created, subjects), seq },
      head: this.#head,
      schema: this.#schema,
      wantsAll: seq === 0,
      stale: false,
      shared: true,
    };
  }

  async #pull(after: number, limit: number): ReturnType<CallHandlers<JournalContracts>['journal.pull']> {
    for (;;) {
      const head = this.#head;
      const { last } = this.#reader;
      const messages = this.#reader.takeMessages(after, limit, MAX_JOURNAL_BATCH.chars);
      const end = messages.at(-1);
      if (end) return { records: await this.#records.read(messages), next: end.seq, head: Math.max(this.#head, end.seq) };
      if (last > after) return { records: [], next: last, head: Math.max(head, last) };
      if (after >= head || !(await hasMore(this.#options.places, after)))
        return { records: [], next: Math.max(after, head), head: Math.max(after, head) };
      await this.#reader.waitBeyond(after);
    }
  }

  async #push(records: readonly SyncRecord[]): ReturnType<CallHandlers<JournalContracts>['journal.push']> {
    const { seqs, conflicts } = await this.#records.write(records);
    const last = Math.max(...seqs, this.#head);
    const first = Math.min(...seqs, last);
    this.#head = last;
    // If numbers of other writers are in between, the pusher has to read.
    const isWhole = conflicts === 0 && seqs.length > 0 && last - first + 1 === seqs.length;
    return { before: isWhole ? first - 1 : last, last, conflicts };
  }

  /** Searches for skipped messages after trouble, and passes them to `take`. */
  async #recheckStream(applyMissed: (records: SequencedRecord[]) => Promise<void>): Promise<void> {
    const { places, replica, agreedMs } = this.#options;
    this.#recheck.abort();
    const { signal } = (this.#recheck = new AbortController());
    const [before, leader] = [await replica.getVerifiedLeader(), getLeaderName(places)];
    const isNewLeader = before !== '' && leader !== '' && before !== leader;
    // A single server has no other to disagree with, but may have lost its last acknowledged writes in a power failure.
    if (isNewLeader || (!isSingleReplica(places) && (await replica.isDoubtful()))) {
      await rescanStream(places, { signal, agreedMs }, async (batch) => {
        const missed = await this.#records.readAgain(batch);
        if (missed.length > 0 && !signal.aborted) await applyMissed(missed);
      });
      if (signal.aborted) return;
      const pushed = await replica.countPushed();
      const { state } = await places.jsm.streams.info(places.stream);
      if (pushed > (state.num_subjects ?? 0)) this.markDoubtful(RECORDS_REMOVED_MESSAGE);
    }
    if (!signal.aborted) await replica.markVerified(leader || before);
  }

  /** Minimum fence of a run's lease: higher than every fence under which others have written it. */
  async #getFence(lease: string): Promise<number> {
    const { replica } = this.#options;
    const [run] = lease.startsWith('run:') ? await replica.readVersions([['runs', lease.slice('run:'.length)]]) : [];
    if (run?.fence === undefined) return 0;
    return getClockOrigin(run.clock) === replica.origin ? run.fence : run.fence + 1;
  }

  #notifyHead(seq: number): void {
    if (seq <= this.#head) return;
    this.#head = seq;
    this.#server.send('journal.changed', { head: seq });
  }

  #onNewerSchema(schema: number): void {
    if (schema <= this.#schema) return;
    this.#schema = schema;
    this.#server.send('journal.replaced', { reason: 'The vault in the cluster was written by a newer version of Perch' });
  }

  /** Runs a read or write; a failure counts as trouble. */
  async #handleCall<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#toRpcErrors(work);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'INTERNAL_ERROR') this.#onUncertain();
      throw error;
    }
  }

  /** Restarts the current search for skipped messages. */
  #onUncertain(): void {
    this.#recheck.abort();
    this.#options.onUncertain();
  }

  /** Converts failures to messages for people. */
  async #toRpcErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RpcError) throw error;
      throw new RpcError('INTERNAL_ERROR', toClusterProblem(error, { who: 'browser' }).message, undefined, { cause: error });
    }
  }
}

/** Identifies one incarnation of the stream: its creation time, and its number of subjects, which never decreases. */
const createEra = (created: string, subjects: number): string => `${created} ${subjects}`;

function isEra(era: string, created: string, subjects: number): boolean {
  const [eraCreated, eraSubjects] = era.split(' ');
  return eraCreated === created && subjects >= Number(eraSubjects);
}
