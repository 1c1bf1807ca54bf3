import { MAX_JOURNAL_BATCH } from '#shared/ports/journal-batch.ts';
import { type SyncRecord, type Version, wins } from '#shared/sync/record.ts';

interface PendingSend {
  clock: string;
  isConfirmed: boolean;
}

/** Records that only this host has, and records that are being sent to the journal. */
export class Outbox {
  /** The newest unconfirmed version, by store and key. */
  readonly #unsent = new Map<string, Version>();
  /** Pending sends, in order. */
  #pendingSends: PendingSend[] = [];
  /** The newest clock value sent over this connection with everything sent before it confirmed. */
  pushed = '';

  /** Number of records that only this host has. */
  get size(): number {
    return this.#unsent.size;
  }

  /** Adds records that only this host had when it started. */
  addKeys(keys: readonly [store: string, key: string][]): void {
    for (const [store, key] of keys) this.#unsent.set(`${store}/${key}`, { clock: '' });
  }

  add(records: readonly SyncRecord[]): void {
    for (const record of records) {
      const { clock, fence } = record;
      this.#unsent.set(toRecordId(record), fence === undefined ? { clock } : { clock, fence });
    }
  }

  /** Registers records that are being sent. */
  startSend(records: readonly SyncRecord[]): PendingSend {
    this.add(records);
    const pendingSend = { clock: records.reduce((last, { clock }) => (clock > last ? clock : last), ''), isConfirmed: false };
    this.#pendingSends.push(pendingSend);
    return pendingSend;
  }

  /** Called when the journal has stored the records of a send. */
  confirm(pendingSend: PendingSend, records: readonly SyncRecord[]): void {
    this.removeConfirmed(records);
    pendingSend.isConfirmed = true;
    for (let first = this.#pendingSends[0]; first?.isConfirmed; first = this.#pendingSends[0]) {
      this.#pendingSends.shift();
      if (first.clock > this.pushed) this.pushed = first.clock;
    }
  }

  /** Called when the journal has these versions: local ones are not newer, or have lost against them. */
  removeConfirmed(records: readonly SyncRecord[]): void {
    for (const record of records) {
      const unsent = this.#unsent.get(toRecordId(record));
      if (unsent && !wins(unsent, record)) this.#unsent.delete(toRecordId(record));
    }
  }

  /** Called when the connection broke: all pending sends are dropped. */
  dropPendingSends(): void {
    this.#pendingSends = [];
    this.pushed = '';
  }

  /** Removes all entries: the data is gone, or all of it is confirmed. */
  clear(): void {
    this.#unsent.clear();
  }
}

const toRecordId = ({ store, key }: SyncRecord): string => `${store}/${key}`;

/** Splits records into batches of the size of one push. */
export function* splitIntoBatches<T extends Pick<SyncRecord, 'payload'>>(records: readonly T[]): Generator<T[]> {
  let batch: T[] = [];
  let chars = 0;
  for (const record of records) {
    const length = record.payload?.length ?? 0;
    if (batch.length > 0 && (batch.length === MAX_JOURNAL_BATCH.records || chars + length > MAX_JOURNAL_BATCH.chars)) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(record);
    chars += length;
  }
  if (batch.length > 0) yield batch;
}
