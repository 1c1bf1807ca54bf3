import { BATCH } from '#shared/ports/journal.ts';
import { type SyncRecord, type Version, wins } from '#shared/sync/record.ts';

interface Flight {
  clock: string;
  done: boolean;
}

/** Records that only this host has, and records being sent to the journal. */
export class Outbox {
  /** By store and key: the newest version that the journal has not confirmed. */
  readonly #dirty = new Map<string, Version>();
  /** In the order in which they were sent. */
  #flights: Flight[] = [];
  /** The newest reading among what was sent, with nothing sent before it unconfirmed; since the line is there. */
  pushed = '';

  /** Records that are here alone. */
  get size(): number {
    return this.#dirty.size;
  }

  /** Records that were here alone when the host started. */
  mark(keys: readonly [store: string, key: string][]): void {
    for (const [store, key] of keys) this.#dirty.set(`${store}/${key}`, { clock: '' });
  }

  add(records: readonly SyncRecord[]): void {
    for (const record of records) {
      const { clock, fence } = record;
      this.#dirty.set(idOf(record), fence === undefined ? { clock } : { clock, fence });
    }
  }

  /** Records are sent. */
  send(records: readonly SyncRecord[]): Flight {
    this.add(records);
    const flight = { clock: records.reduce((last, { clock }) => (clock > last ? clock : last), ''), done: false };
    this.#flights.push(flight);
    return flight;
  }

  /** The journal has them. */
  confirm(flight: Flight, records: readonly SyncRecord[]): void {
    this.settle(records);
    flight.done = true;
    for (let first = this.#flights[0]; first?.done; first = this.#flights[0]) {
      this.#flights.shift();
      if (first.clock > this.pushed) this.pushed = first.clock;
    }
  }

  /** The journal has these versions: what is here is not newer, or has lost against them. */
  settle(records: readonly SyncRecord[]): void {
    for (const record of records) {
      const dirty = this.#dirty.get(idOf(record));
      if (dirty && !wins(dirty, record)) this.#dirty.delete(idOf(record));
    }
  }

  /** The line broke: nothing is on its way any more. */
  land(): void {
    this.#flights = [];
    this.pushed = '';
  }

  /** Nothing is here alone: the data is gone, or all of it is confirmed. */
  clear(): void {
    this.#dirty.clear();
  }
}

const idOf = ({ store, key }: SyncRecord): string => `${store}/${key}`;

/** Batches that one push may carry. */
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
