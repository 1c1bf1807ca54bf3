import type { Position, SequencedRecord } from '#shared/ports/journal.ts';
import { SYNC_STORES, type SyncRecord, type Version } from '#shared/sync/record.ts';
import type { HybridClock } from '#shared/sync/hybrid-clock.ts';
import type { ForeignChange, StorageFull, VaultReadOnly } from '../core/vault.ts';
import { applyRecords } from './apply.ts';
import type { Blobs } from './blobs.ts';
import { type Change, isPushed, ownReading } from './change-log.ts';
import { readValue, toRecord } from './records.ts';
import { putInto } from './requests.ts';
import type { StoreName } from './schema.ts';
import { SEALING_KEY, type SealingKey } from './sealing.ts';
import type { SecretWriter } from './secrets.ts';
import type { ChangeSink, Transactions } from './transaction.ts';

/** The stores with records of the vault (heads are stored with their sessions), and related ones. */
const VAULT = [
  ...Object.keys(SYNC_STORES).filter((store) => store !== 'heads'),
  'partials',
  'runSteps',
  'changes',
  'searchPending',
] as StoreName[];

export interface ReplicaDeps {
  transactions: Transactions;
  readings: HybridClock;
  blobs: Blobs;
  secrets: SecretWriter;
  origin: string;
  /** The newest clock value received from other hosts. */
  seen: string;
  /** See `ChangeSink.pushed`. */
  pushed: string;
  onfault: (error: unknown) => void;
}

/** The vault as one of several replicas: the interface between storage and the exchange with the journal. */
export class Replica implements ChangeSink {
  readonly origin: string;
  readonly blobs: Blobs;
  /** Set if the data is of a newer build: every write is refused with it. */
  refusal: VaultReadOnly | undefined;
  /** See `ChangeSink.refilling`. */
  refilling: Promise<void> | undefined;
  /** Set while the journal's disk is full: every write except deletions is refused with it. */
  full: StorageFull | undefined;
  /** Receives each local change while it commits; see `ChangeSink.changed`. */
  outlet: ((records: SyncRecord[]) => Promise<void>) | undefined;
  /** Called when the browser has cleared the data: everything must be read again. */
  oncleared: () => void = () => {};
  /**
   * Called when something passed to the outlet was not stored here; `before` returns the records that are stored instead. Never rejects.
   */
  onundone: (before: () => Promise<SyncRecord[]>) => Promise<void> = () => Promise.resolve();
  pushed: string;
  readonly #deps: ReplicaDeps;
  readonly #listeners = new Set<(changes: readonly ForeignChange[]) => void>();
  #seen: string;
  #vaultKeyId: string | undefined;
  /** Whether no local change was made since `isEmpty` returned true. */
  #untouched = false;
  /** Number of times that the browser has cleared the data: a position read before that is no longer valid. */
  #clearings = 0;

  constructor(deps: ReplicaDeps) {
    this.#deps = deps;
    this.origin = deps.origin;
    this.#seen = deps.seen;
    this.pushed = deps.pushed;
    this.blobs = deps.blobs;
  }

  /** Called when the browser has cleared the data, and the first write to the empty database has started. */
  cleared(): void {
    this.#clearings++;
    this.oncleared();
  }

