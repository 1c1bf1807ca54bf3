import type { JournalPosition, SequencedRecord } from '#shared/ports/journal-port.ts';
import { SYNC_STORES, type SyncRecord, type Version } from '#shared/sync/record.ts';
import type { HybridClock } from '#shared/sync/hybrid-clock.ts';
import type { RemoteChange } from './vault-interface.ts';
import type { StorageFullError, VaultReadOnlyError } from './vault-errors.ts';
import { applyRecords } from './apply-records.ts';
import type { BlobStore } from './blob-store.ts';
import { type Change, isPushed, readLocalClock } from './change-log.ts';
import { readValue, toRecord } from './sync-records.ts';
import { putInStore } from './store-requests.ts';
import type { StoreName } from './vault-schema.ts';
import { SEALING_KEY, type SealingKey } from './secret-sealing.ts';
import type { SecretWriter } from './secret-store.ts';
import type { ChangeSink, Transactions } from './transactions.ts';

/** The stores with records of the vault (heads are stored with their sessions), and related ones. */
const VAULT_STORES = [
  ...Object.keys(SYNC_STORES).filter((store) => store !== 'heads'),
  'partials',
  'runSteps',
  'changes',
  'searchPending',
] as StoreName[];

interface ReplicaDeps {
  transactions: Transactions;
  hybridClock: HybridClock;
  blobs: BlobStore;
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
  readonly blobs: BlobStore;
  /** Set if the data is of a newer build: every write is refused with it. */
  refusal: VaultReadOnlyError | undefined;
  /** See `ChangeSink.refilling`. */
  refilling: Promise<void> | undefined;
  /** Set while the journal's disk is full: every write except deletions is refused with it. */
  diskFull: StorageFullError | undefined;
  /** Receives each local change while it commits; see `ChangeSink.handleChanges`. */
  forward: ((records: SyncRecord[]) => Promise<void>) | undefined;
  /** Called when the browser has cleared the data: everything must be read again. */
  oncleared: () => void = () => {};
  /**
   * Called when something passed to the outlet was not stored here; `before` returns the records that are stored instead. Never rejects.
   */
  onReverted: (before: () => Promise<SyncRecord[]>) => Promise<void> = () => Promise.resolve();
  pushed: string;
  readonly #deps: ReplicaDeps;
  readonly #remoteListeners = new Set<(changes: readonly RemoteChange[]) => void>();
  #newestSeen: string;
  #vaultKeyId: string | undefined;
  /** Whether no local change was made since `isEmpty` returned true. */
  #isUntouched = false;
  /** Number of times that the browser has cleared the data: a position read before that is no longer valid. */
  #clearCount = 0;

  constructor(deps: ReplicaDeps) {
    this.#deps = deps;
    this.origin = deps.origin;
    this.#newestSeen = deps.seen;
    this.pushed = deps.pushed;
    this.blobs = deps.blobs;
  }

  /** Called when the browser has cleared the data, and the first write to the empty database has started. */
  onDataCleared(): void {
    this.#clearCount++;
    this.oncleared();
  }

  handleChanges(changes: readonly Change[]): Promise<void> {
    this.#isUntouched = false;
    return this.forward?.(changes.flatMap(({ row, value }) => toRecord(row, value, this.#vaultKeyId) ?? [])) ?? Promise.resolve();
  }

  handleReverted(changes: readonly Change[]): Promise<void> {
    return this.onReverted(() => this.#readCurrentRecords(changes));
  }

  /**
   * Current records for changes that could not be committed, written as later changes. Empty if the browser has cleared the data, which
   * says nothing about the records.
   */
  async #readCurrentRecords(changes: readonly Change[]): Promise<SyncRecord[]> {
    return this.#deps.transactions.read([...VAULT_STORES, 'keys', 'local'], async (tx) => {
      if (!(await tx.objectStore('local').get('position'))) return [];
      const values = await Promise.all(changes.map(({ row }) => readValue(tx, row.store, row.key)));
      // Ticks within the transaction, so that later local writes have later clock values.
      const clock = this.#deps.hybridClock.tick();
      return changes.flatMap(
        ({ row: { deleted: _, ...row } }, index) => toRecord({ ...row, clock }, values[index], this.#vaultKeyId) ?? [],
      );
    });
  }

  onRemoteChanges(listener: (changes: readonly RemoteChange[]) => void): () => void {
    this.#remoteListeners.add(listener);
    return () => this.#remoteListeners.delete(listener);
  }

  async readPosition(): Promise<JournalPosition | null> {
    const row = await this.#deps.transactions.read(['local'], (tx) => tx.objectStore('local').get('position'));
    return row?.name === 'position' ? row.value : null;
  }

  /** Stores the read position; relaxed, since repeating work is harmless. Null removes it. */
  async savePosition(position: JournalPosition | null): Promise<void> {
    const clearCount = this.#clearCount;
    await this.#deps.transactions.writeLocal([], async (tx) => {
      if (position && clearCount !== this.#clearCount) return;
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
    await this.#deps.transactions.writeLocal([], async (tx) => void (await tx.objectStore('local').put({ name: 'doubtful' })));
  }

  /** Server that led a cluster's stream when the replica was complete; empty if unknown. */
  async getVerifiedLeader(): Promise<string> {
    const row = await this.#deps.transactions.read(['local'], (tx) => tx.objectStore('local').get('leader'));
    return row?.name === 'leader' ? row.value : '';
  }

  /** Stores that nothing was skipped under this leader. */
  async markVerified(leader: string): Promise<void> {
    if (leader === (await this.getVerifiedLeader()) && !(await this.isDoubtful())) return;
    await this.#deps.transactions.writeLocal([], async (tx) => {
      const local = tx.objectStore('local');
      await Promise.all([local.put({ name: 'leader', value: leader }), local.delete('doubtful')]);
    });
  }

  /** The newest clock value of a local change; empty if there is none. */
  readLatestClock(): Promise<string> {
    return this.#deps.transactions.read(['changes'], readLocalClock);
  }

  /** Whether the vault is empty. */
  async isEmpty(): Promise<boolean> {
    this.#isUntouched = true;
    return (await this.#deps.transactions.read(['changes'], (tx) => tx.objectStore('changes').count())) === 0;
  }

  /** Keys of local changes that the journal does not have, oldest first; with `all`, of all records. */
  async readPendingKeys(all = false): Promise<[store: string, key: string][]> {
    const changes = await this.#deps.transactions.read(['changes'], async (tx) => {
      const log = tx.objectStore('changes');
      if (!all) return log.index('own').getAll(IDBKeyRange.lowerBound([1, this.pushed], true));
      return (await log.getAll()).sort((a, b) => (a.clock < b.clock ? -1 : 1));
    });
    return changes.map(({ store, key }) => [store, key]);
  }

