import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { SQLOutputValue } from 'node:sqlite';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { getBlob, putBlob } from './blobs.ts';
import { toJournalError, isDamage, describeError } from './failures.ts';
import { getFileIdentity, createPrivateFile, prepareConnection, type JournalEnvironment, defaultEnvironment } from './journal-file.ts';
import { DiskReserve } from './disk-reserve.ts';
import { JOURNAL_FILE, RESERVE_FILE } from './file-names.ts';
import { getJournalInfo } from './journal-info.ts';
import { type JournalError, JournalFullError, type OpenedJournal, type PushResult, type ReplicaRequest } from './journal.ts';
import { raiseMinFence, releaseLease, takeLease } from './leases.ts';
import type { LeaseRequest } from '#shared/sync/lease-request.ts';
import { type JournalConnection, replaceJournal } from './replace-journal.ts';
import { openReplica } from './replicas.ts';
import { pruneExpired } from './retention.ts';
import { RowSeal } from './row-seal.ts';
import { JournalSnapshot } from './snapshot.ts';
import { JournalTables } from './journal-tables.ts';

export interface SqliteJournalOptions {
  /** Existing folder of `journal.sqlite`. */
  dir: string;
  /** 256 bits, base64url. */
  vaultKey: string;
  /** Called after changes are committed. */
  onchanged?: (head: number) => void;
  onreplaced?: (reason: string) => void;
  surroundings?: JournalEnvironment;
}

type CommitOutcome<T> = { value: T } | { error: JournalFullError | JournalError };

/**
 * The journal in one SQLite file, synchronous. Writes run within `commit`; reads see committed data and never return rows that were
 * altered. A damaged or missing file is replaced when detected.
 */
export class SqliteJournal {
  readonly path: string;
  readonly #options: SqliteJournalOptions;
  readonly #surroundings: JournalEnvironment;
  readonly #seal: RowSeal;
  readonly #snapshots = new Set<JournalSnapshot>();
  /** Id of this opening, which distinguishes its readers from readers of a newer copy of the file. */
  readonly #era = randomUUID();
  readonly #reserve: DiskReserve;
  #tables: JournalTables;
  #file: string | null;
  /** State last reported to listeners. */
  #notifiedHead: { id: string; head: number };
  /** The era's newest sequence number on disk; undefined until a replica knows the era. */
  #until: number | undefined;

  /** Opens the file, and creates it if it is missing. Throws `JournalFullError` or `JournalError`. */
  constructor(options: SqliteJournalOptions) {
    this.#options = options;
    this.#surroundings = options.surroundings ?? defaultEnvironment;
    this.#seal = new RowSeal(options.vaultKey);
    this.path = join(options.dir, JOURNAL_FILE);
    this.#reserve = new DiskReserve(join(options.dir, RESERVE_FILE));
    try {
      this.#tables = this.#open();
    } catch (error) {
      throw toJournalError(error, true);
    }
    this.#file = getFileIdentity(this.path);
    this.#notifiedHead = { id: this.#tables.meta.id, head: this.#tables.meta.head };
  }

  /** The newest sequence number. */
  get head(): number {
    return this.#notifiedHead.head;
  }

