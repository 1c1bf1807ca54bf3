import { type Answerer, answer, type CallHandlers, caller } from '#shared/link/calls.ts';
import { memoryPair } from '#shared/link/link.ts';
import {
  BATCH,
  type JournalCalls,
  journalCalls,
  type JournalEvents,
  journalEvents,
  type Position,
  type SequencedRecord,
} from '#shared/ports/journal.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { releaseShared, takeShared } from '#shared/sync/nats/leases.ts';
import { examineCluster } from '#shared/sync/nats/examine.ts';
import { hasMore } from '#shared/sync/nats/flow.ts';
import { leaderOf, lookAgain } from '#shared/sync/nats/look-through.ts';
import { fetchBlob, sendBlob } from '#shared/sync/nats/messages.ts';
import { isAlone, type Places } from '#shared/sync/nats/places.ts';
import type { Presence } from '#shared/sync/nats/presence.ts';
import { problemOf } from '#shared/sync/nats/problems.ts';
import type { VaultSeal } from '#shared/sync/nats/seal.ts';
import { originOf, type SyncRecord } from '#shared/sync/record.ts';
import { Turns, unlessAborted } from '#shared/turns.ts';
import type { SealingKey } from '../storage/sealing.ts';
import type { JournalLine } from '../sync/journal-line.ts';
import { StreamReader } from './stream-reader.ts';
import { type LocalCopy, StreamRecords } from './stream-records.ts';

/** Age at which an attachment in the cluster is stored again by the sender of a record with it (docs/decisions/0065). */
const RENEW_MS = 20 * 24 * 60 * 60 * 1000;

/** Message for a stream that has lost records, so that everything is sent again. */
export const TAKEN_OUT = 'Records were removed from the cluster; they are sent again from here';

export interface StreamLineOptions {
  places: Places;
  seal: VaultSeal;
  copy: LocalCopy;
  presence: Pick<Presence, 'others'>;
  /** Key that seals the vault's secrets. */
  vaultKey: SealingKey;
  /** Schema version of this build's records. */
  schema: number;
  /** Called with the error when the stream can no longer be read. */
  onend(error: unknown): void;
  /** Called when messages of the stream may be skipped. */
  ontrouble(): void;
  /** For tests. */
  agreedMs?: number | undefined;
}

/**
 * The vault's stream as a journal (shared/ports/journal.ts): sequence numbers are the stream's, and each writer merges. State that another
 * journal would store is derived: whether the stream is the same one, from its creation time and number of subjects; and whether a subject
 * was reset to an older version or removed, by comparison with local data.
 */
export class StreamLine {
  readonly line: JournalLine;
  readonly #options: StreamLineOptions;
  readonly #answerer: Answerer<JournalEvents>;
  readonly #reader: StreamReader;
  readonly #records: StreamRecords;
  #head = 0;
  readonly #closed = new AbortController();
  readonly #fetches = new Turns();
  /** Aborts the search for skipped messages. */
  #looking = new AbortController();
  /** Whether the stream may be damaged: everything has to be read, and missing records sent. */
  #isDoubtful = false;
  #schema = 0;
  /** Number of subjects when the stream was opened. */
  #subjects = 0;

