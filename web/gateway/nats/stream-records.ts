import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { readCurrentMessage, type RecordMessage, readMessage } from '#shared/sync/nats/record-messages.ts';
import type { VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import type { VaultSeal } from '#shared/sync/nats/vault-seal.ts';
import { sendRecords } from '#shared/sync/nats/send-records.ts';
import { type SyncRecord, type Version, wins } from '#shared/sync/record.ts';
import { RecordWriter, type WriteResult } from './record-writer.ts';

/** The part of this browser's replica of the vault that the connection needs. */
export interface StreamReplica {
  readonly origin: string;
  /** Versions of local records, by store and key. */
  readVersions(keys: readonly [store: string, key: string][]): Promise<(Version | undefined)[]>;
  readRecords(keys: readonly [store: string, key: string][]): Promise<SyncRecord[]>;
  /** Number of local records that a journal has, as far as known. */
  countPushed(): Promise<number>;
  /** Whether messages of the stream may have been skipped; stored across restarts. */
  isDoubtful(): Promise<boolean>;
  markDoubtful(): Promise<void>;
  /** Server that led the stream when the replica was complete; empty if unknown. */
  getVerifiedLeader(): Promise<string>;
  /** Records that nothing was skipped under this leader. */
  markVerified(leader: string): Promise<void>;
}

/** Dependencies of `StreamRecords`. */
interface StreamRecordsDeps {
  places: VaultStreams;
  seal: VaultSeal;
  replica: StreamReplica;
  /** Schema version of this build's records. */
  schema: number;
  /** Called when the stream contains a newer schema. */
  onschema(schema: number): void;
  /** Called when everything has to be read again, and missing records sent. */
  onDamaged(reason: string): void;
  /** Called when a local record was stored under this number, as this message, which need not be read. */
  onwrote(seq: number, message: Uint8Array): void;
}

type StreamMessage = Parameters<typeof readMessage>[2];

const DAMAGED_MESSAGE = 'A record in the cluster is damaged or not from this vault; it is skipped and sent again from here';

/** Reads and writes the records in the stream. */
export class StreamRecords {
  readonly #deps: StreamRecordsDeps;
  readonly #writer: RecordWriter;
  /** Up to this number, unreadable messages have been examined, or are being examined. */
  #examinedSeq = 0;

  constructor(deps: StreamRecordsDeps) {
    this.#deps = deps;
    const { places, seal, schema, onschema, onwrote } = deps;
    this.#writer = new RecordWriter({ places, seal, schema, onschema, onwrote });
  }

  /** Number of subjects known to hold a message. */
  get subjects(): number {
    return this.#writer.subjects;
  }

  /** Continues reading after `seq`; 0 starts again from the beginning, and `last` is the stream's newest number. */
  reset(seq: number, last: number): void {
    if (seq === 0) this.#writer.clear();
    this.#examinedSeq = seq === 0 ? last : seq;
  }

  /** Parses messages that have arrived. */
  async read(messages: readonly StreamMessage[]): Promise<SequencedRecord[]> {
    const received = await this.#decode(messages);
    for (const message of received) {
      this.#writer.noteReceived(message);
      if (message.foreign && message.known.seq > this.#examinedSeq) await this.#checkDamaged(message);
    }
    return (await this.#compareWithLocal(received)).records;
  }

  /** Parses messages that were read before, or should have been, and returns records that are missing here. */
  async readAgain(messages: readonly StreamMessage[]): Promise<SequencedRecord[]> {
    const received: RecordMessage[] = [];
    for (const message of await this.#decode(messages)) {
      const { isChanged, now: current } = await this.#writer.recheck(message);
      if (current?.foreign && isChanged) this.#deps.onDamaged(DAMAGED_MESSAGE);
      if (current) received.push(current);
    }
    return (await this.#compareWithLocal(received)).missed;
  }

  /** Resolves when the stream has the records, or versions that win over them. */
  async write(records: readonly SyncRecord[]): Promise<WriteResult> {
    const written = await sendRecords(records, (record) => this.#writer.put(record));
    return { seqs: written.flatMap(({ seqs }) => seqs), conflicts: written.reduce((sum, { conflicts }) => sum + conflicts, 0) };
  }

  async #decode(messages: readonly StreamMessage[]): Promise<RecordMessage[]> {
    const { places, seal, schema, onschema } = this.#deps;
    const received = await Promise.all(messages.map((message) => readMessage(places, seal, message)));
    const newest = Math.max(0, ...received.map((message) => message.schema));
    if (newest <= schema) return received;
    onschema(newest);
    throw new RpcError('INVALID_PARAMS', 'The vault in the cluster was written by a newer version of Perch. Reload the app.');
  }

  /** Checks a message that cannot be opened: it has already been replaced, or somebody else wrote it. */
  async #checkDamaged({ name, known: { seq } }: RecordMessage): Promise<void> {
    const { places, seal, onDamaged } = this.#deps;
    if ((await readCurrentMessage(places, seal, name))?.known.seq !== seq) return;
    this.#examinedSeq = Math.max(this.#examinedSeq, seq);
    onDamaged(DAMAGED_MESSAGE);
  }

  /**
   * The received records, and those of them that are missing here. If a subject was reset to an older version than the local one, it is
   * overwritten: by an operator, or by concurrent writes, since servers of a cluster (2.9) check a sequence number only against what they
   * have stored.
   */
  async #compareWithLocal(received: readonly RecordMessage[]): Promise<{ records: SequencedRecord[]; missed: SequencedRecord[] }> {
    const { replica } = this.#deps;
    const records = received.flatMap(({ record, known }) => (record ? { ...record, seq: known.seq } : []));
    const keys = records.map(({ store, key }): [string, string] => [store, key]);
    const localVersions = await replica.readVersions(keys);
    const pairs = records.map((record, index) => ({ record, key: keys[index], local: localVersions[index] }));
    const older = pairs.flatMap(({ record, key, local }) => (key && local && wins(local, record) ? [key] : []));
    if (older.length > 0) await this.write(await replica.readRecords(older));
    return { records, missed: pairs.flatMap(({ record, local }) => (!local || wins(record, local) ? record : [])) };
  }
}
