import { Backoff } from '#shared/async/backoff.ts';
import { CallsClosed } from '#shared/link/port-calls.ts';
import { MAX_JOURNAL_BATCH } from '#shared/ports/journal-batch.ts';
import { MIN_RESERVE_FREE_BYTES } from '#shared/sync/disk-space.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { SyncPort } from './sync-port.ts';
import { StorageFullError, VaultReadOnlyError } from '../storage/vault-errors.ts';
import type { Replica } from '../storage/open-vault.ts';
import { JournalExchange } from './journal-exchange.ts';
import type { JournalConnection } from './journal-connection.ts';
import { Outbox } from './outbox.ts';

/** Time for which a write waits for the journal before it counts as stored locally only. */
const ACKNOWLEDGE_TIMEOUT_MS = 5_000;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Minimum interval between two writes of the position: repeating work after a crash is harmless. */
const POSITION_SAVE_MS = 1_000;
/** Maximum time for which a stream waits until the host has read what it needs. */
const POSITION_TIMEOUT_MS = 10_000;
/** Interval of checks of the journal's disk while it is full. */
const DISK_CHECK_MS = 2_000;
/** Maximum time for which writes wait for lost data to be read again. */
const REFILL_TIMEOUT_MS = 10_000;
const RUN_LEASE_MS = 60_000;
/** Period for which deletions are remembered, as in the journal. */
const TOMBSTONE_RETENTION_MS = 90 * 24 * 3_600_000;
/** Number of records below which no progress is shown. */
const MIN_PROGRESS_RECORDS = 1_000;

const OUTDATED_MESSAGE = 'This browser runs an older version of Perch than its data, so nothing was saved. Reload to update.';
const UNDONE_MESSAGE = 'A change couldn’t be saved in this browser. Reading the journal again.';
const CLEARED_MESSAGE = 'The browser has cleared its data. Reading it again.';

interface ReplicatorOptions {
  replica: Replica;
  clock: Clock;
  /** Schema version of this build's records. */
  schema: number;
  /** Display name of this host. */
  name: string;
  onfault: (error: unknown) => void;
  /** Reports the cluster that shares the bridge's vault: see `ExchangeOptions`. */
  onBridgeVault?: (vaultKey: string, cluster: unknown) => void;
}

/**
 * Keeps this host's replica of the vault and the journal in sync. On attaching it reads missing records, writes those that the journal
 * lacks, and reports that it can serve; from then on each change is sent while it commits, and changes of others are applied as they
 * arrive.
 */
export class Replicator implements SyncPort {
  readonly #options: ReplicatorOptions;
  readonly #replica: Replica;
  readonly #outbox = new Outbox();
  readonly #watchers = new Set<() => void>();
  readonly #signals = new Set<(from: string, payload: unknown) => void>();
  #state: SyncState = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };
  #connection: JournalConnection | undefined;
  #exchange: JournalExchange | undefined;
  #shared: boolean | undefined;
  #isLeaving = false;
  readonly #backoff = new Backoff(MIN_RETRY_MS, MAX_RETRY_MS);
  #cancelRetry = (): void => {};
  #cancelSave: (() => void) | undefined;

  /** Pushes in progress. */
  readonly #pushes = new Set<Promise<void>>();

  constructor(options: ReplicatorOptions) {
    this.#options = options;
    this.#replica = options.replica;
    this.#replica.forward = (records) => this.#forward(records);
    this.#replica.oncleared = () => this.#onCleared();
    this.#replica.onReverted = (before) => this.#onUndone(before).catch(options.onfault);
  }

