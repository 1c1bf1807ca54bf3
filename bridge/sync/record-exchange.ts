import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { getAncestors, rebaseRecord } from '#shared/sync/conflict.ts';
import { hasMore, readMessages, type RawMessage } from '#shared/sync/nats/stream-messages.ts';
import { rescanStream } from '#shared/sync/nats/scan-stream.ts';
import {
  readClock,
  readCurrentMessage,
  fetchBlob,
  type SubjectState,
  getSubjectName,
  type RecordMessage,
  readMessage,
  sendBlob,
  writeMessage,
} from '#shared/sync/nats/record-messages.ts';
import type { VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { ClusterProblem, isWrongSequence } from '#shared/sync/nats/cluster-problem.ts';
import { sendRecords } from '#shared/sync/nats/send-records.ts';
import { SingleFlight } from '#shared/sync/single-flight.ts';
import { wins } from '#shared/sync/record.ts';
import { Mutex, raceAbort } from '#shared/async/mutex.ts';
import type { Journal } from '../journal/journal.ts';
import type { ObjectAges } from './clean-cluster.ts';
import type { RecordSeal } from './record-seal.ts';
import type { SyncState } from './sync-state.ts';

/** Origin of the stream's records in the journal. */
export const CLUSTER_ORIGIN = 'cluster';

/** Maximum number of messages stored, or records sent, per batch. */
const MAX_BATCH = 200;
/**
 * Number of messages that the server may send ahead. With more, large messages on a slow connection would exceed the server's write
 * deadline.
 */
const MAX_PREFETCH = 100;
/** Maximum number of attempts to write a record against concurrent writers. */
const MAX_WRITE_ATTEMPTS = 20;

interface RecordExchangeDeps {
  journal: Journal;
  cluster: VaultStreams;
  seal: RecordSeal;
  state: SyncState;
  ages: ObjectAges;
  /** Aborted when the connection ends; nothing is recorded after that. */
  signal: AbortSignal;
  /** Returns the newest schema of all writers. */
  schema(): number;
  /** Called when a record with a newer schema arrives. */
  onschema(schema: number): Promise<void>;
  /** Called for messages not sealed with the vault's key or not for their subject. */
  onforeign(): void;
  /** Called when all records have to be checked for missing ones in the stream. */
  onresend(): void;
  /** Called if more messages may have been skipped than were checked. */
  onunsure(): void;
}

/**
 * Exchanges records between the bridge's journal and the vault's stream over one connection. Each subject holds the last version of one
 * record. A writer names the version that it replaces; if another version is there by now, it merges first. A version counts as known only
 * after the journal has stored it, or the stream has acknowledged it.
 */
export class RecordExchange {
  readonly #deps: RecordExchangeDeps;
  /** Deduplicates uploads: several records may refer to one attachment. */
  readonly #sending = new SingleFlight<void>();
  /** Serializes operations, so that the state matches the journal. */
  readonly #mutex = new Mutex();

  constructor(deps: RecordExchangeDeps) {
    this.#deps = deps;
  }

  /**
   * Reads until the signal is aborted. Calls `oncaughtup` once everything that was in the stream at the start is in the journal. Rejects if
   * it can't continue.
   */
  async read(oncaughtup: () => void): Promise<void> {
    const { cluster, state, signal, onunsure } = this.#deps;
    const queue: RawMessage[] = [];
    let draining: Promise<void> | undefined;
    let isBehind = true;
    const checkCaughtUp = async (): Promise<void> => {
      if (!isBehind || (await this.#isBehind())) return;
      isBehind = false;
      oncaughtup();
    };
    await checkCaughtUp();
    const end = new AbortController();
    const ended = AbortSignal.any([signal, end.signal]);
    const { last_seq: lastSeq } = cluster.info.state;
    const messages = await readMessages(cluster, state.marks.read + 1, { ahead: MAX_PREFETCH, lastSeq, onunsure, signal: ended });
    if (signal.aborted) return;
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {});
    /** Stores queued messages in batches. */
    const drain = async (): Promise<void> => {
      while (queue.length > 0 && !signal.aborted) {
        const batch = queue.splice(0, MAX_BATCH);
        await this.#mutex.run(() => this.#receiveBatch(batch));
        if (queue.length === 0) await checkCaughtUp();
      }
      draining = undefined;
    };
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const receiving = async (): Promise<void> => {
      for await (const message of messages) {
        if (signal.aborted) return;
        queue.push(message);
        draining ??= drain().catch(broken.reject);
        if (queue.length >= 2 * MAX_BATCH) await draining;
      }
    };
    try {
      await Promise.race([receiving(), broken.promise, aborted]);
      if (!signal.aborted) throw new ClusterProblem('unreachable', 'The cluster stopped sending the stream to this bridge');
    } finally {
      end.abort();
    }
  }

  /** Looks for skipped messages after a problem (shared/sync/nats/scan-stream.ts). */
  recheck(): Promise<void> {
    const { cluster, signal } = this.#deps;
    return rescanStream(cluster, { signal }, (batch) => this.#mutex.run(() => this.#receiveBatch(batch, true)));
  }

  /**
   * Whether messages that were in the stream at the start are still unread. Asks the stream: a consumer's pending count may include
   * versions replaced since.
   */
  async #isBehind(): Promise<boolean> {
    const { cluster, state } = this.#deps;
    const { read } = state.marks;
    return read < cluster.info.state.last_seq && hasMore(cluster, read);
  }

  /** Sends records that the journal has and the stream lacks. Resolves to true if there may be more. */
  send(): Promise<boolean> {
    return this.#mutex.run(async () => {
      const { journal, state } = this.#deps;
      const { sent } = state.marks;
      if (!sent || sent.seq >= journal.head) return false;
      const { records, next, head } = await journal.pull(sent.seq, MAX_BATCH);
      await sendRecords(records, (record) => this.#writeRecord(record));
      this.#deps.signal.throwIfAborted();
      state.recordMarks([], { sent: { ...sent, seq: next } });
      return next < head;
    });
  }

  /** Fetches an attachment missing from the journal. Rejects when the exchange ends, since the client does not report that. */
  blob(hash: string): Promise<Uint8Array | undefined> {
    const { cluster, seal, signal } = this.#deps;
    return raceAbort(fetchBlob(cluster, seal, hash), signal);
  }

  /** `isReread`: the messages were read before, or should have been. */
  async #receiveBatch(batch: readonly RawMessage[], isReread = false): Promise<void> {
    const received: RecordMessage[] = [];
    for (const message of batch) {
      const newer = await this.#selectNewer(message, isReread);
      if (newer) received.push(newer);
    }
    await this.#storeRecords(received, isReread ? undefined : batch.at(-1)?.seq);
  }

  /** Decodes a message if it holds a version that is not known yet; otherwise undefined. */
  async #selectNewer({ subject, seq, data }: RawMessage, isReread: boolean): Promise<RecordMessage | undefined> {
    const { cluster, seal, state } = this.#deps;
    const name = subject.slice(cluster.prefix.length);
    const message = { subject, seq, data };
    const known = state.getKnown(name);
    if (!known || seq > known.seq) return readMessage(cluster, seal, message);
    const clock = await readClock(cluster, seal, message);
    if (isReread ? clock === known.clock && seq === known.seq : clock <= known.clock) return undefined;
    // The message was replaced on its way, or the servers lost acknowledged messages or now number them differently, which would skip the
    // next version. Ask the stream for its current version.
    const now = await readCurrentMessage(cluster, seal, name);
    return now?.known.clock === known.clock && now.known.seq === known.seq ? undefined : now;
  }

  /** Stores received records in the journal, then records them as known. */
  async #storeRecords(received: readonly RecordMessage[], read?: number): Promise<void> {
    const { journal, state, schema, onschema, onforeign, onresend } = this.#deps;
    const newest = Math.max(0, ...received.map(({ schema }) => schema));
    if (newest > schema()) await onschema(newest);
    const records = received.flatMap(({ record }) => record ?? []);
    for (const { blobs = [] } of records) for (const hash of blobs) await this.#fetchBlob(hash);
    if (records.length > 0) await journal.push(records, CLUSTER_ORIGIN);
    // Records damaged by the operator are sent again from here, with everything else sent before.
    const spoilt = received.some(({ foreign }) => foreign);
    if (spoilt) onforeign();
    const mustResend = spoilt || received.some(({ name, known }) => isOlderVersion(known, state.getKnown(name)));
    const { sent } = state.marks;
    this.#deps.signal.throwIfAborted();
    state.recordMarks(
      received.map(({ name, known }) => [name, known] as const),
      { ...(read !== undefined && { read }), ...(mustResend && sent && { sent: { ...sent, seq: 0 } }) },
    );
    if (mustResend) onresend();
  }

  async #fetchBlob(hash: string): Promise<void> {
    const { journal, state, ages } = this.#deps;
    if (state.hasBlob(hash, ages.trust)) return;
    if (!(await journal.getBlob(hash))) {
      const bytes = await this.blob(hash);
      if (!bytes) return;
      await journal.putBlob(hash, bytes);
    }
    state.addBlob(hash);
  }

  async #sendBlob(hash: string): Promise<void> {
    const { cluster, seal, state, journal, ages } = this.#deps;
    if (state.hasBlob(hash, ages.trust)) return;
    const bytes = await journal.getBlob(hash);
    if (!bytes) return;
    await sendBlob(cluster, seal, { hash, bytes, renew: ages.renew });
    state.addBlob(hash);
  }

  async #writeRecord(record: SequencedRecord): Promise<void> {
    const { cluster, seal, state } = this.#deps;
    const name = await getSubjectName(seal, record);
    // The stream already has this version.
    if (state.getKnown(name)?.clock === record.clock) return;
    for (const hash of record.blobs ?? []) await this.#sending.run(hash, () => this.#sendBlob(hash));
    for (let attempts = 0; attempts < MAX_WRITE_ATTEMPTS; attempts++) {
      const known = state.getKnown(name);
      const { seq: _, ...local } = record;
      const shared = rebaseRecord(local, known);
      const { bytes, object } = await writeMessage(cluster, seal, { record: shared, schema: this.#deps.schema(), name });
      try {
        const { seq } = await cluster.js.publish(`${cluster.prefix}${name}`, bytes, {
          expect: { streamName: cluster.stream, lastSubjectSequence: known?.seq ?? 0 },
        });
        this.#deps.signal.throwIfAborted();
        state.recordMarks([[name, { seq, clock: record.clock, included: getAncestors(shared), object }]]);
        if (known?.object && known.object !== object) await cluster.objects.delete(known.object).catch(() => {});
        return;
      } catch (error) {
        if (!isWrongSequence(error)) throw error;
      }
      const current = await readCurrentMessage(cluster, seal, name);
      if (!current) {
        state.recordMarks([[name, { seq: 0, clock: '', included: [], object: null }]]);
        continue;
      }
      await this.#storeRecords([current]);
      // The journal now has both versions, and a copy of the one that lost. For a newer build's record only the write time is known.
      if (!current.foreign && !wins(record, current.record ?? current.known)) return;
    }
    throw new ClusterProblem('failed', 'A record changes too often to be sent now');
  }
}

/**
 * Whether a subject went back to an older version. The operator restored it, or two clients wrote at once: clustered servers (2.9) check a
 * sequence number only against stored messages, not pending ones.
 */
const isOlderVersion = (now: SubjectState, before: SubjectState | undefined): boolean =>
  before !== undefined && before.clock !== '' && now.clock !== '' && wins(before, now);
