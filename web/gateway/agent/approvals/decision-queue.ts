import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Clock } from '#shared/async/clock.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { RequestOrigin, Collection, Vault } from '../../storage/vault-interface.ts';

/** Time limit for an answer. */
export const APPROVAL_TIMEOUT_MS = 300_000;
/** Maximum numbers of stored and of waiting questions: only a model in a loop asks more. */
const MAX_STORED = 500;
const MAX_WAITING = 100;
/** Interval of checks whether the host of a question has died. */
const CHECK_INTERVAL_MS = 10_000;

interface DecisionRecord extends RequestOrigin {
  status: string;
  createdAt: number;
  expiresAt: number;
}

interface DecisionQueueDeps<R extends DecisionRecord> {
  store: Collection<R>;
  vault: Pick<Vault, 'origin' | 'replica'>;
  clock: Clock;
  sync: SyncPort | undefined;
  /** Name of these records, for the `NOT_FOUND` message. */
  recordName: string;
  getId(record: R): string;
  /** Group whose waiting questions are limited together; all of them if undefined. */
  getGroup?(record: R): string;
  /** Whether its status can still change. */
  isOpen(record: R): boolean;
  /** The record after nobody has answered in time. */
  toExpired(record: R, at: number): R;
  /** The record after the host that asked has died; if it still waits, it belongs to this host from now on. */
  toOrphaned(record: R, at: number): R;
  /** Called when a record is new here or its status has changed from `before`, here or on another host. */
  onStatusChange(record: R, before: string | undefined): void;
  /** Called when one of this host's own records is added or changed, by any host. `isClaimed`: it belonged to another host until now. */
  onOwnChange(record: R, isClaimed: boolean): void;
  fault(error: unknown): unknown;
}

/**
 * Questions for a person, as records of the vault: any host may write the answer, and the one that asked acts on it. Only that host lets a
 * question expire; if it has died, one other host takes over its questions.
 */
export class DecisionQueue<R extends DecisionRecord> {
  readonly #deps: DecisionQueueDeps<R>;
  /** Open records, as last reported. */
  readonly #open = new Map<string, R>();
  readonly #timers = new Map<string, () => void>();
  readonly #check = coalesce(() => this.#checkOnce());
  #cancelCheck: (() => void) | undefined;
  #unwatch = (): void => {};
  #stopped = false;

  constructor(deps: DecisionQueueDeps<R>) {
    this.#deps = deps;
  }

