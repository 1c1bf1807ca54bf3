import type { JournalContracts, JournalPosition, SequencedRecord } from '#shared/ports/journal-port.ts';
import type { ContractResult } from '#shared/rpc/contract.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Replica } from '../storage/open-vault.ts';
import type { JournalConnection } from './journal-connection.ts';
import { splitIntoBatches, type Outbox } from './outbox.ts';

/** Number of records read at a time when pending ones are pushed. */
const PENDING_BATCH = 1_000;
/** Period in which the journal is assumed to have an uploaded attachment (docs/decisions/0065). */
const UPLOAD_MEMORY_MS = 24 * 60 * 60 * 1000;

interface JournalExchangeOptions {
  connection: JournalConnection;
  replica: Replica;
  outbox: Outbox;
  /** Schema version of this build's records, and display name of this host. */
  schema: number;
  name: string;
  /** Called with the key of the bridge's vault and the cluster that it is shared over (null: not shared; undefined: not reported). */
  onBridgeVault(vaultKey: string, cluster: unknown): void;
  /** Called when a page was read, or a push confirmed. */
  onprogress(done: number, total: number): void;
  /** Called when the journal's disk is full. */
  onDiskLow(): void;
  /** Called when a read, or a write of conflict copies, fails in the background. */
  onfault(error: unknown): void;
}

type PulledPage = ContractResult<JournalContracts['journal.pull']>;

interface PullOptions {
  /** Whether this replica was empty. */
  isFresh: boolean;
  /** Whether the position is stored with each page. */
  isDurable: boolean;
  /** Receives the version of each record that was read. */
  known: Map<string, string> | undefined;
}

/** Synchronizes the replica and the journal over one connection: from opening the journal until something fails. */
export class JournalExchange {
  readonly #options: JournalExchangeOptions;
  readonly #connection: JournalConnection;
  readonly #replica: Replica;
  readonly #outbox: Outbox;
  /** Time of upload of attachments, by hash. */
  readonly #uploadTimes = new Map<string, number>();
  /**
   * Uploads attachments one after another: on a slow connection several at once would all time out, and one that two records refer to would
   * be sent twice.
   */
  readonly #uploadMutex = new Mutex();
  #position: JournalPosition | undefined;
  #shared: boolean | undefined;
  /** The newest known sequence number of the journal. */
  #head = 0;
  /** The newest sequence number of a change made here. */
  #lastWritten = 0;
  #isLive = false;
  /** Whether the journal also has all earlier records of this host: from then on a single clock value describes its state. */
  #isSettled = false;
  readonly #closed = new AbortController();
  #activePull: Promise<void> | undefined;
  #positionWaiters: { seq: number; resolve(): void }[] = [];

  constructor(options: JournalExchangeOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#replica = options.replica;
    this.#outbox = options.outbox;
  }

  /** Whether changes are pushed as they are made. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** The position, if it may be stored: never behind own writes, since an older copy of the journal is detected by it. */
  get position(): JournalPosition | undefined {
    return this.#isLive && this.seq >= this.#lastWritten ? this.#position : undefined;
  }

