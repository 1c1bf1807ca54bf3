import { BATCH } from '#shared/ports/journal.ts';
import { type SyncRecord, type Version, wins } from '#shared/sync/record.ts';

interface Flight {
  clock: string;
  done: boolean;
}

/** Records that only this host has, and records that are being sent to the journal. */
export class Outbox {
  /** The newest unconfirmed version, by store and key. */
  readonly #dirty = new Map<string, Version>();
  /** Pending sends, in order. */
  #flights: Flight[] = [];
  /** The newest clock value sent over this connection with everything sent before it confirmed. */
  pushed = '';

  /** Number of records that only this host has. */
  get size(): number {
    return this.#dirty.size;
  }

  /** Adds records that only this host had when it started. */
  mark(keys: readonly [store: string, key: string][]): void {
    for (const [store, key] of keys) this.#dirty.set(`${store}/${key}`, { clock: '' });
  }

  add(records: readonly SyncRecord[]): void {
    for (const record of records) {
      const { clock, fence } = record;
      this.#dirty.set(idOf(record), fence === undefined ? { clock } : { clock, fence });
    }
  }

  /** Registers records that are being sent. */
  send(records: readonly SyncRecord[]): Flight {
    this.add(records);
    const flight = { clock: records.reduce((last, { clock }) => (clock > last ? clock : last), ''), done: false };
    this.#flights.push(flight);
    return flight;
  }

  /** Called when the journal has stored the records of a send. */
  confirm(flight: Flight, records: readonly SyncRecord[]): void {
    this.settle(records);
    flight.done = true;
    for (let first = this.#flights[0]; first?.done; first = this.#flights[0]) {
      this.#flights.shift();
      if (first.clock > this.pushed) this.pushed = first.clock;
    }
  }

  /** Called when the journal has these versions: local ones are not newer, or have lost against them. */
  settle(records: readonly SyncRecord[]): void {
    for (const record of records) {
      const dirty = this.#dirty.get(idOf(record));
      if (dirty && !wins(dirty, record)) this.#dirty.delete(idOf(record));
    }
  }

  /** Called when the connection broke: all pending sends are dropped. */
  land(): void {
    this.#flights = [];
    this.pushed = '';
  }

  /** Removes all entries: the data is gone, or all of it is confirmed. */
  clear(): void {
    this.#dirty.clear();
  }
}

const idOf = ({ store, key }: SyncRecord): string => `${store}/${key}`;

/** Splits records into batches of the size of one push. */
export function* batches<T extends Pick<SyncRecord, 'payload'>>(records: readonly T[]): Generator<T[]> {
  let batch: T[] = [];
  let chars = 0;
  for (const record of records) {
    const length = record.payload?.length ?? 0;
    if (batch.length > 0 && (batch.length === BATCH.records || chars + length > BATCH.chars)) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(record);
    chars += length;
  }
  if (batch.length > 0) yield batch;
}
