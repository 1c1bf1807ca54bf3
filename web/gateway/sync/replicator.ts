import { CallsClosed } from '#shared/link/calls.ts';
import { BATCH } from '#shared/ports/journal.ts';
import { RESERVE_MIN_FREE } from '#shared/sync/disk-space.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Clock } from '../core/clock.ts';
import type { SyncPort } from '../core/sync.ts';
import { StorageFull, VaultReadOnly } from '../core/vault.ts';
import type { Replica } from '../storage/vault.ts';
import { Exchange } from './exchange.ts';
import type { JournalLine } from './journal-line.ts';
import { Outbox } from './outbox.ts';

/** Time for which a write waits for the journal before it counts as stored locally only. */
const ACKNOWLEDGE_MS = 5_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
/** Minimum interval between two writes of the position: repeating work after a crash is harmless. */
const KEEP_MS = 1_000;
/** Maximum time for which a stream waits until the host has read what it needs. */
const REACH_MS = 10_000;
/** Interval of checks of the journal's disk while it is full. */
const FULL_MS = 2_000;
/** Maximum time for which writes wait for lost data to be read again. */
const REFILL_MS = 10_000;
const RUN_LEASE_MS = 60_000;
/** Period for which deletions are remembered, as in the journal. */
const TOMBSTONES_MS = 90 * 24 * 3_600_000;
/** Number of records below which no progress is shown. */
const MANY = 1_000;

const OUTDATED = 'This browser runs an older version of Perch than its data, so nothing was saved. Reload to update.';
const UNDONE = 'A change couldn’t be saved in this browser. Reading the journal again.';
const CLEARED = 'The browser has cleared its data. Reading it again.';

export interface ReplicatorOptions {
  replica: Replica;
  clock: Clock;
  /** Schema version of this build's records. */
  schema: number;
  /** Display name of this host. */
  name: string;
  onfault: (error: unknown) => void;
  /** Reports the cluster that shares the bridge's vault: see `ExchangeOptions`. */
  onbridge?: (vaultKey: string, cluster: unknown) => void;
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
  #line: JournalLine | undefined;
  #exchange: Exchange | undefined;
  #shared: boolean | undefined;
  #leaving = false;
  #retryMs = FIRST_RETRY_MS;
  #cancelRetry = (): void => {};
  #cancelKeep: (() => void) | undefined;

  /** Pushes in progress. */
  readonly #pushes = new Set<Promise<void>>();