  changed(changes: readonly Change[]): Promise<void> {
    this.#untouched = false;
    return this.outlet?.(changes.flatMap(({ row, value }) => toRecord(row, value, this.#vaultKeyId) ?? [])) ?? Promise.resolve();
  }

  undone(changes: readonly Change[]): Promise<void> {
    return this.onundone(() => this.#before(changes));
  }

  /**
   * Current records for changes that could not be committed, written as later changes. Empty if the browser has cleared the data, which
   * says nothing about the records.
   */
  async #before(changes: readonly Change[]): Promise<SyncRecord[]> {
    return this.#deps.transactions.read([...VAULT, 'keys', 'local'], async (tx) => {
      if (!(await tx.objectStore('local').get('position'))) return [];
      const values = await Promise.all(changes.map(({ row }) => readValue(tx, row.store, row.key)));
      // Ticks within the transaction, so that later local writes have later clock values.
      const clock = this.#deps.readings.tick();
      return changes.flatMap(
        ({ row: { deleted: _, ...row } }, index) => toRecord({ ...row, clock }, values[index], this.#vaultKeyId) ?? [],
      );
    });
  }

  onforeign(listener: (changes: readonly ForeignChange[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async position(): Promise<Position | null> {
    const row = await this.#deps.transactions.read(['local'], (tx) => tx.objectStore('local').get('position'));
    return row?.name === 'position' ? row.value : null;
  }

  /** Stores the read position; relaxed, since repeating work is harmless. Null removes it. */
  async keepPosition(position: Position | null): Promise<void> {
    const clearings = this.#clearings;
    await this.#deps.transactions.local([], async (tx) => {
      if (position && clearings !== this.#clearings) return;
      const local = tx.objectStore('local');
      if (!position) await Promise.all([local.delete('position'), local.delete('pushed')]);
      else await Promise.all([local.put({ name: 'position', value: position }), local.put({ name: 'pushed', value: this.pushed })]);
    });
  }

  /** Whether records before the position may have been skipped. */
  async isDoubtful(): Promise<boolean> {
    return (await this.#deps.transactions.read(['local'], (tx) => tx.objectStore('local').count('doubtful'))) > 0;
  }

  async markDoubtful(): Promise<void> {
    if (await this.isDoubtful()) return;
    await this.#deps.transactions.local([], async (tx) => void (await tx.objectStore('local').put({ name: 'doubtful' })));
  }

  /** Server that led a cluster's stream when the replica was complete; empty if unknown. */
  async soundUnder(): Promise<string> {
    const row = await this.#deps.transactions.read(['local'], (tx) => tx.objectStore('local').get('leader'));
    return row?.name === 'leader' ? row.value : '';
  }

  /** Stores that nothing was skipped under this leader. */
  async markSound(leader: string): Promise<void> {
    if (leader === (await this.soundUnder()) && !(await this.isDoubtful())) return;
    await this.#deps.transactions.local([], async (tx) => {
      const local = tx.objectStore('local');
      await Promise.all([local.put({ name: 'leader', value: leader }), local.delete('doubtful')]);
    });
  }

  /** The newest clock value of a local change; empty if there is none. */
  latest(): Promise<string> {
    return this.#deps.transactions.read(['changes'], ownReading);
  }

  /** Whether the vault is empty. */
  async isEmpty(): Promise<boolean> {
    this.#untouched = true;
    return (await this.#deps.transactions.read(['changes'], (tx) => tx.objectStore('changes').count())) === 0;
  }

  /** Keys of local changes that the journal does not have, oldest first; with `all`, of all records. */
  async pending(all = false): Promise<[store: string, key: string][]> {
    const changes = await this.#deps.transactions.read(['changes'], async (tx) => {
      const log = tx.objectStore('changes');
      if (!all) return log.index('own').getAll(IDBKeyRange.lowerBound([1, this.pushed], true));
      return (await log.getAll()).sort((a, b) => (a.clock < b.clock ? -1 : 1));
    });
    return changes.map(({ store, key }) => [store, key]);
  }

  /** Versions of local records, by store and key. */
  versions(keys: readonly [store: string, key: string][]): Promise<(Version | undefined)[]> {
    return this.#deps.transactions.read(['changes'], (tx) => Promise.all(keys.map((key) => tx.objectStore('changes').get(key))));
  }

  /** Number of records that a journal has, as far as known; deletions included. */
  countPushed(): Promise<number> {
    return this.#deps.transactions.read(['changes'], async (tx) => {
      const log = tx.objectStore('changes');
      const [all, pending] = await Promise.all([log.count(), log.index('own').count(IDBKeyRange.lowerBound([1, this.pushed], true))]);
      return all - pending;
    });
  }

