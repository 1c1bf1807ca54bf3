import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import { repeated } from '../repeated.ts';
import type { SyncPort } from '../sync.ts';
import type { Asker, Collection, Vault } from '../vault.ts';

/** Time limit for an answer. */
export const EXPIRES_MS = 300_000;
/** Maximum numbers of stored and of waiting questions: only a model in a loop asks more. */
const KEPT = 500;
const MAX_WAITING = 100;
/** Interval of checks whether the host of a question has died. */
const LOOK_MS = 10_000;

export interface Question extends Asker {
  status: string;
  createdAt: number;
  expiresAt: number;
}

export interface QuestionsDeps<R extends Question> {
  store: Collection<R>;
  vault: Pick<Vault, 'origin' | 'replica'>;
  clock: Clock;
  sync: SyncPort | undefined;
  /** Name of these records, for the `NOT_FOUND` message. */
  what: string;
  idOf(record: R): string;
  /** Group whose waiting questions are limited together; all of them if undefined. */
  groupOf?(record: R): string;
  /** Whether its status can still change. */
  isOpen(record: R): boolean;
  /** The record after nobody has answered in time. */
  expired(record: R, at: number): R;
  /** The record after the host that asked has died; if it still waits, it belongs to this host from now on. */
  orphaned(record: R, at: number): R;
  /** Called when a record is new here or its status has changed from `before`, here or on another host. */
  told(record: R, before: string | undefined): void;
  /** Called when one of this host's own records is added or changed, by any host. `taken`: it belonged to another host until now. */
  own(record: R, taken: boolean): void;
  fault(error: unknown): unknown;
}

/**
 * Questions for a person, as records of the vault: any host may write the answer, and the one that asked acts on it. Only that host lets a
 * question expire; if it has died, one other host takes over its questions.
 */
export class Questions<R extends Question> {
  readonly #deps: QuestionsDeps<R>;
  /** Open records, as last reported. */
  readonly #open = new Map<string, R>();
  readonly #timers = new Map<string, () => void>();
  readonly #look = repeated(() => this.#lookOnce());
  #cancelLook: (() => void) | undefined;
  #unwatch = (): void => {};
  #stopped = false;

  constructor(deps: QuestionsDeps<R>) {
    this.#deps = deps;
  }

