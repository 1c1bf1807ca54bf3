import type { JournalCalls, Position, SequencedRecord } from '#shared/ports/journal.ts';
import type { ResultOf } from '#shared/rpc/contract.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { Turns } from '#shared/turns.ts';
import type { Replica } from '../storage/vault.ts';
import type { JournalLine } from './journal-line.ts';
import { batches, type Outbox } from './outbox.ts';

/** Records looked at for one push of what was here before. */
const PENDING_BATCH = 1_000;
/** For so long it is believed that the journal has an attachment, once it was given to it (docs/decisions/0065). */
const UPLOADED_MS = 24 * 60 * 60 * 1000;

export interface ExchangeOptions {
  line: JournalLine;
  replica: Replica;
  outbox: Outbox;
  /** Version of the records that this build writes, and how people know this host. */
  schema: number;
  name: string;
  /** The bridge has said its vault's key, and how the cluster is reached that it is shared over (null: not at all; undefined: it does not say). */
  onbridge(vaultKey: string, cluster: unknown): void;
  /** A page was read, or a push confirmed. */
  onprogress(done: number, total: number): void;
  /** The journal's disk is full. */
  onlow(): void;
  /** Reading what others wrote, or writing what was put aside, failed while nobody waits for it. */
  onfault(error: unknown): void;
}

type PulledPage = ResultOf<JournalCalls['journal.pull']>;

interface Pull {
  /** Nothing was here. */
  fresh: boolean;
  /** The position is noted with each page. */
  durable: boolean;
  /** Filled with the version of each record that came. */
  known: Map<string, string> | undefined;
}