  constructor(options: StreamLineOptions) {
    this.#options = options;
    const { places, seal, copy, schema, vaultKey } = options;
    const [ours, theirs] = memoryPair<string>();
    this.#answerer = answer<JournalCalls, JournalEvents>(theirs, journalCalls, this.#handlers(), { fault: options.onend });
    this.#reader = new StreamReader(places, { onarrived: (seq) => this.#tell(seq), onunsure: () => this.#trouble() });
    this.#records = new StreamRecords({
      ...{ places, seal, copy, schema },
      onschema: (newer) => this.#outdated(newer),
      onspoilt: (reason) => this.doubt(reason),
      onwrote: (seq, message) => this.#reader.wrote(seq, message),
    });
    this.line = {
      ...caller(ours, journalCalls, journalEvents),
      vaultKey,
      isBehind: true,
      lookAgain: (take) => void this.#lookAgain(take).catch((error: unknown) => error instanceof RpcError || options.onend(error)),
      putBlob: (hash, bytes) => sendBlob(places, seal, { hash, bytes, renew: RENEW_MS }),
      getBlob: (hash) => this.#fetch(hash),
    };
  }

  /** Minimum number of subjects in the stream, since written ones stay. */
  get subjects(): number {
    return Math.max(this.#subjects, this.#records.subjects);
  }

  close(): void {
    this.#closed.abort(new Error('The connection to the cluster was closed'));
    this.#looking.abort();
    this.#reader.stop();
    this.#answerer.close();
  }

  /** Requests that everything is read again, and missing records sent: after a loss of data, a server may lack records of its leader. */
  doubt(reason: string): void {
    if (this.#isDoubtful) return;
    this.#isDoubtful = true;
    this.#trouble();
    this.#answerer.send('journal.replaced', { reason });
  }

  /**
   * Fetches attachments one after another: a server closes a connection that does not accept several within seconds. The client itself
   * reports no end.
   */
  #fetch(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { places, seal } = this.#options;
    const { signal } = this.#closed;
    return this.#fetches.take(signal, async () => {
      const bytes = await unlessAborted(fetchBlob(places, seal, hash), signal);
      return bytes && new Uint8Array(bytes);
    });
  }

  #handlers(): CallHandlers<JournalCalls> {
    const { places, seal, copy, presence } = this.#options;
    const { origin } = copy;
    return {
      'journal.open': ({ position }) => this.#exchange(() => this.#open(position)),
      'journal.pull': ({ after, limit }) => this.#exchange(() => this.#pull(after, limit)),
      'journal.push': ({ records }) => this.#exchange(() => this.#push(records)),
      'journal.ready': async () => ({}),
      'host.leave': async () => ({}),
      'journal.info': async () => {
        throw new RpcError('NOT_FOUND', 'There is no journal because the bridge is not running.');
      },
      'journal.cluster': async () => {
        const seen = await examineCluster(places, seal, this.#reader.last).catch(() => null);
        return { cluster: { servers: [places.nc.getServer()], state: 'shared', problem: null, unsent: 0, seen } };
      },
      'lease.take': ({ name, presumed, ttlMs }) =>
        this.#ask(async () => {
          const others = presence.others();
          const wanted = { name, holder: origin, presumed, ttlMs, present: others && [origin, ...others] };
          return { fence: await takeShared(places, seal, wanted, () => this.#fenceOf(name)) };
        }),
      'lease.release': ({ name, fence }) =>
        this.#ask(async () => {
          await releaseShared(places, seal, { name, holder: origin, fence });
          return {};
        }),
      'host.signal': async () => ({ delivered: false }),
    };
  }

  async #open(position: Position | null): ReturnType<CallHandlers<JournalCalls>['journal.open']> {
    const { places, copy, onend } = this.#options;
    this.#looking.abort();
    const pushed = position ? await copy.countPushed() : 0;
    const { created, state } = await places.jsm.streams.info(places.stream);
    const subjects = state.num_subjects ?? 0;
    const isSame = !this.#isDoubtful && position?.journal === places.stream && isEra(position.era, created, subjects) && pushed <= subjects;
    const seq = isSame && position.seq <= state.last_seq ? position.seq : 0;
    if (seq === 0 && position?.journal === places.stream && position.seq > 0) this.#trouble();
    this.#records.begin(seq, state.last_seq);
    await this.#reader.start({ after: seq, there: state.last_seq }, onend);
    this.#head = state.last_seq;
    this.#subjects = subjects;
    this.#isDoubtful = false;
    return {
      position: { journal: places.stream, era: eraOf(created, subjects), seq },
      head: this.#head,
      schema: this.#schema,
      wantsAll: seq === 0,
      stale: false,
      shared: true,
    };
  }

  async #pull(after: number, limit: number): ReturnType<CallHandlers<JournalCalls>['journal.pull']> {
    for (;;) {
      const head = this.#head;
      const { last } = this.#reader;
      const messages = this.#reader.take(after, limit, BATCH.chars);
      const end = messages.at(-1);
      if (end) return { records: await this.#records.read(messages), next: end.seq, head: Math.max(this.#head, end.seq) };
      if (last > after) return { records: [], next: last, head: Math.max(head, last) };
      if (after >= head || !(await hasMore(this.#options.places, after)))
        return { records: [], next: Math.max(after, head), head: Math.max(after, head) };
      await this.#reader.beyond(after);
    }
  }

  async #push(records: readonly SyncRecord[]): ReturnType<CallHandlers<JournalCalls>['journal.push']> {
    const { seqs, conflicts } = await this.#records.write(records);
    const last = Math.max(...seqs, this.#head);
    const first = Math.min(...seqs, last);
    this.#head = last;
    // If numbers of other writers are in between, the pusher has to read.
    const isWhole = conflicts === 0 && seqs.length > 0 && last - first + 1 === seqs.length;
    return { before: isWhole ? first - 1 : last, last, conflicts };
  }

  /** Searches for skipped messages after trouble, and passes them to `take`. */
  async #lookAgain(take: (records: SequencedRecord[]) => Promise<void>): Promise<void> {
    const { places, copy, agreedMs } = this.#options;
    this.#looking.abort();
    const { signal } = (this.#looking = new AbortController());
    const [before, leader] = [await copy.soundUnder(), leaderOf(places)];
    const isOther = before !== '' && leader !== '' && before !== leader;
    // A single server has no other to disagree with, but may have lost its last acknowledged writes in a power failure.
    if (isOther || (!isAlone(places) && (await copy.isDoubtful()))) {
      await lookAgain(places, { signal, agreedMs }, async (batch) => {
        const missed = await this.#records.readAgain(batch);
        if (missed.length > 0 && !signal.aborted) await take(missed);
      });
      if (signal.aborted) return;
      const pushed = await copy.countPushed();
      const { state } = await places.jsm.streams.info(places.stream);
      if (pushed > (state.num_subjects ?? 0)) this.doubt(TAKEN_OUT);
    }
    if (!signal.aborted) await copy.markSound(leader || before);
  }

  /** Minimum fence of a run's lease: higher than every fence under which others have written it. */
  async #fenceOf(lease: string): Promise<number> {
    const { copy } = this.#options;
    const [run] = lease.startsWith('run:') ? await copy.versions([['runs', lease.slice('run:'.length)]]) : [];
    if (run?.fence === undefined) return 0;
    return originOf(run.clock) === copy.origin ? run.fence : run.fence + 1;
  }

  #tell(seq: number): void {
    if (seq <= this.#head) return;
    this.#head = seq;
    this.#answerer.send('journal.changed', { head: seq });
  }

  #outdated(schema: number): void {
    if (schema <= this.#schema) return;
    this.#schema = schema;
    this.#answerer.send('journal.replaced', { reason: 'The vault in the cluster was written by a newer version of Perch' });
  }

  /** Runs a read or write; a failure counts as trouble. */
  async #exchange<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#ask(work);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'INTERNAL_ERROR') this.#trouble();
      throw error;
    }
  }

  /** Restarts the current search for skipped messages. */
  #trouble(): void {
    this.#looking.abort();
    this.#options.ontrouble();
  }

  /** Converts failures to messages for people. */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RpcError) throw error;
      throw new RpcError('INTERNAL_ERROR', problemOf(error, { who: 'browser' }).message, undefined, { cause: error });
    }
  }
}

/** Identifies one incarnation of the stream: its creation time, and its number of subjects, which never decreases. */
const eraOf = (created: string, subjects: number): string => `${created} ${subjects}`;

function isEra(era: string, created: string, subjects: number): boolean {
  const [made, known] = era.split(' ');
  return made === created && subjects >= Number(known);
}