  /** Reads the stored records, reports waiting ones, and handles those that earlier hosts have left. */
  async start(): Promise<void> {
    const { store, isOpen, getId, sync, onStatusChange } = this.#deps;
    for (const record of await store.list()) {
      if (!isOpen(record)) continue;
      this.#open.set(getId(record), record);
      if (record.status === 'pending') onStatusChange(record, undefined);
    }
    if (sync) this.#unwatch = sync.watch(() => this.#open.size > 0 && void this.#check());
    await this.#check();
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
    this.#cancelCheck?.();
    for (const cancel of this.#timers.values()) cancel();
  }

  /** All records, newest first. */
  async list(): Promise<R[]> {
    return sortNewestFirst(await this.#deps.store.list());
  }

  async get(id: string): Promise<R> {
    return requireRecord(await this.#deps.store.get(id), id, this.#deps.recordName);
  }

  /** Adds a record of this host. Throws `RATE_LIMITED` if too many wait. */
  async add(record: R): Promise<void> {
    const { getGroup = () => '' } = this.#deps;
    const group = getGroup(record);
    const pendingCount = [...this.#open.values()].filter((record) => record.status === 'pending' && getGroup(record) === group).length;
    if (pendingCount >= MAX_WAITING)
      throw new RpcError('RATE_LIMITED', `${MAX_WAITING} ${this.#deps.recordName}s are already waiting. Approve or deny some first.`);
    await this.#deps.store.put(record);
    this.#track(record);
  }

  /** Replaces a record with the result of `change`; undefined leaves it unchanged. Throws `NOT_FOUND`. */
  async change(id: string, change: (before: R) => R | undefined): Promise<{ record: R; changed: boolean }> {
    let changed = false;
    const record = await this.#deps.store.update(id, (before) => {
      const after = before && change(before);
      changed = after !== undefined;
      return after;
    });
    const current = requireRecord(record, id, this.#deps.recordName);
    if (changed) this.#track(current);
    return { record: current, changed };
  }

  /** Answers a waiting question, or lets it expire if its time is over; other questions stay unchanged. */
  answer(id: string, answer: (before: R, at: number) => R): Promise<{ record: R; changed: boolean }> {
    const now = this.#deps.clock.now();
    return this.change(id, (before) => {
      if (before.status !== 'pending') return undefined;
      return before.expiresAt <= now ? this.#deps.toExpired(before, now) : answer(before, now);
    });
  }

  /** Called when other hosts have changed these records. */
  async refresh(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const record = await this.#deps.store.get(id);
      if (!record) this.#forget(id);
      else if (this.#open.has(id) || this.#deps.isOpen(record) || this.#isOwn(record)) this.#track(record);
    }
    this.#scheduleCheck();
  }

  /** Removes the oldest beyond the maximum number. `trim` may shorten one that is kept; `index` is its index from the newest. */
  async prune(trim: (record: R, index: number) => R | undefined = () => undefined): Promise<void> {
    const { store, getId, isOpen } = this.#deps;
    for (const [index, record] of (await this.list()).entries()) {
      if (isOpen(record)) continue;
      if (index >= MAX_STORED) await store.remove(getId(record));
      else if (trim(record, index)) await store.update(getId(record), (before) => before && trim(before, index));
    }
  }

  #isOwn({ origin }: R): boolean {
    return origin === this.#deps.vault.origin;
  }

  #track(record: R): void {
    if (this.#stopped) return;
    const { getId, isOpen, onStatusChange, onOwnChange } = this.#deps;
    const id = getId(record);
    const before = this.#open.get(id);
    this.#forget(id);
    if (isOpen(record)) this.#open.set(id, record);
    if (before?.status !== record.status) onStatusChange(record, before?.status);
    if (!this.#isOwn(record)) return;
    if (record.status === 'pending') this.#scheduleExpiry(id, record);
    onOwnChange(record, before !== undefined && !this.#isOwn(before));
  }

  #forget(id: string): void {
    this.#open.delete(id);
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  #scheduleExpiry(id: string, { expiresAt }: R): void {
    const { clock, fault, toExpired } = this.#deps;
    const cancel = clock.after(Math.max(0, expiresAt - clock.now()), () => {
      this.answer(id, toExpired).catch(fault);
    });
    this.#timers.set(id, cancel);
  }

  #scheduleCheck(): void {
    if (this.#stopped || ![...this.#open.values()].some((record) => !this.#isOwn(record))) return;
    this.#cancelCheck ??= this.#deps.clock.after(CHECK_INTERVAL_MS, () => {
      this.#cancelCheck = undefined;
      void this.#check();
    });
  }

  async #checkOnce(): Promise<void> {
    for (const [id, record] of [...this.#open]) {
      if (this.#stopped) return;
      if (this.#isOwn(record)) continue;
      try {
        if (await this.#canAdopt(id, record)) await this.#takeOver(id, record.origin);
      } catch (error) {
        this.#deps.fault(error);
      }
    }
    this.#scheduleCheck();
  }

  async #takeOver(id: string, from: string): Promise<void> {
    const { toOrphaned, isOpen, clock } = this.#deps;
    await this.change(id, (before) => (isOpen(before) && before.origin === from ? toOrphaned(before, clock.now()) : undefined));
  }

  /** Whether the record's host has died: no other host can have it, or the bridge confirms it. */
  async #canAdopt(id: string, { origin, replica }: R): Promise<boolean> {
    const { sync, vault } = this.#deps;
    const state = sync?.state();
    if (!sync || !state || state.state === 'off' || (state.state === 'away' && replica === vault.replica)) return true;
    return state.role === 'holder' && (await sync.claim(`question-${id}`, origin)) !== null;
  }
}

function requireRecord<R>(record: R | undefined, id: string, noun: string): R {
  if (record === undefined) throw new RpcError('NOT_FOUND', `No ${noun} with id "${id}".`);
  return record;
}

export const sortNewestFirst = <R extends { createdAt: number }>(records: readonly R[]): R[] =>
  [...records].sort((a, b) => b.createdAt - a.createdAt);