  /**
   * Runs all tasks in one transaction, independently: a failing task changes nothing and does not affect the others. When it returns, the
   * successful ones are on disk.
   */
  commit<T>(tasks: readonly (() => T)[]): CommitOutcome<T>[] {
    try {
      return this.#withIntactFile(() => this.#transaction(tasks));
    } catch (error) {
      const failure = toJournalError(error, true);
      if (failure instanceof JournalFullError && this.#reserve.spend()) return this.commit(tasks);
      // Together they did not fit; one alone may.
      if (failure instanceof JournalFullError && tasks.length > 1) return tasks.flatMap((task) => this.commit([task]));
      return tasks.map(() => ({ error: failure }));
    }
  }

  /** Call within `commit`. See `Journal.open`. */
  open(replica: ReplicaRequest): OpenedJournal {
    const opened = openReplica(this.#tables, this.#era, replica, this.#surroundings.now());
    this.#until ??= 0;
    return opened;
  }

  /** Call within `commit`. See `Journal.push`. `schema`: schema of the records, if the pusher reported it. */
  push(records: readonly SyncRecord[], pusher: string, schema = 0): PushResult {
    const { meta } = this.#tables;
    const before = meta.head;
    const now = this.#surroundings.now();
    let conflicts = 0;
    for (const record of records) {
      raiseMinFence(this.#tables, record);
      conflicts += this.#tables.accept(record, pusher, now);
    }
    if (records.length > 0) meta.schema = Math.max(meta.schema, schema);
    return { before, last: meta.head, conflicts, ...(this.#reserve.isSpent && { low: true }) };
  }

  /** Call within `commit`. */
  takeLease(lease: LeaseRequest): number | null {
    return takeLease(this.#tables, lease, this.#surroundings.now());
  }

  /** Call within `commit`. */
  releaseLease(name: string, holder: string, fence: number): void {
    releaseLease(this.#tables, name, holder, fence);
  }

  /** Call within `commit`. */
  putBlob(hash: string, bytes: Uint8Array): void {
    putBlob(this.#tables, hash, bytes, this.#surroundings.now());
  }

  getBlob(hash: string): Uint8Array | undefined {
    const bytes = this.#reading(() => getBlob(this.#tables, hash));
    if (bytes !== 'damaged') return bytes;
    this.commit([() => this.#tables.drop('blobs', hash, this.#surroundings.now())]);
    return undefined;
  }

  /** See `Journal.pull`. */
  pull(after: number, limit: number, except?: string): { records: SequencedRecord[]; next: number; head: number } {
    const { page, head } = this.#reading(() => {
      this.#tables.reload();
      return { head: this.#tables.meta.head, page: this.#tables.page(after, limit, except ?? null) };
    });
    this.#removeDamaged(page.damaged);
    const lastSeq = page.last?.seq ?? 0;
    const next = page.full ? lastSeq : Math.max(head, lastSeq);
    // The era's end must be on disk before a replica reports that position.
    if (this.#until !== undefined && next > this.#until) this.commit([]);
    return { records: page.records, next, head: Math.max(head, lastSeq) };
  }

  /** Starts reading all records as of now. See `Journal.snapshot`. */
  snapshot(): JournalSnapshot {
    const snapshot = this.#reading(() => new JournalSnapshot(this.#surroundings.connect(this.path), this.#seal));
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  /** Returns the next page of a snapshot; empty at its end. */
  next(snapshot: JournalSnapshot): SequencedRecord[] {
    const { records, damaged } = this.#reading(() => snapshot.next());
    this.#removeDamaged(damaged);
    return records;
  }

  end(snapshot: JournalSnapshot): void {
    this.#snapshots.delete(snapshot);
    snapshot.close();
  }

  info(): JournalInfo {
    return this.#reading(() => getJournalInfo(this.#tables, this.path));
  }

  /** Checks whether space can be reserved again, another process has written, and the file still exists. */
  poll(): void {
    const { isBehind, meta } = this.#tables;
    if (this.#reserve.isSpent) this.#reserve.fill();
    // Another process's changes may already have been read.
    if (this.#isExchanged() || isBehind || meta.head !== this.#notifiedHead.head || meta.id !== this.#notifiedHead.id) this.commit([]);
  }

  /** Removes expired data. */
  prune(): void {
    this.commit([() => pruneExpired(this.#tables, this.#surroundings.now())]);
    this.#reserve.fill();
  }

  close(): void {
    for (const snapshot of this.#snapshots) snapshot.close();
    this.#tables.db.close();
  }

  #open(): JournalTables {
    const { path } = this;
    createPrivateFile(path);
    const live: JournalConnection = { db: this.#surroundings.connect(path), file: getFileIdentity(path) };
    try {
      prepareConnection(live.db, this.#seal);
      return new JournalTables(live.db, this.#seal);
    } catch (error) {
      try {
        if (isDamage(error)) return this.#replaced(live, error);
      } finally {
        if (live.db.isOpen) live.db.close();
      }
      throw error;
    }
  }

  #replaced(live: JournalConnection, damage: unknown): JournalTables {
    const reason = damage === undefined ? 'The journal’s file was deleted' : `The journal was damaged (${describeError(damage)})`;
    const tables = replaceJournal({ path: this.path, seal: this.#seal, surroundings: this.#surroundings, live, reason });
    this.#options.onreplaced?.(tables.notice() ?? reason);
    return tables;
  }

  #replace(damage?: unknown): void {
    this.#tables = this.#replaced({ db: this.#tables.db, file: this.#file }, damage);
    this.#file = getFileIdentity(this.path);
    this.#until = undefined;
    const { id, head } = this.#tables.meta;
    this.#notifiedHead = { id, head };
    this.#options.onchanged?.(head);
  }

  #isExchanged(): boolean {
    return getFileIdentity(this.path) !== this.#file;
  }

  /** Runs `work` on an intact file: a missing or damaged one is replaced before, or once that is detected. */
  #withIntactFile<T>(work: () => T): T {
    if (this.#isExchanged()) this.#replace();
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#replace(error);
      return work();
    }
  }

  #reading<T>(work: () => T): T {
    try {
      return this.#withIntactFile(work);
    } catch (error) {
      throw toJournalError(error, false);
    }
  }

  #transaction<T>(tasks: readonly (() => T)[]): CommitOutcome<T>[] {
    const tables = this.#tables;
    let outcomes;
    try {
      tables.begin();
      outcomes = tasks.map((task) => this.#task(task));
      const { head } = tables.meta;
      const until = this.#until;
      if (until !== undefined && until !== head) tables.sql('UPDATE eras SET until = ? WHERE id = ?').run(head, this.#era);
      tables.commit();
      if (until !== undefined) this.#until = head;
    } catch (error) {
      tables.rollback();
      throw error;
    }
    this.#emit();
    return outcomes;
  }

  #task<T>(task: () => T): CommitOutcome<T> {
    const tables = this.#tables;
    const meta = { ...tables.meta };
    tables.sql('SAVEPOINT task').run();
    try {
      const value = task();
      tables.sql('RELEASE task').run();
      return { value };
    } catch (error) {
      if (isDamage(error) || !tables.db.isTransaction) throw error;
      tables.db.exec('ROLLBACK TO task; RELEASE task');
      tables.meta = meta;
      return { error: toJournalError(error, true) };
    }
  }

  #emit(): void {
    const { id, head } = this.#tables.meta;
    const before = this.#notifiedHead;
    this.#notifiedHead = { id, head };
    if (id !== before.id) this.#options.onreplaced?.(this.#tables.notice() ?? 'The journal was replaced');
    if (head !== before.head) this.#options.onchanged?.(head);
  }

  /** Removes invalid rows. If that fails now, they are found again the next time. */
  #removeDamaged(damaged: readonly SQLOutputValue[]): void {
    if (damaged.length === 0) return;
    this.commit(damaged.map((seq) => () => this.#tables.drop('records', seq, this.#surroundings.now())));
  }
}
