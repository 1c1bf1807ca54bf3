import type { Clock } from '#shared/async/clock.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import { computeBackoff } from '#shared/async/backoff.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { DeliveryRecord } from '../../storage/records/delivery-record.ts';
import type { SentReceipt } from '../channels/channel-adapter.ts';
import { PlatformError } from '../channels/platform-request.ts';
import type { JobCoordinator } from '../cron/job-coordinator.ts';
import type { Carrier } from './carrier.ts';
import { combineDigest } from './digest.ts';
import { type DeliveryStore, toCarrierKey } from './delivery-store.ts';
import { EarlyReceipts, toReceiptKey, toState } from './receipts.ts';

/** Lease of the host that sends. */
const LEASE = 'deliveries';
/** Time after which the lease is renewed. */
const LEASE_RENEW_MS = 15_000;
/** Minimum delay before another attempt. */
const MIN_RETRY_MS = 3_000;
/** Delay before checking again while another host sends. */
const WAIT_MS = 5_000;
/** Delay before a piece that may have been sent is looked up: a platform may still be working on it. */
const LOOKUP_DELAY_MS = 30_000;
/** Period in which the platform is asked about such a piece. */
const MAX_LOOKUP_MS = 24 * 3_600_000;
/** Time after which an accepted delivery without a receipt of its arrival is unconfirmed. */
const RECEIPT_MS = 24 * 3_600_000;

type Change = Partial<DeliveryRecord> & Pick<DeliveryRecord, 'state'>;

interface WorkerDeps {
  store: DeliveryStore;
  coordinator: JobCoordinator;
  clock: Clock;
  fault(error: unknown): RpcError;
}