  /** Whether other machines have the vault too; undefined if unknown. */
  get isShared(): boolean | undefined {
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
    const position = await this.#replica.readPosition();
    if (!position) this.#replica.pushed = '';
    const opened = await this.#connection.call('journal.open', { origin: this.#replica.origin, schema, name, position });
    if (opened.schema > schema) return false;
    this.#shared = opened.shared;
    const vaultKey = opened.vaultKey ?? this.#connection.vaultKey;
    if (vaultKey !== undefined) await this.#replica.adoptVaultKey(vaultKey);
    if (opened.vaultKey !== undefined) this.#options.onBridgeVault(opened.vaultKey, opened.cluster);
    const fresh = opened.position.seq === 0 && (await this.#replica.isEmpty());
    const sendsAll = opened.wantsAll && !fresh;
    // Versions in the journal, needed to decide about the remaining records.
    const journalClocks = sendsAll || opened.stale ? new Map<string, string>() : undefined;
    // Others may have written, and reported it, since the response was sent.
    this.#head = Math.max(this.#head, opened.head);
    this.#position = { ...opened.position, seq: opened.stale ? 0 : opened.position.seq };
    // Not stored until everything is written: otherwise a journal that has lost records would never get them back after a crash.
    await this.#pull({ isFresh: fresh, isDurable: !journalClocks, known: journalClocks });
    if (opened.stale && journalClocks) await this.#replica.deleteMissing(new Set(journalClocks.keys()));
    if (sendsAll) this.#replica.pushed = '';
    if (this.#isEnded) return true;
    this.#isLive = true;
    await this.#pushPending(sendsAll ? journalClocks : undefined);
    this.#isSettled = true;
    await this.#pull();
    return true;
  }

  /**
   * If no record exists only here, the journal has everything up to the newest clock value, and records of others need not be read again.
   */
  async updatePushed(): Promise<void> {
    const latest = await this.#replica.readLatestClock();
    if (this.#isSettled && this.#outbox.size === 0 && latest > this.#replica.pushed) this.#replica.pushed = latest;
  }

  /** Called when another host has written something. */
  onJournalChange(head: number): void {
    this.#head = Math.max(this.#head, head);
    if (this.#isLive) void this.#pull().catch(this.#options.onfault);
  }

  /** Applies records that were skipped during reading. */
  async applyMissed(records: readonly SequencedRecord[]): Promise<void> {
    const copies = await this.#replica.apply(records, null, false);
    this.#outbox.removeConfirmed(records);
    this.#sendCopies(copies);
  }

  /** Resolves when the journal has stored the records. */
  async push(records: readonly SyncRecord[]): Promise<void> {
    await Promise.all([...splitIntoBatches(records)].map((batch) => this.#send(batch)));
  }

  /** Resolves when everything up to `seq` has been read, or this exchange has ended. */
  waitForPosition(seq: number): Promise<void> {
    if (this.#isEnded || (this.#position && this.#position.seq >= seq)) return Promise.resolve();
    return new Promise((resolve) => this.#positionWaiters.push({ seq, resolve }));
  }

  get #isEnded(): boolean {
    return this.#closed.signal.aborted;
  }

  end(): void {
    this.#closed.abort(new Error('the rest is sent with the next exchange'));
    this.#isLive = false;
    this.#isSettled = false;
    for (const { resolve } of this.#positionWaiters.splice(0)) resolve();
  }

  /** Reads everything new from the journal, page by page; concurrent calls share one read. */
  #pull(options: PullOptions = { isFresh: false, isDurable: true, known: undefined }): Promise<void> {
    this.#activePull ??= this.#pullAll(options);
    return this.#activePull;
  }

  async #pullAll({ isFresh, isDurable, known: journalClocks }: PullOptions): Promise<void> {
    // `#activePull` must be set before the first check.
    await Promise.resolve();
    const start = this.seq;
    // Later writes follow this page, including changes of records that were already read.
    const last = this.#head;
    let nextPage: Promise<PulledPage> | undefined;
    try {
      while (!this.#isEnded && this.#position && this.#position.seq < this.#head) {
        const page = await (nextPage ?? this.#pullPage(this.#position.seq));
        if (this.#isEnded) return;
        this.#head = Math.max(this.#head, page.head);
        const position = { ...this.#position, seq: Math.max(page.next, this.#position.seq) };
        // Fetch the next page while this one is stored.
        nextPage = position.seq < this.#head ? this.#pullPage(position.seq) : undefined;
        const copies =
          page.records.length > 0
            ? await this.#replica.apply(page.records, isDurable ? position : null, isFresh && position.seq <= last)
            : [];
        this.#outbox.removeConfirmed(page.records);
        for (const { store, key, clock } of page.records) journalClocks?.set(`${store}/${key}`, clock);
        this.#advance(position.seq);
        this.#sendCopies(copies);
        this.#options.onprogress(position.seq - start, this.#head - start);
      }
    } finally {
      // In the same turn as the last check: later notifications start a new read.
      this.#activePull = undefined;
    }
  }

  #sendCopies(copies: readonly SyncRecord[]): void {
    if (copies.length > 0 && this.#isLive) void this.push(copies).catch(this.#options.onfault);
  }

  #pullPage(after: number): Promise<PulledPage> {
    const page = this.#connection.call('journal.pull', { after });
    // The page may turn out to be unnecessary.
    page.catch(() => {});
    return page;
  }

  /** Pushes unconfirmed local changes; with `journalClocks`, all local records whose version the journal does not have. */
  async #pushPending(journalClocks: ReadonlyMap<string, string> | undefined): Promise<void> {
    const keys = await this.#replica.readPendingKeys(journalClocks !== undefined);
    for (let index = 0; index < keys.length && !this.#isEnded; index += PENDING_BATCH) {
      const records = await this.#replica.readRecords(keys.slice(index, index + PENDING_BATCH));
      const unknown = records.filter(({ store, key, clock }) => journalClocks?.get(`${store}/${key}`) !== clock);
      for (const batch of splitIntoBatches(unknown)) await this.#send(batch);
    }
  }

  async #send(records: SyncRecord[]): Promise<void> {
    const pendingSend = this.#outbox.startSend(records);
    for (const record of records) for (const hash of record.blobs ?? []) await this.#upload(hash);
    const { before, last, conflicts, low: isLow } = await this.#connection.call('journal.push', { records });
    this.#outbox.confirm(pendingSend, records);
    if (isLow) this.#options.onDiskLow();
    if (this.#isEnded) return;
    // Only after all earlier records are written: the clock value would otherwise claim more than the journal has.
    if (this.#isSettled && this.#outbox.pushed > this.#replica.pushed) this.#replica.pushed = this.#outbox.pushed;
    this.#lastWritten = Math.max(this.#lastWritten, last);
    this.#head = Math.max(this.#head, last);
    // The assigned numbers include conflict copies made by the journal.
    if (this.#position?.seq === before && conflicts === 0) this.#advance(last);
    else if (this.#isLive) void this.#pull().catch(this.#options.onfault);
    this.#options.onprogress(0, 0);
  }

  #upload(hash: string): Promise<void> {
    return this.#uploadMutex.take(this.#closed.signal, async () => {
      const now = performance.now();
      if (now - (this.#uploadTimes.get(hash) ?? -Infinity) < UPLOAD_MEMORY_MS) return;
      const bytes = await this.#replica.blobs.get(hash);
      if (bytes) await this.#connection.putBlob(hash, bytes);
      this.#uploadTimes.set(hash, now);
    });
  }

  #advance(seq: number): void {
    if (!this.#position || seq <= this.#position.seq) return;
    this.#position = { ...this.#position, seq };
    this.#positionWaiters = this.#positionWaiters.filter((entry) => entry.seq > seq || void entry.resolve());
  }
}