  state(): SyncState {
    return { ...this.#state, pending: this.#outbox.size };
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  onsignal(listener: (from: string, payload: unknown) => void): () => void {
    this.#signals.add(listener);
    return () => this.#signals.delete(listener);
  }

  async info(): ReturnType<SyncPort['info']> {
    return (await this.#connection?.call('journal.info', {}).catch(() => null)) ?? null;
  }

  async cluster(): ReturnType<SyncPort['cluster']> {
    const facts = (await this.#connection?.call('journal.cluster', {}).catch(() => null))?.cluster;
    return facts ? { ...facts, unsent: facts.unsent + this.#outbox.size } : null;
  }

  isShared(): boolean | undefined {
    return this.#shared;
  }

  async claim(runId: string, executor: string): Promise<number | null> {
    const name = `run:${runId}`;
    const lease = await this.#connection?.call('lease.take', { name, presumed: executor, ttlMs: RUN_LEASE_MS }).catch(() => null);
    return lease?.fence ?? null;
  }

  async lease(name: string, ttlMs: number, isSettled = false): Promise<number | null> {
    if (isSettled) {
      await Promise.all(this.#pushes);
      // A push failed.
      if (this.#state.state !== 'synced') return null;
    }
    return (await this.#connection?.call('lease.take', { name, ttlMs, settled: isSettled }).catch(() => null))?.fence ?? null;
  }

  async release(name: string, fence: number): Promise<void> {
    await this.#connection?.call('lease.release', { name, fence }).catch(() => null);
  }

  async signal(to: string | undefined, payload: unknown): Promise<boolean> {
    const sent = await this.#connection?.call('host.signal', { ...(to === undefined ? {} : { to }), payload }).catch(() => null);
    return sent?.delivered ?? false;
  }

  /** Resumes after a restart: a vault that had a journal still has one, even if it is not available now. Call before using the vault. */
  async start(): Promise<void> {
    if (await this.#replica.readPosition()) await this.expectJournal();
  }

  /** Called if this browser is linked to a bridge, which may not be available now. */
  async expectJournal(): Promise<void> {
    if (this.#state.state !== 'off') return;
    this.#setState({ state: 'away' });
    this.#outbox.addKeys(await this.#replica.readPendingKeys());
    this.#setState({});
  }

  /** Detaches from the journal for ever: the data stays here only. */
  async forgetJournal(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
    this.#stop();
    this.#outbox.clear();
    this.#replica.blobs.fetchMissing = undefined;
    this.#replica.pushed = '';
    await this.#replica.savePosition(null);
    this.#setState({ state: 'off', role: 'none', progress: null, problem: null, lastSyncAt: null });
  }

  /** Uses a connection to the journal until it closes. */
  attach(connection: JournalConnection): void {
    this.#connection = connection;
    this.#backoff.reset();
    const isCurrent = (): boolean => this.#connection === connection;
    connection.on('journal.changed', ({ head }) => isCurrent() && this.#exchange?.onJournalChange(head));
    connection.on('journal.replaced', ({ reason }) => isCurrent() && this.#fail(this.#exchange, new Error(reason)));
    connection.on('host.role', ({ holder }) => isCurrent() && this.#setState({ role: holder ? 'holder' : 'replica' }));
    connection.on('host.signal', ({ from, payload }) => {
      for (const listener of this.#signals) listener(from, payload);
    });
    this.#replica.blobs.fetchMissing = (hash) => connection.getBlob(hash);
    void connection.closed.then(() => isCurrent() && this.#onDetached());
    void this.#catchUp(connection);
  }

  async waitForPosition(seq: number): Promise<void> {
    if (!this.#exchange || this.#exchange.seq >= seq) return;
    const timeout = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(POSITION_TIMEOUT_MS, timeout.resolve);
    await Promise.race([this.#exchange.waitForPosition(seq), timeout.promise]);
    cancel();
  }

  /** Asks another host to become active, since this one will end soon. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#connection?.call('host.leave', {}).catch(() => {});
  }

  /** Cancels leaving. */
  async cancelLeave(): Promise<void> {
    if (!this.#isLeaving) return;
    this.#isLeaving = false;
    if (this.#state.state === 'synced') await this.#connection?.call('journal.ready', { seq: this.#exchange?.seq ?? 0 }).catch(() => {});
  }

  /** Stores the position and closes the connection. */
  async close(): Promise<void> {
    await this.#savePosition().catch(() => {});
    this.#cancelRetry();
    this.#connection?.close();
  }

  #onDetached(): void {
    this.#connection = undefined;
    this.#isLeaving = false;
    this.#stop();
    this.#replica.blobs.fetchMissing = undefined;
    this.#setState({ state: this.#state.state === 'outdated' ? 'outdated' : 'away', role: 'none', progress: null, problem: null });
  }

  #stop(): void {
    this.#exchange?.end();
    this.#exchange = undefined;
    this.#outbox.dropPendingSends();
    this.#cancelRetry();
  }

  /** Handles a failure of the journal on an open connection: opens it again after a while. */
  #fail(exchange: JournalExchange | undefined, error: unknown): void {
    const connection = this.#connection;
    if (!connection || this.#exchange !== exchange || error instanceof CallsClosed) return;
    this.#stop();
    this.#setState({ state: 'failing', progress: null, problem: error instanceof Error ? error.message : String(error) });
    this.#cancelRetry = this.#options.clock.after(this.#backoff.next(), () => void this.#catchUp(connection));
  }

  async #catchUp(connection: JournalConnection): Promise<void> {
    const { clock, schema, name } = this.#options;
    // Do not let the state flicker while retries keep failing.
    if (this.#state.state !== 'failing') this.#setState({ state: 'catching-up' });
    const exchange: JournalExchange = new JournalExchange({
      ...{ connection, replica: this.#replica, outbox: this.#outbox, schema, name },
      onBridgeVault: (vaultKey, cluster) => this.#options.onBridgeVault?.(vaultKey, cluster),
      onprogress: (done, total) => this.#progress(done, total),
      onDiskLow: () => this.#pauseWrites(connection),
      onfault: (error) => this.#fail(exchange, error),
    });
    this.#stop();
    this.#exchange = exchange;
    try {
      const isCurrent = await exchange.open();
      if (this.#exchange !== exchange) return;
      this.#shared = exchange.isShared;
      this.#replica.refusal = isCurrent ? undefined : new VaultReadOnlyError(OUTDATED_MESSAGE);
      if (!isCurrent) return this.#setState({ state: 'outdated', role: 'none', progress: null, problem: OUTDATED_MESSAGE });
      await this.#savePosition();
      await connection.call('journal.ready', { seq: exchange.seq });
      this.#backoff.reset();
      this.#setState({ state: 'synced', progress: null, problem: null, lastSyncAt: clock.now() });
      connection.recheck?.((records) => exchange.applyMissed(records));
      await this.#replica.pruneTombstones(clock.now() - TOMBSTONE_RETENTION_MS);
    } catch (error) {
      this.#fail(exchange, error);
      // If the journal fails, this host can still serve the local data.
      if (this.#connection === connection && !(error instanceof CallsClosed))
        await connection.call('journal.ready', { seq: exchange.seq }).catch(() => {});
    }
  }

  /**
   * Refuses writes until the journal's disk has space. The browser's database is usually on the same disk, and Chromium may lose all of it
   * if it cannot write; so acknowledged data must be in the journal, and the browser must stop writing.
   */
  #pauseWrites(connection: JournalConnection): void {
    if (this.#replica.diskFull) return;
    this.#replica.diskFull = new StorageFullError('The disk is full. Nothing was saved.');
    const checkDisk = async (): Promise<void> => {
      const info = this.#connection === connection ? await connection.call('journal.info', {}).catch(() => null) : null;
      const isFull = info?.journal.free !== null && info?.journal.free !== undefined && info.journal.free < MIN_RESERVE_FREE_BYTES;
      if (isFull) this.#options.clock.after(DISK_CHECK_MS, () => void checkDisk());
      else this.#replica.diskFull = undefined;
    };
    this.#options.clock.after(DISK_CHECK_MS, () => void checkDisk());
  }

  /** See `ChangeSink.changed`. */
  #forward(records: SyncRecord[]): Promise<void> {
    const exchange = this.#exchange;
    if (exchange?.isLive) {
      const push = this.#push(exchange, records).finally(() => this.#pushes.delete(push));
      this.#pushes.add(push);
      return this.#connection?.isBehind ? Promise.resolve() : push;
    }
    this.#outbox.add(records);
    this.#setState({});
    return Promise.resolve();
  }

  /** Resolves when the journal has the records, or cannot store them now; never rejects. */
  async #push(exchange: JournalExchange, records: readonly SyncRecord[]): Promise<void> {
    const push = exchange.push(records).catch((error: unknown) => this.#fail(exchange, error));
    // A remote journal is not waited for: it reports its own failures.
    if (this.#connection?.isBehind) return push;
    const timeout = Promise.withResolvers<void>();
    // A change of many batches (deleting a long chat) gets a multiple of the time.
    const timeoutMs = ACKNOWLEDGE_TIMEOUT_MS * Math.ceil(records.length / MAX_JOURNAL_BATCH.records);
    const cancel = this.#options.clock.after(timeoutMs, () => {
      this.#fail(exchange, new Error('The journal is not responding'));
      timeout.resolve();
    });
    await Promise.race([push, timeout.promise]);
    cancel();
  }

  #progress(done: number, total: number): void {
    this.#state.lastSyncAt = this.#options.clock.now();
    if (this.#state.state === 'catching-up' && total > MIN_PROGRESS_RECORDS) this.#setState({ progress: { done, total } });
    this.#cancelSave ??= this.#options.clock.after(POSITION_SAVE_MS, () => {
      void this.#savePosition().catch(this.#options.onfault);
      // Reports the pending count and the time of the last exchange.
      this.#setState({});
    });
  }

  async #savePosition(): Promise<void> {
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    await this.#exchange?.updatePushed();
    const position = this.#exchange?.position;
    if (position) await this.#replica.savePosition(position);
  }

  /** Delays writes until the data has been read again. */
  #startRefill(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      cancel();
      unwatch();
      if (this.#replica.refilling === promise) this.#replica.refilling = undefined;
      resolve();
    };
    const cancel = this.#options.clock.after(REFILL_TIMEOUT_MS, end);
    const unwatch = this.watch(() => this.#state.state !== 'failing' && this.#state.state !== 'catching-up' && end());
    this.#replica.refilling = promise;
  }

  /** The browser has deleted the data: all of it is read again. */
  #onCleared(): void {
    if (this.#connection) this.#startRefill();
    this.#outbox.clear();
    this.#replica.pushed = '';
    this.#fail(this.#exchange, new Error(CLEARED_MESSAGE));
  }

  /**
   * The journal may have records of undone writes: they are reverted there with `before`. If that fails, they come back, since this host
   * receives its own records again when it reads from the start.
   */
  async #onUndone(before: () => Promise<SyncRecord[]>): Promise<void> {
    const exchange = this.#exchange;
    if (exchange?.isLive) await this.#revert(exchange, before).catch(this.#options.onfault);
    this.#outbox.clear();
    if (exchange) this.#fail(exchange, new Error(UNDONE_MESSAGE));
    await this.#replica.savePosition(null);
    this.#outbox.addKeys(await this.#replica.readPendingKeys());
    this.#setState({});
  }

  async #revert(exchange: JournalExchange, before: () => Promise<SyncRecord[]>): Promise<void> {
    // After the writes that are reverted.
    await Promise.all(this.#pushes);
    const records = exchange.isLive ? await before() : [];
    if (records.length > 0) await this.#push(exchange, records);
  }

  #setState(change: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#watchers) listener();
  }
}
