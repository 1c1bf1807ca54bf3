import { raceAbort } from '#shared/async/mutex.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Delivery } from '#shared/rpc/methods/delivery-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { hasVisibleText } from '#shared/display-name.ts';
import { sha256 } from '#shared/sha256.ts';
import { toReplyTool } from '../../agent/approvals/held-reply.ts';
import { isGranted } from '../../agent/tools/tool-policy.ts';
import type { RunsDeps } from '../../agent/runs/run-types.ts';
import { mergeSources } from '../../agent/trust/content-sources.ts';
import { removeComposedUrls } from '../../agent/trust/verbatim-urls.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { DeliveryRecord } from '../../storage/records/delivery-record.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { SentReceipt } from '../channels/channel-adapter.ts';
import { JobCoordinator } from '../cron/job-coordinator.ts';
import type { Carrier, DeliveryRequest } from './carrier.ts';
import { DeliveryStore, toCarrierKey } from './delivery-store.ts';
import { DeliveryWorker } from './delivery-worker.ts';
import { planSendTime } from './send-time.ts';

/** Period in which a delivery is tried. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Time for which a cancellation waits for an attempt. */
const CANCEL_WAIT_MS = 5_000;
const MAX_CHARS = 100_000;

export interface DeliveriesDeps {
  vault: Pick<Vault, 'collection' | 'writeAll' | 'onRemoteChanges'>;
  hub: EventBus;
  clock: Clock;
  sync: SyncPort | undefined;
  runDeps: Pick<RunsDeps, 'keySources'>;
  settings(): Pick<Settings, 'deliveries' | 'channels' | 'tools'>;
  timeZone(): string;
  log: LogWriter;
  fault(error: unknown): RpcError;
}