/** One go of keeping the replica and the journal the same, over one line: from opening the journal until something fails. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #line: JournalLine;
  readonly #replica: Replica;
  readonly #outbox: Outbox;
  /** When an attachment was given to the journal, by its hash. */
  readonly #uploaded = new Map<string, number>();
  /** One attachment after the other: of several at once none comes over a narrow line in time, and one that two records refer to would go out twice. */
  readonly #uploads = new Turns();
  #position: Position | undefined;
  #shared: boolean | undefined;
  /** The newest sequence number heard of. */
  #head = 0;
  /** The newest that was given to a change made here. */
  #written = 0;
  #live = false;
  /** Whether the journal also has all earlier records of this host: from then on one reading (of the clock) describes its state. */
  #settled = false;
  readonly #over = new AbortController();
  #pulling: Promise<void> | undefined;
  #reaching: { seq: number; resolve(): void }[] = [];

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#line = options.line;
    this.#replica = options.replica;
    this.#outbox = options.outbox;
  }

  /** Changes go out as they are made. */
  get live(): boolean {
    return this.#live;
  }

  /** How far it has come, where that may be noted: never behind what was written, by which an older copy of the journal would be known. */
  get position(): Position | undefined {
    return this.#live && this.seq >= this.#written ? this.#position : undefined;
  }

  /** Whether other machines have the vault too, where that was said. */
  get shared(): boolean | undefined {
    return this.#shared;
  }

  get seq(): number {
    return this.#position?.seq ?? 0;
  }

  /** Reads all that is new and writes all that is only here. False: the data is of a newer build. Rejects with what went wrong. */
  async open(): Promise<boolean> {
    const { schema, name } = this.#options;
    const position = await this.#replica.position();
    if (!position) this.#replica.pushed = '';
    const opened = await this.#line.call('journal.open', { origin: this.#replica.origin, schema, name, position });
    if (opened.schema > schema) return false;
    this.#shared = opened.shared;
    const vaultKey = opened.vaultKey ?? this.#line.vaultKey;
    if (vaultKey !== undefined) await this.#replica.adoptKey(vaultKey);
    if (opened.vaultKey !== undefined) this.#options.onbridge(opened.vaultKey, opened.cluster);
    const fresh = opened.position.seq === 0 && (await this.#replica.isEmpty());
    const all = opened.wantsAll && !fresh;
    // Versions in the journal, needed to decide about the remaining records.
    const known = all || opened.stale ? new Map<string, string>() : undefined;
    // Others may have written, and said so, since the answer came.
    this.#head = Math.max(this.#head, opened.head);
    this.#position = { ...opened.position, seq: opened.stale ? 0 : opened.position.seq };
    // Not noted before all is written: a journal that has lost something would never hear of it after a crash.
    await this.#pull({ fresh, durable: !known, known });
    if (opened.stale && known) await this.#replica.forget(new Set(known.keys()));
    if (all) this.#replica.pushed = '';
    if (this.#ended) return true;
    this.#live = true;
    await this.#pushPending(all ? known : undefined);
    this.#settled = true;
    await this.#pull();
    return true;
  }

  /** If no record exists only here, the journal has everything up to the newest reading, and records of others need not be read again. */
  async settle(): Promise<void> {
    const latest = await this.#replica.latest();
    if (this.#settled && this.#outbox.size === 0 && latest > this.#replica.pushed) this.#replica.pushed = latest;
  }

  /** Somebody wrote something. */
  heard(head: number): void {
    this.#head = Math.max(this.#head, head);
    if (this.#live) void this.#pull().catch(this.#options.onfault);
  }

  /** Records that were passed over in reading. */
  async take(records: readonly SequencedRecord[]): Promise<void> {
    const copies = await this.#replica.apply(records, null, false);
    this.#outbox.settle(records);
    this.#sendCopies(copies);
  }

  /** Resolves when the journal has them. */
  async push(records: readonly SyncRecord[]): Promise<void> {
    await Promise.all([...batches(records)].map((batch) => this.#send(batch)));
  }

  /** Resolves when everything up to `seq` has been read, or this go has ended. */
  reached(seq: number): Promise<void> {
    if (this.#ended || (this.#position && this.#position.seq >= seq)) return Promise.resolve();
    return new Promise((resolve) => this.#reaching.push({ seq, resolve }));
  }

  get #ended(): boolean {
    return this.#over.signal.aborted;
  }

  end(): void {
    this.#over.abort(new Error('the rest is sent with the next exchange'));
    this.#live = false;
    this.#settled = false;
    for (const { resolve } of this.#reaching.splice(0)) resolve();
  }

  /** Reads what the journal has more, one page after the other; calls while it is under way share it. */
  #pull(options: Pull = { fresh: false, durable: true, known: undefined }): Promise<void> {
    this.#pulling ??= this.#pullAll(options);
    return this.#pulling;
  }

  async #pullAll({ fresh, durable, known }: Pull): Promise<void> {
    // `#pulling` is set by then.
    await Promise.resolve();
    const start = this.seq;
    // Later writes follow this page, including changes of records that were already read.
    const last = this.#head;
    let coming: Promise<PulledPage> | undefined;
    try {
      while (!this.#ended && this.#position && this.#position.seq < this.#head) {
        const page = await (coming ?? this.#page(this.#position.seq));
        if (this.#ended) return;
        this.#head = Math.max(this.#head, page.head);
        const position = { ...this.#position, seq: Math.max(page.next, this.#position.seq) };
        // The next page is on its way while this one is stored.
        coming = position.seq < this.#head ? this.#page(position.seq) : undefined;
        const copies =
          page.records.length > 0 ? await this.#replica.apply(page.records, durable ? position : null, fresh && position.seq <= last) : [];
        this.#outbox.settle(page.records);
        for (const { store, key, clock } of page.records) known?.set(`${store}/${key}`, clock);
        this.#advance(position.seq);
        this.#sendCopies(copies);
        this.#options.onprogress(position.seq - start, this.#head - start);
      }
    } finally {
      // In the same turn as the last look: what is heard of from here on is for the next one.
      this.#pulling = undefined;
    }
  }

  #sendCopies(copies: readonly SyncRecord[]): void {
    if (copies.length > 0 && this.#live) void this.push(copies).catch(this.#options.onfault);
  }

  #page(after: number): Promise<PulledPage> {
    const page = this.#line.call('journal.pull', { after });
    // The page may turn out to be unnecessary.
    page.catch(() => {});
    return page;
  }

  /** `known`: all that is here and is not in this journal in the same version; else what was changed here and not confirmed. */
  async #pushPending(known: ReadonlyMap<string, string> | undefined): Promise<void> {
    const keys = await this.#replica.pending(known !== undefined);
    for (let at = 0; at < keys.length && !this.#ended; at += PENDING_BATCH) {
      const records = await this.#replica.records(keys.slice(at, at + PENDING_BATCH));
      const unknown = records.filter(({ store, key, clock }) => known?.get(`${store}/${key}`) !== clock);
      for (const batch of batches(unknown)) await this.#send(batch);
    }
  }

  async #send(records: SyncRecord[]): Promise<void> {
    const flight = this.#outbox.send(records);
    for (const record of records) for (const hash of record.blobs ?? []) await this.#upload(hash);
    const { before, last, conflicts, low } = await this.#line.call('journal.push', { records });
    this.#outbox.confirm(flight, records);
    if (low) this.#options.onlow();
    if (this.#ended) return;
    // Not before all is written that was here: the reading would claim more than the journal has.
    if (this.#settled && this.#outbox.pushed > this.#replica.pushed) this.#replica.pushed = this.#outbox.pushed;
    this.#written = Math.max(this.#written, last);
    this.#head = Math.max(this.#head, last);
    // Copies that the journal made of losers are among the numbers given out.
    if (this.#position?.seq === before && conflicts === 0) this.#advance(last);
    else if (this.#live) void this.#pull().catch(this.#options.onfault);
    this.#options.onprogress(0, 0);
  }

  #upload(hash: string): Promise<void> {
    return this.#uploads.take(this.#over.signal, async () => {
      const now = performance.now();
      if (now - (this.#uploaded.get(hash) ?? -Infinity) < UPLOADED_MS) return;
      const bytes = await this.#replica.blobs.get(hash);
      if (bytes) await this.#line.putBlob(hash, bytes);
      this.#uploaded.set(hash, now);
    });
  }

  #advance(seq: number): void {
    if (!this.#position || seq <= this.#position.seq) return;
    this.#position = { ...this.#position, seq };
    this.#reaching = this.#reaching.filter((entry) => entry.seq > seq || void entry.resolve());
  }
}