  /** Reads the stored records, reports waiting ones, and handles those that earlier hosts have left. */
  async start(): Promise<void> {
    const { store, isOpen, idOf, sync, told } = this.#deps;
    for (const record of await store.list()) {
      if (!isOpen(record)) continue;
      this.#open.set(idOf(record), record);
      if (record.status === 'pending') told(record, undefined);
    }
    if (sync) this.#unwatch = sync.watch(() => this.#open.size > 0 && void this.#look());
    await this.#look();
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
    this.#cancelLook?.();
    for (const cancel of this.#timers.values()) cancel();
  }

  /** All records, newest first. */
  async list(): Promise<R[]> {
    return newestFirst(await this.#deps.store.list());
  }

  async get(id: string): Promise<R> {
    return found(await this.#deps.store.get(id), id, this.#deps.what);
  }

  /** Adds a record of this host. Throws `RATE_LIMITED` if too many wait. */
  async add(record: R): Promise<void> {
    const { groupOf = () => '' } = this.#deps;
    const group = groupOf(record);
    const waiting = [...this.#open.values()].filter((each) => each.status === 'pending' && groupOf(each) === group).length;
    if (waiting >= MAX_WAITING)
      throw new RpcError('RATE_LIMITED', `${MAX_WAITING} ${this.#deps.what}s are already waiting. Approve or deny some first.`);
    await this.#deps.store.put(record);
    this.#note(record);
  }

  /** Replaces a record with the result of `change`; undefined leaves it unchanged. Throws `NOT_FOUND`. */
  async change(id: string, change: (before: R) => R | undefined): Promise<{ record: R; changed: boolean }> {
    let changed = false;
    const record = await this.#deps.store.update(id, (before) => {
      const after = before && change(before);
      changed = after !== undefined;
      return after;
    });
    const there = found(record, id, this.#deps.what);
    if (changed) this.#note(there);
    return { record: there, changed };
  }

  /** Answers a waiting question, or lets it expire if its time is over; other questions stay unchanged. */
  answer(id: string, answer: (before: R, at: number) => R): Promise<{ record: R; changed: boolean }> {
    const at = this.#deps.clock.now();
    return this.change(id, (before) => {
      if (before.status !== 'pending') return undefined;
      return before.expiresAt <= at ? this.#deps.expired(before, at) : answer(before, at);
    });
  }

  /** Called when other hosts have changed these records. */
  async heard(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const record = await this.#deps.store.get(id);
      if (!record) this.#forget(id);
      else if (this.#open.has(id) || this.#deps.isOpen(record) || this.#isOwn(record)) this.#note(record);
    }
    this.#lookLater();
  }

  /** Removes the oldest beyond the maximum number. `trim` may shorten one that is kept; `place` is its index from the newest. */
  async prune(trim: (record: R, place: number) => R | undefined = () => undefined): Promise<void> {
    const { store, idOf, isOpen } = this.#deps;
    for (const [place, record] of (await this.list()).entries()) {
      if (isOpen(record)) continue;
      if (place >= KEPT) await store.remove(idOf(record));
      else if (trim(record, place)) await store.update(idOf(record), (before) => before && trim(before, place));
    }
  }

  #isOwn({ origin }: R): boolean {
    return origin === this.#deps.vault.origin;
  }

  #note(record: R): void {
    if (this.#stopped) return;
    const { idOf, isOpen, told, own } = this.#deps;
    const id = idOf(record);
    const before = this.#open.get(id);
    this.#forget(id);
    if (isOpen(record)) this.#open.set(id, record);
    if (before?.status !== record.status) told(record, before?.status);
    if (!this.#isOwn(record)) return;
    if (record.status === 'pending') this.#expireLater(id, record);
    own(record, before !== undefined && !this.#isOwn(before));
  }

  #forget(id: string): void {
    this.#open.delete(id);
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  #expireLater(id: string, { expiresAt }: R): void {
    const { clock, fault, expired } = this.#deps;
    const cancel = clock.after(Math.max(0, expiresAt - clock.now()), () => {
      this.answer(id, expired).catch(fault);
    });
    this.#timers.set(id, cancel);
  }

  #lookLater(): void {
    if (this.#stopped || ![...this.#open.values()].some((record) => !this.#isOwn(record))) return;
    this.#cancelLook ??= this.#deps.clock.after(LOOK_MS, () => {
      this.#cancelLook = undefined;
      void this.#look();
    });
  }

  async #lookOnce(): Promise<void> {
    for (const [id, record] of [...this.#open]) {
      if (this.#stopped) return;
      if (this.#isOwn(record)) continue;
      try {
        if (await this.#mayTake(id, record)) await this.#take(id, record.origin);
      } catch (error) {
        this.#deps.fault(error);
      }
    }
    this.#lookLater();
  }

  async #take(id: string, from: string): Promise<void> {
    const { orphaned, isOpen, clock } = this.#deps;
    await this.change(id, (before) => (isOpen(before) && before.origin === from ? orphaned(before, clock.now()) : undefined));
  }

  /** Whether the record's host has died: no other host can have it, or the bridge confirms it. */
  async #mayTake(id: string, { origin, replica }: R): Promise<boolean> {
    const { sync, vault } = this.#deps;
    const state = sync?.state();
    if (!sync || !state || state.state === 'off' || (state.state === 'away' && replica === vault.replica)) return true;
    return state.role === 'holder' && (await sync.claim(`question-${id}`, origin)) !== null;
  }
}

function found<R>(record: R | undefined, id: string, what: string): R {
  if (record === undefined) throw new RpcError('NOT_FOUND', `No ${what} with id "${id}".`);
  return record;
}

export const newestFirst = <R extends { createdAt: number }>(records: readonly R[]): R[] =>
  [...records].sort((a, b) => b.createdAt - a.createdAt);
