import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import { repeated } from '../repeated.ts';
import type { SyncPort } from '../sync.ts';
import type { Asker, Collection, Vault } from '../vault.ts';

/** How long a person may take (decisions, "Cron, tools, exec, plans"). */
export const EXPIRES_MS = 300_000;
/** Questions that are kept, and that may wait at a time: more come from a model that has lost itself. */
const KEPT = 500;
const MAX_WAITING = 100;
/** How often it is asked whether the host of a question is gone. */
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
  /** What they are, for the sentence that there is none. */
  what: string;
  idOf(record: R): string;
  /** Questions of one group are limited together; all of them if left out. */
  groupOf?(record: R): string;
  /** Something may still become of it. */
  isOpen(record: R): boolean;
  /** The record as it is when nobody has answered in time. */
  expired(record: R, at: number): R;
  /** The record as it is when the host that asked is gone; where it still waits then, it is this host's from now on. */
  orphaned(record: R, at: number): R;
  /** It is new here, or its status is not what it was (`before`); here or on another host. */
  told(record: R, before: string | undefined): void;
  /** One of this host's own is there, or has changed, whoever changed it. `taken`: it was another host's until now. */
  own(record: R, taken: boolean): void;
  fault(error: unknown): unknown;
}

/**
 * What waits for a person's word, as records of the vault: any host may write the answer, the one that asked acts on it. It alone says when the time is over;
 * where it is gone, one host takes its questions over (design.md, "One vault").
 */
export class Questions<R extends Question> {
  readonly #deps: QuestionsDeps<R>;
  /** Those that are open, as they were told. */
  readonly #open = new Map<string, R>();
  readonly #timers = new Map<string, () => void>();
  readonly #look = repeated(() => this.#lookOnce());
  #cancelLook: (() => void) | undefined;
  #unwatch = (): void => {};
  #stopped = false;

  constructor(deps: QuestionsDeps<R>) {
    this.#deps = deps;
  }

  /** Reads what there is, tells of what waits, and sees to what earlier hosts have left. */
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

  /** The newest first. */
  async list(): Promise<R[]> {
    return newestFirst(await this.#deps.store.list());
  }

  async get(id: string): Promise<R> {
    return found(await this.#deps.store.get(id), id, this.#deps.what);
  }

  /** A new one, of this host. `RATE_LIMITED` where too many wait. */
  async add(record: R): Promise<void> {
    const { groupOf = () => '' } = this.#deps;
    const group = groupOf(record);
    const waiting = [...this.#open.values()].filter((each) => each.status === 'pending' && groupOf(each) === group).length;
    if (waiting >= MAX_WAITING)
      throw new RpcError('RATE_LIMITED', `${MAX_WAITING} ${this.#deps.what}s are already waiting. Approve or deny some first.`);
    await this.#deps.store.put(record);
    this.#note(record);
  }

  /** Puts what `change` makes of it in its place; undefined leaves it. `NOT_FOUND` where there is none. */
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

  /** Answers one that waits, or lets it expire where its time is over; one that does not wait stays as it is. */
  answer(id: string, answer: (before: R, at: number) => R): Promise<{ record: R; changed: boolean }> {
    const at = this.#deps.clock.now();
    return this.change(id, (before) => {
      if (before.status !== 'pending') return undefined;
      return before.expiresAt <= at ? this.#deps.expired(before, at) : answer(before, at);
    });
  }

  /** Other hosts have changed these. */
  async heard(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const record = await this.#deps.store.get(id);
      if (!record) this.#forget(id);
      else if (this.#open.has(id) || this.#deps.isOpen(record) || this.#isOwn(record)) this.#note(record);
    }
    this.#lookLater();
  }

  /** Takes away the oldest beyond those that are kept. `trim` may make less of one that is kept, by its place from the newest. */
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

  /** Its host is gone: nobody else can have it, or the bridge says so. */
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
