import type { SequencedRecord } from '#shared/ports/journal.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { currentMessage, type Received, readMessage } from '#shared/sync/nats/messages.ts';
import type { Places } from '#shared/sync/nats/places.ts';
import type { VaultSeal } from '#shared/sync/nats/seal.ts';
import { sendEach } from '#shared/sync/nats/send-each.ts';
import { type SyncRecord, type Version, wins } from '#shared/sync/record.ts';
import { RecordWriter, type Written } from './record-writer.ts';

/** The part of this browser's replica of the vault that the connection needs. */
export interface LocalCopy {
  readonly origin: string;
  /** Versions of local records, by store and key. */
  versions(keys: readonly [store: string, key: string][]): Promise<(Version | undefined)[]>;
  records(keys: readonly [store: string, key: string][]): Promise<SyncRecord[]>;
  /** Number of local records that a journal has, as far as known. */
  countPushed(): Promise<number>;
  /** Whether messages of the stream may have been skipped; stored across restarts. */
  isDoubtful(): Promise<boolean>;
  markDoubtful(): Promise<void>;
  /** Server that led the stream when the replica was complete; empty if unknown. */
  soundUnder(): Promise<string>;
  /** Records that nothing was skipped under this leader. */
  markSound(leader: string): Promise<void>;
}

export interface StreamRecordsDeps {
  places: Places;
  seal: VaultSeal;
  copy: LocalCopy;
  /** Schema version of this build's records. */
  schema: number;
  /** Called when the stream contains a newer schema. */
  onschema(schema: number): void;
  /** Called when everything has to be read again, and missing records sent. */
  onspoilt(reason: string): void;
  /** Called when a local record was stored under this number, as this message, which need not be read. */
  onwrote(seq: number, message: Uint8Array): void;
}

type Message = Parameters<typeof readMessage>[2];

const SPOILT = 'A record in the cluster is damaged or not from this vault; it is skipped and sent again from here';

/** Reads and writes the records in the stream. */
export class StreamRecords {
  readonly #deps: StreamRecordsDeps;
  readonly #writer: RecordWriter;
  /** Up to this number, unreadable messages have been examined, or are being examined. */
  #examined = 0;

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
  begin(seq: number, last: number): void {
    if (seq === 0) this.#writer.forget();
    this.#examined = seq === 0 ? last : seq;
  }

  /** Parses messages that have arrived. */
  async read(messages: readonly Message[]): Promise<SequencedRecord[]> {
    const received = await this.#open(messages);
    for (const one of received) {
      this.#writer.saw(one);
      if (one.foreign && one.known.seq > this.#examined) await this.#examine(one);
    }
    return (await this.#compare(received)).records;
  }

  /** Parses messages that were read before, or should have been, and returns records that are missing here. */
  async readAgain(messages: readonly Message[]): Promise<SequencedRecord[]> {
    const received: Received[] = [];
    for (const one of await this.#open(messages)) {
      const { isChanged, now } = await this.#writer.sawAgain(one);
      if (now?.foreign && isChanged) this.#deps.onspoilt(SPOILT);
      if (now) received.push(now);
    }
    return (await this.#compare(received)).missed;
  }

  /** Resolves when the stream has the records, or versions that win over them. */
  async write(records: readonly SyncRecord[]): Promise<Written> {
    const written = await sendEach(records, (record) => this.#writer.put(record));
    return { seqs: written.flatMap(({ seqs }) => seqs), conflicts: written.reduce((sum, { conflicts }) => sum + conflicts, 0) };
  }

  async #open(messages: readonly Message[]): Promise<Received[]> {
    const { places, seal, schema, onschema } = this.#deps;
    const received = await Promise.all(messages.map((message) => readMessage(places, seal, message)));
    const newest = Math.max(0, ...received.map((one) => one.schema));
    if (newest <= schema) return received;
    onschema(newest);
    throw new RpcError('INVALID_PARAMS', 'The vault in the cluster was written by a newer version of Perch. Reload the app.');
  }

  /** Checks a message that cannot be opened: it has already been replaced, or somebody else wrote it. */
  async #examine({ name, known: { seq } }: Received): Promise<void> {
    const { places, seal, onspoilt } = this.#deps;
    if ((await currentMessage(places, seal, name))?.known.seq !== seq) return;
    this.#examined = Math.max(this.#examined, seq);
    onspoilt(SPOILT);
  }

  /**
   * The received records, and those of them that are missing here. If a subject was reset to an older version than the local one, it is
   * overwritten: by an operator, or by concurrent writes, since servers of a cluster (2.9) check a sequence number only against what they
   * have stored.
   */
  async #compare(received: readonly Received[]): Promise<{ records: SequencedRecord[]; missed: SequencedRecord[] }> {
    const { copy } = this.#deps;
    const records = received.flatMap(({ record, known }) => (record ? { ...record, seq: known.seq } : []));
    const keys = records.map(({ store, key }): [string, string] => [store, key]);
    const here = await copy.versions(keys);
    const pairs = records.map((record, at) => ({ record, key: keys[at], own: here[at] }));
    const older = pairs.flatMap(({ record, key, own }) => (key && own && wins(own, record) ? [key] : []));
    if (older.length > 0) await this.write(await copy.records(older));
    return { records, missed: pairs.flatMap(({ record, own }) => (!own || wins(record, own) ? record : [])) };
  }
}