  /** The newest versions of records, in the form in which they are sent; records that are not for other hosts are left out. */
  async records(keys: readonly [store: string, key: string][]): Promise<SyncRecord[]> {
    return this.#deps.transactions.read([...VAULT, 'keys'], async (tx) => {
      const records = await Promise.all(
        keys.map(async (key) => {
          const row = await tx.objectStore('changes').get(key);
          return row && toRecord(row, row.deleted ? undefined : await readValue(tx, row.store, row.key), this.#vaultKeyId);
        }),
      );
      return records.filter((record) => record !== undefined);
    });
  }

  /** Stores records from the journal, with the position after them (null: not yet). Resolves with records to send back. */
  async apply(records: readonly SequencedRecord[], position: Position | null, fresh: boolean): Promise<SyncRecord[]> {
    const { transactions, readings, onfault } = this.#deps;
    for (const { clock } of records) readings.receive(clock);
    this.#seen = records.reduce((seen, { clock }) => (clock > seen ? clock : seen), this.#seen);
    const clearings = this.#clearings;
    const { changes, copies, committed } = await transactions.local(VAULT, async (tx) => {
      const applied = await applyRecords(tx, records, { pushed: this.pushed, fresh: fresh && this.#untouched, onfault });
      putInto(tx, 'local', { name: 'seen', value: this.#seen });
      if (position && clearings === this.#clearings) await tx.objectStore('local').put({ name: 'position', value: position });
      return applied;
    });
    transactions.oncommitted(committed);
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes);
    return copies;
  }

  /**
   * Called if this replica was away for longer than deletions are remembered: records that came from the journal and are no longer in it
   * were deleted. `known`: records that the journal has.
   */
  async forget(known: ReadonlySet<string>): Promise<void> {
    const { transactions } = this.#deps;
    const rows = await transactions.read(['changes'], (tx) => tx.objectStore('changes').getAll());
    const gone = rows.filter((row) => isPushed(row, this.pushed) && !row.deleted && !known.has(`${row.store}/${row.key}`));
    if (gone.length === 0) return;
    const { committed } = await transactions.local(VAULT, async (tx) => {
      const log = tx.objectStore('changes');
      const forgetRows = (): Promise<unknown> => Promise.all(gone.map(({ store, key }) => log.delete([store, key])));
      await forgetRows();
      // Apply tombstones as if they had been received.
      const tombstones = gone.map(({ store, key, clock }): SequencedRecord => ({
        store,
        key,
        clock,
        seal: 'none',
        payload: null,
        deleted: true,
        seq: 1,
      }));
      const applied = await applyRecords(tx, tombstones, { pushed: this.pushed, fresh: false, onfault: this.#deps.onfault });
      await forgetRows();
      return applied;
    });
    transactions.oncommitted(committed);
    const changes = gone.map(({ store, key }) => ({ store, key, deleted: true }));
    for (const listener of this.#listeners) listener(changes);
  }

  /** Removes tombstones that the journal has and that are older than `wall`, in milliseconds since 1970: nobody asks for them any more. */
  async prune(wall: number): Promise<void> {
    const before = IDBKeyRange.bound([1], [1, String(Math.max(0, wall)).padStart(15, '0')]);
    await this.#deps.transactions.local(['changes'], async (tx) => {
      const log = tx.objectStore('changes');
      const rows = await log.index('tombstones').getAll(before);
      await Promise.all(rows.filter((row) => isPushed(row, this.pushed)).map(({ store, key }) => log.delete([store, key])));
    });
  }

  /** Seals secrets with the vault's key from now on, so that every replica can read them. */
  async adoptKey(vaultKey: string | SealingKey): Promise<void> {
    await this.#deps.secrets.adopt(vaultKey);
    const row = await this.#deps.transactions.read(['keys'], (tx) => tx.objectStore('keys').get(SEALING_KEY));
    this.#vaultKeyId = row?.keyId;
  }
}