/** Sends messages of the gateway's own accord, each once, and records what the platforms have proven about them. */
export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #store: DeliveryStore;
  readonly #worker: DeliveryWorker;
  readonly #coordinator: JobCoordinator;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<(record: DeliveryRecord) => void>();
  readonly #stops: (() => void)[];

  private constructor(deps: DeliveriesDeps) {
    const { vault, clock, sync, fault } = deps;
    this.#deps = deps;
    this.#coordinator = new JobCoordinator(sync, clock);
    this.#store = new DeliveryStore(vault, (record) => this.#handleChange(record));
    this.#worker = new DeliveryWorker({ store: this.#store, coordinator: this.#coordinator, clock, fault });
    this.#stops = [
      () => this.#worker.stop(),
      () => this.#coordinator.stop(),
      sync?.watch(() => this.#worker.wakeAll()) ?? (() => {}),
      vault.onRemoteChanges((changes) => {
        const ids = changes.flatMap(({ store, key, deleted }) => (store === 'deliveries' && !deleted ? [key] : []));
        if (ids.length > 0) this.#reload(ids).catch(fault);
      }),
    ];
  }

  /** Reads the deliveries that have not ended; they are sent from `start` on. */
  static async open(deps: DeliveriesDeps): Promise<Deliveries> {
    const deliveries = new Deliveries(deps);
    await deliveries.#store.load();
    return deliveries;
  }

  /** Begins to send, once the carriers are registered. */
  start(): void {
    this.#worker.start();
  }

  stop(): void {
    this.#stopping.abort();
    for (const stop of this.#stops) stop();
  }

  /** Sets what carries the deliveries to targets of a kind. */
  registerCarrier(kind: DeliveryRequest['target']['kind'], carrier: Carrier): void {
    this.#worker.registerCarrier(kind, carrier);
  }

  /**
   * Stores a delivery and resolves with it; it is sent as soon as its target, the quiet hours and the digest allow. A second request with
   * the same key resolves with the first one's delivery. Throws `INVALID_PARAMS` for a text without visible characters.
   */
  async send(request: DeliveryRequest): Promise<Delivery> {
    const { clock, settings, timeZone, runDeps } = this.#deps;
    const { key, target, title, path, buttons, source, by, outside = [], quotedUrls = [], isUrgent, isReviewed, expiresAt } = request;
    if (!hasVisibleText(request.text)) throw new RpcError('INVALID_PARAMS', 'The text of the message is empty.');
    const now = clock.now();
    // Platforms fetch previews of links, so an address that a model composed after reading from outside would leak data.
    const text =
      outside.length > 0 && target.kind === 'channel' && !isReviewed ? removeComposedUrls(request.text, quotedUrls) : request.text;
    const time = this.#mustBeApproved(request)
      ? ({ waitsFor: 'approval' } as const)
      : planSendTime(request, settings().deliveries, now, timeZone());
    // Text of a key in a chat is outside content for later replies there, as its messages are.
    const labels = target.kind === 'chat' && by !== undefined ? mergeSources(outside, await runDeps.keySources(by)) : outside;
    const record: DeliveryRecord = {
      ...{ id: await toDeliveryId(key), key, target, text: text.slice(0, MAX_CHARS), source },
      ...{ state: 'waiting', attempts: 0, resends: 0, sentIds: [], createdAt: now, updatedAt: now, ...time },
      expiresAt: expiresAt ?? ('nextAt' in time && time.nextAt !== undefined ? time.nextAt : now) + MAX_AGE_MS,
      ...(title === undefined ? {} : { title }),
      ...(path === undefined ? {} : { path }),
      ...(buttons === undefined ? {} : { buttons }),
      ...(labels.length > 0 ? { outside: labels, quotedUrls } : {}),
      ...(isUrgent ? { isUrgent } : {}),
    };
    return toDelivery(await this.#store.add(record));
  }

  /**
   * Whether a person has to release a delivery: outside content influenced it, and it goes to someone other than the owner, unless
   * `tools.afterReading` covers the channel’s replies. Calls of tools are approved before.
   */
  #mustBeApproved({ target, source, outside = [], isReviewed = false }: DeliveryRequest): boolean {
    if (outside.length === 0 || isReviewed || source.kind === 'tool' || target.kind !== 'channel') return false;
    const { channelId, to } = target;
    const { channels, tools } = this.#deps.settings();
    const isOwn = to === undefined || (channels[channelId]?.owners?.includes(to) ?? false);
    return !isOwn && !isGranted(tools, toReplyTool(channelId), outside);
  }

  /** Sends a test message to a destination. Throws `NOT_FOUND`. */
  async sendTest(targetId: string): Promise<Delivery> {
    const destination = this.#deps.settings().deliveries.targets.find(({ id }) => id === targetId);
    if (!destination) throw new RpcError('NOT_FOUND', `No destination with id "${targetId}".`);
    const { target, name } = destination;
    const source = { kind: 'test', id: targetId } as const;
    return this.send({ key: `test:${crypto.randomUUID()}`, target, text: `Test message from Perch to “${name}”.`, source, isUrgent: true });
  }

  /** Deliveries created before `before`, newest first. `next`: value for `before` of the next page; null at the end. */
  async list({ limit, before = Infinity }: { limit: number; before?: number | undefined }): Promise<{
    deliveries: Delivery[];
    next: number | null;
  }> {
    const all = (await this.#store.list()).filter(({ createdAt }) => createdAt < before);
    const byId = new Map(all.map((record) => [record.id, record]));
    const page = all.slice(0, limit);
    const deliveries = page.map((record) => toDelivery(record, byId.get(record.digestId ?? '')));
    return { deliveries, next: all.length > limit ? (page.at(-1)?.createdAt ?? null) : null };
  }

  /** Throws `NOT_FOUND`. */
  async get(id: string): Promise<Delivery> {
    const record = await this.#store.get(id);
    if (!record) throw createNotFoundError(id);
    return toDelivery(record, record.digestId === undefined ? undefined : await this.#store.get(record.digestId));
  }

  /** Target and platform's ids of what was sent for the request with a key; undefined if there is none. */
  async findSent(key: string): Promise<Pick<DeliveryRecord, 'target' | 'sentIds'> | undefined> {
    return this.#store.get(await toDeliveryId(key));
  }

  /** The delivery once it has ended or waits for something other than the platform, at most after `ms`. Throws `NOT_FOUND`. */
  async waitForEnd(id: string, ms: number, signal: AbortSignal): Promise<Delivery> {
    const isSettled = ({ state, waitsFor }: Pick<Delivery, 'state' | 'waitsFor'>): boolean =>
      state !== 'sending' && (state !== 'waiting' || waitsFor !== undefined);
    const settled = Promise.withResolvers<void>();
    const listener = (record: DeliveryRecord): void => void (record.id === id && isSettled(record) && settled.resolve());
    this.#listeners.add(listener);
    const cancel = this.#deps.clock.after(ms, () => settled.resolve());
    try {
      if (!isSettled(await this.get(id))) await raceAbort(settled.promise, signal);
      return await this.get(id);
    } finally {
      cancel();
      this.#listeners.delete(listener);
    }
  }

  /** Sends an unsent or unconfirmed delivery again, or releases one that waits for approval. Throws `NOT_FOUND`, and `INVALID_PARAMS` for another state. */
  async resend(id: string): Promise<Delivery> {
    const now = this.#deps.clock.now();
    return this.#change(
      id,
      ({ state, nextAt: _, waitsFor, error: ___, ...before }) =>
        state === 'unsent' || state === 'unconfirmed' || waitsFor === 'approval'
          ? { ...before, state: 'waiting', attempts: 0, resends: before.resends + 1, updatedAt: now, expiresAt: now + MAX_AGE_MS }
          : undefined,
      'Only a message that is unsent, unconfirmed or waits for approval can be sent.',
    );
  }

  /** Cancels a waiting delivery. Throws `NOT_FOUND`, and `INVALID_PARAMS` for another state. */
  async cancel(id: string): Promise<Delivery> {
    // An attempt that is under way ends first.
    await this.waitForEnd(id, CANCEL_WAIT_MS, this.#stopping.signal);
    const now = this.#deps.clock.now();
    return this.#change(
      id,
      ({ nextAt: _, waitsFor: __, ...before }) =>
        before.state === 'waiting' ? { ...before, state: 'unsent', error: 'Cancelled', updatedAt: now } : undefined,
      'Only a waiting message can be cancelled.',
    );
  }

  /** Applies a platform's receipts for what a channel has sent. */
  receive(channelId: string, receipts: readonly SentReceipt[]): void {
    this.#worker.receive(`channel:${channelId}`, receipts);
  }

  /** Applies receipts of devices for push notifications. */
  receiveFromDevices(receipts: readonly SentReceipt[]): void {
    this.#worker.receive('device', receipts);
  }

  async #change(id: string, change: (before: DeliveryRecord) => DeliveryRecord | undefined, refusal: string): Promise<Delivery> {
    const changed = await this.#store.change(id, change);
    if (changed) return toDelivery(changed);
    throw (await this.#store.get(id)) ? new RpcError('INVALID_PARAMS', refusal) : createNotFoundError(id);
  }

  #handleChange(record: DeliveryRecord): void {
    const { id, state, error, source } = record;
    if (state === 'unsent' || state === 'unconfirmed')
      this.#deps.log.write('warn', 'deliveries', `${toCarrierKey(record)}: ${error ?? state}`, { delivery: id, state, source });
    this.#announce(record);
  }

  async #reload(ids: readonly string[]): Promise<void> {
    for (const record of await this.#store.reload(ids)) this.#announce(record);
  }

  #announce(record: DeliveryRecord): void {
    const { id, state, error } = record;
    for (const listener of this.#listeners) listener(record);
    this.#deps.hub.emit({ event: 'delivery.changed', payload: { id, state, ...(error === undefined ? {} : { error }) } }, null);
    this.#worker.wake(record);
  }
}

/** The id of the request with a key. */
const toDeliveryId = async (key: string): Promise<string> => (await sha256(key)).slice(0, 32);

/** A delivery as clients see it. `digest`: the delivery that it is a part of. */
function toDelivery(record: DeliveryRecord, digest?: DeliveryRecord): Delivery {
  const {
    key: _,
    path: _p,
    buttons: _b,
    outside: _o,
    isUrgent: _u,
    expiresAt: _e,
    sentIds: _s,
    receipts: _r,
    resends: _n,
    ...delivery
  } = record;
  if (!digest) return delivery;
  const { state, attempts, acceptedAt, deliveredAt, readAt, error, updatedAt } = digest;
  const times = { ...(acceptedAt && { acceptedAt }), ...(deliveredAt && { deliveredAt }), ...(readAt && { readAt }) };
  return { ...delivery, state, attempts, updatedAt, ...times, ...(error === undefined ? {} : { error }) };
}

const createNotFoundError = (id: string): RpcError => new RpcError('NOT_FOUND', `No delivery with id "${id}".`);