  constructor(options: ReplicatorOptions) {
    this.#options = options;
    this.#replica = options.replica;
    this.#replica.outlet = (records) => this.#outlet(records);
    this.#replica.oncleared = () => this.#cleared();
    this.#replica.onundone = (before) => this.#undone(before).catch(options.onfault);
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
    return (await this.#line?.call('journal.info', {}).catch(() => null)) ?? null;
  }

  async cluster(): ReturnType<SyncPort['cluster']> {
    const facts = (await this.#line?.call('journal.cluster', {}).catch(() => null))?.cluster;
    return facts ? { ...facts, unsent: facts.unsent + this.#outbox.size } : null;
  }

  shared(): boolean | undefined {
    return this.#shared;
  }

  async claim(runId: string, executor: string): Promise<number | null> {
    const name = `run:${runId}`;
    const lease = await this.#line?.call('lease.take', { name, presumed: executor, ttlMs: RUN_LEASE_MS }).catch(() => null);
    return lease?.fence ?? null;
  }

  async lease(name: string, ttlMs: number, settled = false): Promise<number | null> {
    if (settled) {
      await Promise.all(this.#pushes);
      // A push failed.
      if (this.#state.state !== 'synced') return null;
    }
    return (await this.#line?.call('lease.take', { name, ttlMs, settled }).catch(() => null))?.fence ?? null;
  }

  async release(name: string, fence: number): Promise<void> {
    await this.#line?.call('lease.release', { name, fence }).catch(() => null);
  }

  async signal(to: string | undefined, payload: unknown): Promise<boolean> {
    const sent = await this.#line?.call('host.signal', { ...(to === undefined ? {} : { to }), payload }).catch(() => null);
    return sent?.delivered ?? false;
  }

  /** Resumes after a restart: a vault that had a journal still has one, even if it is not available now. Call before using the vault. */
  async start(): Promise<void> {
    if (await this.#replica.position()) await this.expectJournal();
  }

  /** Called if this browser is linked to a bridge, which may not be available now. */
  async expectJournal(): Promise<void> {
    if (this.#state.state !== 'off') return;
    this.#tell({ state: 'away' });
    this.#outbox.mark(await this.#replica.pending());
    this.#tell({});
  }

  /** Detaches from the journal for ever: the data stays here only. */
  async disown(): Promise<void> {
    this.#line?.close();
    this.#line = undefined;
    this.#stop();
    this.#outbox.clear();
    this.#replica.blobs.fetch = undefined;
    this.#replica.pushed = '';
    await this.#replica.keepPosition(null);
    this.#tell({ state: 'off', role: 'none', progress: null, problem: null, lastSyncAt: null });
  }

  /** Uses a connection to the journal until it closes. */
  attach(line: JournalLine): void {
    this.#line = line;
    this.#retryMs = FIRST_RETRY_MS;
    const current = (): boolean => this.#line === line;
    line.on('journal.changed', ({ head }) => current() && this.#exchange?.heard(head));
    line.on('journal.replaced', ({ reason }) => current() && this.#fail(this.#exchange, new Error(reason)));
    line.on('host.role', ({ holder }) => current() && this.#tell({ role: holder ? 'holder' : 'replica' }));
    line.on('host.signal', ({ from, payload }) => {
      for (const listener of this.#signals) listener(from, payload);
    });
    this.#replica.blobs.fetch = (hash) => line.getBlob(hash);
    void line.closed.then(() => current() && this.#detached());
    void this.#catchUp(line);
  }

  async reached(seq: number): Promise<void> {
    if (!this.#exchange || this.#exchange.seq >= seq) return;
    const late = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(REACH_MS, late.resolve);
    await Promise.race([this.#exchange.reached(seq), late.promise]);
    cancel();
  }

  /** Asks another host to become active, since this one will end soon. */
  async leave(): Promise<void> {
    this.#leaving = true;
    await this.#line?.call('host.leave', {}).catch(() => {});
  }

  /** Cancels leaving. */
  async stay(): Promise<void> {
    if (!this.#leaving) return;
    this.#leaving = false;
    if (this.#state.state === 'synced') await this.#line?.call('journal.ready', { seq: this.#exchange?.seq ?? 0 }).catch(() => {});
  }

  /** Stores the position and closes the connection. */
  async close(): Promise<void> {
    await this.#keep().catch(() => {});
    this.#cancelRetry();
    this.#line?.close();
  }

  #detached(): void {
    this.#line = undefined;
    this.#leaving = false;
    this.#stop();
    this.#replica.blobs.fetch = undefined;
    this.#tell({ state: this.#state.state === 'outdated' ? 'outdated' : 'away', role: 'none', progress: null, problem: null });
  }

  #stop(): void {
    this.#exchange?.end();
    this.#exchange = undefined;
    this.#outbox.land();
    this.#cancelRetry();
  }

  /** Handles a failure of the journal on an open connection: opens it again after a while. */
  #fail(exchange: Exchange | undefined, error: unknown): void {
    const line = this.#line;
    if (!line || this.#exchange !== exchange || error instanceof CallsClosed) return;
    this.#stop();
    this.#tell({ state: 'failing', progress: null, problem: error instanceof Error ? error.message : String(error) });
    this.#cancelRetry = this.#options.clock.after(this.#retryMs, () => void this.#catchUp(line));
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }

  async #catchUp(line: JournalLine): Promise<void> {
    const { clock, schema, name } = this.#options;
    // Do not let the state flicker while retries keep failing.
    if (this.#state.state !== 'failing') this.#tell({ state: 'catching-up' });
    const exchange: Exchange = new Exchange({
      ...{ line, replica: this.#replica, outbox: this.#outbox, schema, name },
      onbridge: (vaultKey, cluster) => this.#options.onbridge?.(vaultKey, cluster),
      onprogress: (done, total) => this.#progress(done, total),
      onlow: () => this.#holdBack(line),
      onfault: (error) => this.#fail(exchange, error),
    });
    this.#stop();
    this.#exchange = exchange;
    try {
      const current = await exchange.open();
      if (this.#exchange !== exchange) return;
      this.#shared = exchange.shared;
      this.#replica.refusal = current ? undefined : new VaultReadOnly(OUTDATED);
      if (!current) return this.#tell({ state: 'outdated', role: 'none', progress: null, problem: OUTDATED });
      await this.#keep();
      await line.call('journal.ready', { seq: exchange.seq });
      this.#retryMs = FIRST_RETRY_MS;
      this.#tell({ state: 'synced', progress: null, problem: null, lastSyncAt: clock.now() });
      line.lookAgain?.((records) => exchange.take(records));
      await this.#replica.prune(clock.now() - TOMBSTONES_MS);
    } catch (error) {
      this.#fail(exchange, error);
      // If the journal fails, this host can still serve the local data.
      if (this.#line === line && !(error instanceof CallsClosed)) await line.call('journal.ready', { seq: exchange.seq }).catch(() => {});
    }
  }

  /**
   * Refuses writes until the journal's disk has space. The browser's database is usually on the same disk, and Chromium may lose all of it
   * if it cannot write; so acknowledged data must be in the journal, and the browser must stop writing.
   */
  #holdBack(line: JournalLine): void {
    if (this.#replica.full) return;
    this.#replica.full = new StorageFull('The disk is full. Nothing was saved.');
    const look = async (): Promise<void> => {
      const info = this.#line === line ? await line.call('journal.info', {}).catch(() => null) : null;
      const isFull = info?.journal.free !== null && info?.journal.free !== undefined && info.journal.free < RESERVE_MIN_FREE;
      if (isFull) this.#options.clock.after(FULL_MS, () => void look());
      else this.#replica.full = undefined;
    };
    this.#options.clock.after(FULL_MS, () => void look());
  }

  /** See `ChangeSink.changed`. */
  #outlet(records: SyncRecord[]): Promise<void> {
    const exchange = this.#exchange;
    if (exchange?.live) {
      const pushed = this.#push(exchange, records).finally(() => this.#pushes.delete(pushed));
      this.#pushes.add(pushed);
      return this.#line?.isBehind ? Promise.resolve() : pushed;
    }
    this.#outbox.add(records);
    this.#tell({});
    return Promise.resolve();
  }

  /** Resolves when the journal has the records, or cannot store them now; never rejects. */
  async #push(exchange: Exchange, records: readonly SyncRecord[]): Promise<void> {
    const pushed = exchange.push(records).catch((error: unknown) => this.#fail(exchange, error));
    // A remote journal is not waited for: it reports its own failures.
    if (this.#line?.isBehind) return pushed;
    const late = Promise.withResolvers<void>();
    // A change of many batches (deleting a long chat) gets a multiple of the time.
    const patience = ACKNOWLEDGE_MS * Math.ceil(records.length / BATCH.records);
    const cancel = this.#options.clock.after(patience, () => {
      this.#fail(exchange, new Error('The journal is not responding'));
      late.resolve();
    });
    await Promise.race([pushed, late.promise]);
    cancel();
  }

  #progress(done: number, total: number): void {
    this.#state.lastSyncAt = this.#options.clock.now();
    if (this.#state.state === 'catching-up' && total > MANY) this.#tell({ progress: { done, total } });
    this.#cancelKeep ??= this.#options.clock.after(KEEP_MS, () => {
      void this.#keep().catch(this.#options.onfault);
      // Reports the pending count and the time of the last exchange.
      this.#tell({});
    });
  }

  async #keep(): Promise<void> {
    this.#cancelKeep?.();
    this.#cancelKeep = undefined;
    await this.#exchange?.settle();
    const position = this.#exchange?.position;
    if (position) await this.#replica.keepPosition(position);
  }

  /** Delays writes until the data has been read again. */
  #refill(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      cancel();
      unwatch();
      if (this.#replica.refilling === promise) this.#replica.refilling = undefined;
      resolve();
    };
    const cancel = this.#options.clock.after(REFILL_MS, end);
    const unwatch = this.watch(() => this.#state.state !== 'failing' && this.#state.state !== 'catching-up' && end());
    this.#replica.refilling = promise;
  }

  /** The browser has deleted the data: all of it is read again. */
  #cleared(): void {
    if (this.#line) this.#refill();
    this.#outbox.clear();
    this.#replica.pushed = '';
    this.#fail(this.#exchange, new Error(CLEARED));
  }

  /**
   * The journal may have records of undone writes: they are reverted there with `before`. If that fails, they come back, since this host
   * receives its own records again when it reads from the start.
   */
  async #undone(before: () => Promise<SyncRecord[]>): Promise<void> {
    const exchange = this.#exchange;
    if (exchange?.live) await this.#takeBack(exchange, before).catch(this.#options.onfault);
    this.#outbox.clear();
    if (exchange) this.#fail(exchange, new Error(UNDONE));
    await this.#replica.keepPosition(null);
    this.#outbox.mark(await this.#replica.pending());
    this.#tell({});
  }

  async #takeBack(exchange: Exchange, before: () => Promise<SyncRecord[]>): Promise<void> {
    // After the writes that are reverted.
    await Promise.all(this.#pushes);
    const records = exchange.live ? await before() : [];
    if (records.length > 0) await this.#push(exchange, records);
  }

  #tell(change: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#watchers) listener();
  }
}
