import { EventEmitter } from 'node:events';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import { mergeRecord } from '#shared/sync/conflict.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Journal, JournalEvents, OpenedJournal, ReplicaRequest } from '../../journal/journal.ts';

interface Row extends SequencedRecord {
  pusher: string;
}

/** A minimal journal in memory. */
export class FakeJournal extends EventEmitter<JournalEvents> implements Journal {
  readonly path = '/nowhere/journal.sqlite';
  head = 0;
  schema = 1;
  /** If set, rejects every call with it. */
  failure: Error | undefined;
  /** Simulates a full disk. */
  low = false;
  /** Pushes wait for this promise. */
  gate: Promise<unknown> = Promise.resolve();
  /** Number of pushes received. */
  pushes = 0;
  readonly rows = new Map<string, Row>();
  readonly blobs = new Map<string, Uint8Array>();
  /** Arguments of `takeLease` calls. */
  readonly leaseRequests: Parameters<Journal['takeLease']>[0][] = [];
  readonly released: unknown[] = [];
  closed = false;
  readonly #schemas = new Map<string, number>();

  async open({ origin, schema }: ReplicaRequest): Promise<OpenedJournal> {
    this.#check();
    this.#schemas.set(origin, schema);
    const position = { journal: 'fake', era: 'one', seq: 0 };
    return { position, head: this.head, schema: this.schema, wantsAll: false, stale: false };
  }

  async pull(after: number, limit: number, except?: string): ReturnType<Journal['pull']> {
    this.#check();
    const found = [...this.rows.values()].filter(({ seq }) => seq > after).sort((a, b) => a.seq - b.seq);
    const page = found.slice(0, limit);
    const next = page.length < found.length ? (page.at(-1)?.seq ?? after) : this.head;
    const records = page.filter(({ pusher }) => pusher !== except).map(({ pusher: _, ...record }) => record);
    return { records, next, head: this.head };
  }

  async *snapshot(): AsyncGenerator<SequencedRecord> {
    this.#check();
    const rows = [...this.rows.values()].sort((a, b) => (`${a.store}/${a.key}` < `${b.store}/${b.key}` ? -1 : 1));
    for (const { pusher: _, ...record } of rows) yield record;
  }

  async push(records: readonly SyncRecord[], pusher: string): ReturnType<Journal['push']> {
    this.#check();
    this.pushes++;
    await this.gate;
    const before = this.head;
    let conflicts = 0;
    for (const record of records) {
      const { stored, copy } = mergeRecord(this.rows.get(`${record.store}/${record.key}`), record);
      if (copy) conflicts++;
      if (stored) this.#put(stored, pusher);
      if (copy) this.#put(copy, '');
    }
    if (records.length > 0) this.schema = Math.max(this.schema, this.#schemas.get(pusher) ?? 0);
    if (this.head > before) this.emit('changed', this.head);
    return { before, last: this.head, conflicts, ...(this.low && { low: true }) };
  }

  async takeLease(lease: Parameters<Journal['takeLease']>[0]): Promise<number | null> {
    this.#check();
    this.leaseRequests.push(lease);
    const { present, presumed, holder } = lease;
    const isPresent = presumed !== undefined && presumed !== holder && (present === null || present.includes(presumed));
    return isPresent ? null : this.leaseRequests.length;
  }

  async releaseLease(...args: [name: string, holder: string, fence: number]): Promise<void> {
    this.released.push(args);
  }

  async putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    this.#check();
    this.blobs.set(hash, bytes);
  }

  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    this.#check();
    return this.blobs.get(hash);
  }

  async info(): Promise<JournalInfo> {
    const { path, head, schema, rows, blobs } = this;
    const counts = { records: rows.size, tombstones: 0, blobs: blobs.size, blobBytes: 0 };
    return { id: 'fake', path, bytes: 0, head, schema, ...counts, changedAt: null, notices: [], free: null };
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Copies have no pusher. */
  #put(record: SyncRecord, pusher: string): void {
    this.rows.set(`${record.store}/${record.key}`, { ...record, seq: ++this.head, pusher });
  }

  #check(): void {
    if (this.failure) throw this.failure;
  }
}