/** Sends waiting deliveries, those to one target one after another, and finds out what became of interrupted ones. */
export class DeliveryWorker {
  readonly #deps: WorkerDeps;
  readonly #carriers = new Map<DeliveryRecord['target']['kind'], Carrier>();
  /** Deliveries that have not ended, by target. */
  readonly #queues = new Map<string, { ids: Set<string>; run: () => Promise<void>; cancel: () => void }>();
  /** Deliveries by the platform's ids of their pieces, while receipts may arrive. */
  readonly #bySentId = new Map<string, string>();
  readonly #early = new EarlyReceipts();
  /** Times until which a platform asked to send nothing. */
  readonly #pausedUntil = new Map<string, number>();
  readonly #stopping = new AbortController();
  #started = false;
  #lease: { fence: number; at: number } | undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
  }

  registerCarrier(kind: DeliveryRecord['target']['kind'], carrier: Carrier): void {
    this.#carriers.set(kind, carrier);
  }

  stop(): void {
    this.#stopping.abort();
    for (const { cancel } of this.#queues.values()) cancel();
  }

  /** Begins to send. */
  start(): void {
    this.#started = true;
    this.wakeAll();
  }

  /** Called when this host may have become the one that sends. */
  wakeAll(): void {
    for (const record of this.#deps.store.open.values()) this.wake(record);
  }

  /** Called when a delivery was stored. */
  wake(record: DeliveryRecord): void {
    if (this.#stopping.signal.aborted || !this.#started) return;
    const queue = this.#getQueue(toCanonicalJson(record.target));
    if (!this.#deps.store.open.has(record.id)) queue.ids.delete(record.id);
    else {
      queue.ids.add(record.id);
      for (const sentId of record.sentIds) this.#bySentId.set(toReceiptKey(toCarrierKey(record), sentId), record.id);
    }
    void queue.run();
  }

  receive(carrierKey: string, receipts: readonly SentReceipt[]): void {
    for (const receipt of receipts) {
      const key = toReceiptKey(carrierKey, receipt.sentId);
      const id = this.#bySentId.get(key);
      if (id === undefined) this.#early.add(key, receipt);
      else this.#apply(id, receipt).catch(this.#deps.fault);
    }
  }

  #getQueue(key: string): { ids: Set<string>; run: () => Promise<void>; cancel: () => void } {
    const existing = this.#queues.get(key);
    if (existing) return existing;
    const ids = new Set<string>();
    const queue = { ids, cancel: (): void => {}, run: coalesce(() => this.#run(key)) };
    this.#queues.set(key, queue);
    return queue;
  }

  /** Handles everything in a queue that is due, and sets a timer for the rest. Never rejects. */
  async #run(key: string): Promise<void> {
    const { clock, coordinator, fault } = this.#deps;
    const queue = this.#getQueue(key);
    queue.cancel();
    const schedule = (ms: number): void => {
      queue.cancel();
      queue.cancel = clock.after(ms, () => void queue.run());
    };
    try {
      for (;;) {
        if (this.#stopping.signal.aborted || !coordinator.isActive()) return;
        const next = this.#findNext(queue.ids);
        if (!next) return;
        const wait = next.dueAt - clock.now();
        if (wait > 0) return schedule(Math.min(wait, 3_600_000));
        const fence = await this.#acquireLease();
        if (fence === null) return schedule(WAIT_MS);
        await this.#handle(next.record, fence);
        if (this.#deps.store.shouldPrune) await this.#deps.store.prune();
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      fault(error);
      schedule(WAIT_MS);
    }
  }

  /** The delivery that is due first. */
  #findNext(ids: ReadonlySet<string>): { record: DeliveryRecord; dueAt: number } | undefined {
    const { store, clock } = this.#deps;
    const now = clock.now();
    let next: { record: DeliveryRecord; dueAt: number } | undefined;
    for (const id of ids) {
      const record = store.open.get(id);
      if (!record) continue;
      const sendAt = Math.max(record.nextAt ?? record.createdAt, this.#pausedUntil.get(toCarrierKey(record)) ?? 0);
      // Without approval it only expires.
      const dueAt = record.waitsFor === 'approval' ? record.expiresAt : sendAt;
      if (!next || dueAt < next.dueAt) next = { record, dueAt };
      if (next.dueAt <= now) return next;
    }
    return next;
  }

  async #acquireLease(): Promise<number | null> {
    const { coordinator, clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#lease && now - this.#lease.at < LEASE_RENEW_MS) return this.#lease.fence;
    const fence = await coordinator.claim(LEASE);
    this.#lease = fence === null ? undefined : { fence, at: now };
    return fence;
  }

  async #handle(record: DeliveryRecord, fence: number): Promise<void> {
    const { store, clock, coordinator } = this.#deps;
    const { id, state, waitsFor, target } = record;
    const now = clock.now();
    if (state === 'accepted')
      return this.#change(record, { state: 'unconfirmed', error: 'It was accepted, but nothing says that it arrived.' });
    if (state === 'waiting' && now >= record.expiresAt)
      return this.#change(record, { state: 'unsent', error: record.error ?? 'It expired before it could be sent.' });
    const carrier = this.#carriers.get(target.kind);
    if (!carrier) return this.#retry(record, `Messages to a ${target.kind} can’t be sent at the moment.`);
    if (state === 'sending') return this.#lookUp(record, carrier);
    if (waitsFor === 'digest' && (await combineDigest(store, record, now))) return;
    const started = await store.change(id, ({ nextAt: _, waitsFor: __, ...before }) =>
      before.state === 'waiting' ? { ...before, state: 'sending', attempts: before.attempts + 1, updatedAt: now } : undefined,
    );
    if (!started) return;
    // The next host must know of the attempt, in case this one dies during it.
    if (await coordinator.canStart(LEASE, fence)) return this.#send(started, carrier);
    this.#lease = undefined;
    return this.#change(started, { state: 'waiting', nextAt: now + WAIT_MS });
  }

  async #send(record: DeliveryRecord, carrier: Carrier): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.#stopping;
    let current = record;
    try {
      const result = await carrier.send(record, {
        sentIds: record.sentIds,
        signal,
        onSent: async (sentId) => {
          current = await this.#addSentId(current, sentId);
          if ((await this.#acquireLease()) === null) throw new PlatformError('Another gateway sends the rest.', { isUnsent: true });
        },
      });
      return await this.#settle(current.id, result);
    } catch (error) {
      // The next start finds out what became of it.
      if (signal.aborted) return;
      if (!(error instanceof PlatformError)) return await this.#doubt(current, carrier, this.#deps.fault(error).message);
      if (error.retryAfterMs !== undefined) this.#pausedUntil.set(toCarrierKey(record), clock.now() + error.retryAfterMs);
      if (error.refused) return await this.#change(current, { state: 'unsent', error: error.message });
      if (error.isUnsent) return await this.#retry(current, error.message, error.retryAfterMs);
      return await this.#doubt(current, carrier, error.message);
    }
  }

  /** A piece may have been sent: looks it up later if the platform can be asked. */
  #doubt(record: DeliveryRecord, carrier: Carrier, error: string): Promise<void> {
    return carrier.find
      ? this.#change(record, { state: 'sending', nextAt: this.#deps.clock.now() + LOOKUP_DELAY_MS, error })
      : this.#change(record, { state: 'unconfirmed', error });
  }

  async #lookUp(record: DeliveryRecord, carrier: Carrier): Promise<void> {
    const { clock } = this.#deps;
    const { signal } = this.#stopping;
    const now = clock.now();
    // After a crash: the request of the host before may still be under way.
    if (record.nextAt === undefined && carrier.find && now - record.updatedAt < LOOKUP_DELAY_MS)
      return this.#change(record, { state: 'sending', nextAt: record.updatedAt + LOOKUP_DELAY_MS });
    let found: string | null | undefined;
    try {
      found = await carrier.find?.(record, { sentIds: record.sentIds, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PlatformError)) this.#deps.fault(error);
      const message = error instanceof PlatformError ? error.message : 'It could not be looked up.';
      const delay = (error instanceof PlatformError ? error.retryAfterMs : undefined) ?? LOOKUP_DELAY_MS;
      return this.#change(record, {
        ...(now - record.createdAt > MAX_LOOKUP_MS ? { state: 'unconfirmed' } : { state: 'sending', nextAt: now + delay }),
        error: message,
      });
    }
    if (found === undefined) return this.#change(record, { state: 'unconfirmed', error: record.error ?? INTERRUPTED });
    if (found === null) return this.#retry(record, record.error ?? INTERRUPTED, 0);
    const current = await this.#addSentId(record, found);
    // The host before may have stored its end meanwhile.
    if (current.state === 'sending') await this.#send(current, carrier);
  }

  /** Waits for another attempt; nothing of the next piece was sent. */
  #retry(record: DeliveryRecord, error: string, delayMs = computeBackoff(Math.max(1, record.attempts), MIN_RETRY_MS)): Promise<void> {
    const nextAt = this.#deps.clock.now() + delayMs;
    return this.#change(record, {
      ...(nextAt < record.expiresAt ? { state: 'waiting', nextAt, waitsFor: 'retry' } : { state: 'unsent' }),
      error,
    });
  }

  async #addSentId(record: DeliveryRecord, sentId: string): Promise<DeliveryRecord> {
    const key = toReceiptKey(toCarrierKey(record), sentId);
    this.#bySentId.set(key, record.id);
    const { store, clock } = this.#deps;
    // Without the time of a lookup: the next piece starts now.
    const changed = await store.change(record.id, ({ nextAt: _, ...before }) =>
      before.sentIds.includes(sentId) ? undefined : { ...before, sentIds: [...before.sentIds, sentId], updatedAt: clock.now() },
    );
    return changed ?? store.open.get(record.id) ?? record;
  }

  /** Records that all pieces were sent, with the receipts so far. */
  async #settle(id: string, { state, sentIds }: { state: 'accepted' | 'delivered' | 'read'; sentIds: string[] }): Promise<void> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const settled = await store.change(id, ({ error: _, nextAt: __, waitsFor: ___, ...before }) => {
      const receipts = { ...before.receipts };
      if (state !== 'accepted') for (const sentId of sentIds) receipts[sentId] ??= state;
      return addTimes({ ...before, sentIds, receipts, acceptedAt: now, updatedAt: now }, now);
    });
    if (!settled) return;
    for (const sentId of sentIds) {
      const key = toReceiptKey(toCarrierKey(settled), sentId);
      this.#bySentId.set(key, id);
      for (const receipt of this.#early.take(key)) await this.#apply(id, receipt);
    }
  }

  async #apply(id: string, { sentId, state, at, error }: SentReceipt): Promise<void> {
    await this.#deps.store.change(id, (before) => {
      if (state === 'failed')
        return before.state === 'unsent' || before.receipts?.[sentId] !== undefined
          ? undefined
          : { ...before, state: 'unsent', error: error ?? 'The platform reports that it could not be delivered.', updatedAt: at };
      if (before.receipts?.[sentId] === state || before.receipts?.[sentId] === 'read') return undefined;
      const receipts = { ...before.receipts, [sentId]: state };
      // Pieces are still being sent: the receipts count when they are.
      if (before.acceptedAt === undefined || before.state === 'unsent') return { ...before, receipts };
      return addTimes({ ...before, receipts, updatedAt: this.#deps.clock.now() }, at);
    });
  }

  async #change(record: DeliveryRecord, change: Change): Promise<void> {
    const { store, clock } = this.#deps;
    await store.change(record.id, ({ nextAt: _, waitsFor: __, ...before }) => {
      // A person or another host may have ended it.
      if (before.resends !== record.resends || before.state !== record.state) return undefined;
      return { ...before, ...change, updatedAt: clock.now() };
    });
  }
}

const INTERRUPTED = 'Perch was interrupted while sending it.';

/** The record in the state that its receipts prove, with the time of a new one. */
function addTimes(record: DeliveryRecord, at: number): DeliveryRecord {
  const state = toState(record);
  const { nextAt: _, ...rest } = record;
  return {
    ...rest,
    state,
    ...(state === 'accepted' ? { nextAt: (record.acceptedAt ?? at) + RECEIPT_MS } : { deliveredAt: record.deliveredAt ?? at }),
    ...(state === 'read' ? { readAt: record.readAt ?? at } : {}),
  };
}