  /** Versions of local records, by store and key. */
  readVersions(keys: readonly [store: string, key: string][]): Promise<(Version | undefined)[]> {
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
  async readRecords(keys: readonly [store: string, key: string][]): Promise<SyncRecord[]> {
    return this.#deps.transactions.read([...VAULT_STORES, 'keys'], async (tx) => {
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
  async apply(records: readonly SequencedRecord[], position: JournalPosition | null, isFresh: boolean): Promise<SyncRecord[]> {
    const { transactions, hybridClock, onfault } = this.#deps;
    for (const { clock } of records) hybridClock.receive(clock);
    this.#newestSeen = records.reduce((newest, { clock }) => (clock > newest ? clock : newest), this.#newestSeen);
    const clearCount = this.#clearCount;
    const { changes, copies, committed } = await transactions.writeLocal(VAULT_STORES, async (tx) => {
      const result = await applyRecords(tx, records, { pushed: this.pushed, fresh: isFresh && this.#isUntouched, onfault });
      putInStore(tx, 'local', { name: 'seen', value: this.#newestSeen });
      if (position && clearCount === this.#clearCount) await tx.objectStore('local').put({ name: 'position', value: position });
      return result;
    });
    transactions.oncommitted(committed);
    if (changes.length > 0) for (const listener of this.#remoteListeners) listener(changes);
    return copies;
  }

  /**
   * Called if this replica was away for longer than deletions are remembered: records that came from the journal and are no longer in it
   * were deleted. `known`: records that the journal has.
   */
  async deleteMissing(known: ReadonlySet<string>): Promise<void> {
    const { transactions } = this.#deps;
    const rows = await transactions.read(['changes'], (tx) => tx.objectStore('changes').getAll());
    const deletedRows = rows.filter((row) => isPushed(row, this.pushed) && !row.deleted && !known.has(`${row.store}/${row.key}`));
    if (deletedRows.length === 0) return;
    const { committed } = await transactions.writeLocal(VAULT_STORES, async (tx) => {
      const log = tx.objectStore('changes');
      const deleteRows = (): Promise<unknown> => Promise.all(deletedRows.map(({ store, key }) => log.delete([store, key])));
      await deleteRows();
      // Apply tombstones as if they had been received.
      const tombstones = deletedRows.map(({ store, key, clock }): SequencedRecord => ({
        store,
        key,
        clock,
        seal: 'none',
        payload: null,
        deleted: true,
        seq: 1,
      }));
      const result = await applyRecords(tx, tombstones, { pushed: this.pushed, fresh: false, onfault: this.#deps.onfault });
      await deleteRows();
      return result;
    });
    transactions.oncommitted(committed);
    const changes = deletedRows.map(({ store, key }) => ({ store, key, deleted: true }));
    for (const listener of this.#remoteListeners) listener(changes);
  }

  /** Removes tombstones that the journal has and that are older than `wall`, in milliseconds since 1970: nobody asks for them any more. */
  async pruneTombstones(wall: number): Promise<void> {
    const before = IDBKeyRange.bound([1], [1, String(Math.max(0, wall)).padStart(15, '0')]);
    await this.#deps.transactions.writeLocal(['changes'], async (tx) => {
      const log = tx.objectStore('changes');
      const rows = await log.index('tombstones').getAll(before);
      await Promise.all(rows.filter((row) => isPushed(row, this.pushed)).map(({ store, key }) => log.delete([store, key])));
    });
  }

  /** Seals secrets with the vault's key from now on, so that every replica can read them. */
  async adoptVaultKey(vaultKey: string | SealingKey): Promise<void> {
    await this.#deps.secrets.adoptVaultKey(vaultKey);
    const row = await this.#deps.transactions.read(['keys'], (tx) => tx.objectStore('keys').get(SEALING_KEY));
    this.#vaultKeyId = row?.keyId;
  }
}
