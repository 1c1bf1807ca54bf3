import type { JournalCalls, Position, SequencedRecord } from '#shared/ports/journal.ts';
import type { ResultOf } from '#shared/rpc/contract.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { Turns } from '#shared/turns.ts';
import type { Replica } from '../storage/vault.ts';
import type { JournalLine } from './journal-line.ts';
import { batches, type Outbox } from './outbox.ts';

/** Number of records read at a time when pending ones are pushed. */
const PENDING_BATCH = 1_000;
/** Period in which the journal is assumed to have an uploaded attachment (docs/decisions/0065). */
const UPLOADED_MS = 24 * 60 * 60 * 1000;

export interface ExchangeOptions {
  line: JournalLine;
  replica: Replica;
  outbox: Outbox;
  /** Schema version of this build's records, and display name of this host. */
  schema: number;
  name: string;
  /** Called with the key of the bridge's vault and the cluster that it is shared over (null: not shared; undefined: not reported). */
  onbridge(vaultKey: string, cluster: unknown): void;
  /** Called when a page was read, or a push confirmed. */
  onprogress(done: number, total: number): void;
  /** Called when the journal's disk is full. */
  onlow(): void;
  /** Called when a read, or a write of conflict copies, fails in the background. */
  onfault(error: unknown): void;
}

type PulledPage = ResultOf<JournalCalls['journal.pull']>;

interface Pull {
  /** Whether this replica was empty. */
  fresh: boolean;
  /** Whether the position is stored with each page. */
  durable: boolean;
  /** Receives the version of each record that was read. */
  known: Map<string, string> | undefined;
}

/** Synchronizes the replica and the journal over one connection: from opening the journal until something fails. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #line: JournalLine;
  readonly #replica: Replica;
  readonly #outbox: Outbox;
  /** Time of upload of attachments, by hash. */
  readonly #uploaded = new Map<string, number>();
  /**
   * Uploads attachments one after another: on a slow connection several at once would all time out, and one that two records refer to would
   * be sent twice.
   */
  readonly #uploads = new Turns();
  #position: Position | undefined;
  #shared: boolean | undefined;
  /** The newest known sequence number of the journal. */
  #head = 0;
  /** The newest sequence number of a change made here. */
  #written = 0;
  #live = false;
  /** Whether the journal also has all earlier records of this host: from then on a single clock value describes its state. */
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

  /** Whether changes are pushed as they are made. */
  get live(): boolean {
    return this.#live;
  }

  /** The position, if it may be stored: never behind own writes, since an older copy of the journal is detected by it. */
  get position(): Position | undefined {
    return this.#live && this.seq >= this.#written ? this.#position : undefined;
  }

  /** Whether other machines have the vault too; undefined if unknown. */
  get shared(): boolean | undefined {
    return this.#shared;
  }

  get seq(): number {
    return this.#position?.seq ?? 0;
  }

  /**
   * Reads everything new and writes everything that only this host has. False if the data is of a newer build. Rejects if the exchange
   * fails.
   */
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
    // Others may have written, and reported it, since the response was sent.
    this.#head = Math.max(this.#head, opened.head);
    this.#position = { ...opened.position, seq: opened.stale ? 0 : opened.position.seq };
    // Not stored until everything is written: otherwise a journal that has lost records would never get them back after a crash.
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

  /**
   * If no record exists only here, the journal has everything up to the newest clock value, and records of others need not be read again.
   */
  async settle(): Promise<void> {
    const latest = await this.#replica.latest();
    if (this.#settled && this.#outbox.size === 0 && latest > this.#replica.pushed) this.#replica.pushed = latest;
  }

  /** Called when another host has written something. */
  heard(head: number): void {
    this.#head = Math.max(this.#head, head);
    if (this.#live) void this.#pull().catch(this.#options.onfault);
  }

  /** Applies records that were skipped during reading. */
  async take(records: readonly SequencedRecord[]): Promise<void> {
    const copies = await this.#replica.apply(records, null, false);
    this.#outbox.settle(records);
    this.#sendCopies(copies);
  }

  /** Resolves when the journal has stored the records. */
  async push(records: readonly SyncRecord[]): Promise<void> {
    await Promise.all([...batches(records)].map((batch) => this.#send(batch)));
  }

  /** Resolves when everything up to `seq` has been read, or this exchange has ended. */
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

  /** Reads everything new from the journal, page by page; concurrent calls share one read. */
  #pull(options: Pull = { fresh: false, durable: true, known: undefined }): Promise<void> {
    this.#pulling ??= this.#pullAll(options);
    return this.#pulling;
  }

  async #pullAll({ fresh, durable, known }: Pull): Promise<void> {
    // `#pulling` must be set before the first check.
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
        // Fetch the next page while this one is stored.
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
      // In the same turn as the last check: later notifications start a new read.
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

  /** Pushes unconfirmed local changes; with `known`, all local records whose version the journal does not have. */
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
    // Only after all earlier records are written: the clock value would otherwise claim more than the journal has.
    if (this.#settled && this.#outbox.pushed > this.#replica.pushed) this.#replica.pushed = this.#outbox.pushed;
    this.#written = Math.max(this.#written, last);
    this.#head = Math.max(this.#head, last);
    // The assigned numbers include conflict copies made by the journal.
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
