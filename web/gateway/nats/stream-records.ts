import type { SequencedRecord } from '#shared/ports/journal.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { currentMessage, type Received, readMessage } from '#shared/sync/nats/messages.ts';
import type { Places } from '#shared/sync/nats/places.ts';
import type { VaultSeal } from '#shared/sync/nats/seal.ts';
import { sendEach } from '#shared/sync/nats/send-each.ts';
import { type SyncRecord, type Version, wins } from '#shared/sync/record.ts';
import { RecordWriter, type Written } from './record-writer.ts';

/** This browser's copy of the vault, as far as the line asks it. */
export interface LocalCopy {
  readonly origin: string;
  /** Versions of local records, by store and key. */
  versions(keys: readonly [store: string, key: string][]): Promise<(Version | undefined)[]>;
  records(keys: readonly [store: string, key: string][]): Promise<SyncRecord[]>;
  /** How many records a journal has, as far as is known there. */
  countPushed(): Promise<number>;
  /** Whether something of the stream may have been passed over; kept over restarts. */
  isDoubtful(): Promise<boolean>;
  markDoubtful(): Promise<void>;
  /** Server that led the stream when the copy was complete; empty if unknown. */
  soundUnder(): Promise<string>;
  /** Nothing was passed over, of what is led by that server. */
  markSound(leader: string): Promise<void>;
}

export interface StreamRecordsDeps {
  places: Places;
  seal: VaultSeal;
  copy: LocalCopy;
  /** Of the records that this build writes. */
  schema: number;
  /** Something of a newer schema is there. */
  onschema(schema: number): void;
  /** Everything is to be read anew, and what the stream has not to be sent. */
  onspoilt(reason: string): void;
  /** A record that is here was stored under this number, as this message, which need not be read. */
  onwrote(seq: number, message: Uint8Array): void;
}

type Message = Parameters<typeof readMessage>[2];

const SPOILT = 'A record in the cluster is damaged or not from this vault; it is skipped and sent again from here';

/** The stream's records: what its messages say, and what is written to it. */
export class StreamRecords {
  readonly #deps: StreamRecordsDeps;
  readonly #writer: RecordWriter;
  /** Up to here it was looked for messages that nobody can open, or is being looked. */
  #examined = 0;

  constructor(deps: StreamRecordsDeps) {
    this.#deps = deps;
    const { places, seal, schema, onschema, onwrote } = deps;
    this.#writer = new RecordWriter({ places, seal, schema, onschema, onwrote });
  }

  /** How many subjects were seen to hold something. */
  get subjects(): number {
    return this.#writer.subjects;
  }

  /** Reading continues after `seq`; 0 starts again from the beginning, and `last` is the stream's newest number. */
  begin(seq: number, last: number): void {
    if (seq === 0) this.#writer.forget();
    this.#examined = seq === 0 ? last : seq;
  }

  /** Parses messages that arrived. */
  async read(messages: readonly Message[]): Promise<SequencedRecord[]> {
    const received = await this.#open(messages);
    for (const one of received) {
      this.#writer.saw(one);
      if (one.foreign && one.known.seq > this.#examined) await this.#examine(one);
    }
    return (await this.#compare(received)).records;
  }

  /** Parses messages that were read before, or should have been, and returns records missing here. */
  async readAgain(messages: readonly Message[]): Promise<SequencedRecord[]> {
    const received: Received[] = [];
    for (const one of await this.#open(messages)) {
      const { isChanged, now } = await this.#writer.sawAgain(one);
      if (now?.foreign && isChanged) this.#deps.onspoilt(SPOILT);
      if (now) received.push(now);
    }
    return (await this.#compare(received)).missed;
  }

  /** Resolves when the stream has them, or what wins over them. */
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

  /** A message that cannot be opened: it is replaced already, or somebody has put it there. */
  async #examine({ name, known: { seq } }: Received): Promise<void> {
    const { places, seal, onspoilt } = this.#deps;
    if ((await currentMessage(places, seal, name))?.known.seq !== seq) return;
    this.#examined = Math.max(this.#examined, seq);
    onspoilt(SPOILT);
  }

  /**
   * The records that were received, and those of them that are not here. Where a subject has gone back to an older version than is here, that is written over: an
   * operator has put it there, or two have written at once, since servers of a cluster (2.9) check a sequence number only against what they have stored.
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
