import type { Clock } from '#shared/async/clock.ts';
import { toBase64, toBase64url } from '#shared/base64.ts';
import { pushPort } from '#shared/ports/push-port.ts';
import type { ContractResult } from '#shared/rpc/contract.ts';
import type { PushDevice } from '#shared/rpc/methods/push-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { lazy } from '#shared/async/lazy.ts';
import { type Bridge, requireCapability } from '../../ports/bridge-interface.ts';
import type { PushDeviceRecord } from '../../storage/records/push-device.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { SentReceipt } from '../channels/channel-adapter.ts';
import { PlatformError } from '../channels/platform-request.ts';
import { encryptPush } from './encrypt-push.ts';
import { encodePushPayload, type PushPayload } from './push-payload.ts';
import { ReceiptTokens } from './receipt-tokens.ts';
import { VapidKeys } from './vapid-keys.ts';

const MAX_DEVICES = 50;
/** Time for which a push service keeps a message without an expiry, in seconds. */
const DEFAULT_TTL_S = 24 * 3600;
const MAX_TTL_S = 28 * 24 * 3600;
const SERVICE_NAME = 'The push service';
/** Default wait after "too many requests". */
const BUSY_MS = 60_000;

export interface PushDevicesDeps {
  vault: Pick<Vault, 'collection' | 'secrets'>;
  bridge: Bridge;
  hub: Pick<EventBus, 'emit'>;
  clock: Clock;
}

interface SendOptions {
  /** Milliseconds since the Unix epoch after which the push service drops the message. */
  expiresAt?: number | undefined;
  isUrgent?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

type PushServiceAnswer = ContractResult<(typeof pushPort)['calls']['push.deliver']>;

/** Browsers that receive notifications by Web Push (RFC 8030, 8291, 8292), and messages to them. */
export class PushDevices {
  readonly #deps: PushDevicesDeps;
  readonly #keys = lazy(() => VapidKeys.open(this.#deps.vault.secrets));
  readonly #receipts: ReceiptTokens;

  constructor(deps: PushDevicesDeps) {
    this.#deps = deps;
    this.#receipts = new ReceiptTokens(deps.vault.secrets);
  }

  get isAvailable(): boolean {
    return this.#deps.bridge.provides(pushPort);
  }

  async getPublicKey(): Promise<string> {
    return (await this.#keys()).publicKey;
  }

  async list(): Promise<PushDevice[]> {
    return (await this.#listRecords()).map(toPushDevice);
  }

  /** Adds a device or replaces its subscription. Throws `INVALID_PARAMS` for invalid keys. */
  async subscribe(
    {
      id,
      name,
      endpoint,
      keys,
      ...claimed
    }: Pick<PushDeviceRecord, 'id' | 'name' | 'endpoint' | 'keys'> & { browserId?: string | undefined },
    principal: string,
  ): Promise<PushDevice> {
    const records = await this.#listRecords();
    if (records.length >= MAX_DEVICES && !records.some((record) => record.id === id))
      throw new RpcError('RATE_LIMITED', `At most ${MAX_DEVICES} devices can receive push notifications. Remove one first.`);
    await encryptPush(new Uint8Array(), keys).catch(() => {
      throw new RpcError('INVALID_PARAMS', 'The keys of the subscription are invalid. Turn push notifications off and on again.');
    });
    const pairedDeviceId = /^device:(.+)$/.exec(principal)?.[1];
    // A page that uses the worker of its own browser has no credential.
    const browserId = principal === 'app:local' ? claimed.browserId : /^app:(.+)$/.exec(principal)?.[1];
    const record: PushDeviceRecord = {
      ...{ id, name, endpoint, keys, createdAt: this.#deps.clock.now() },
      ...(pairedDeviceId === undefined ? {} : { pairedDeviceId }),
      ...(browserId === undefined ? {} : { browserId }),
    };
    await this.#collection.put(record);
    // One browser has one subscription: an earlier id of it would show each message twice.
    for (const other of records) if (other.endpoint === endpoint && other.id !== id) await this.remove(other.id);
    this.#deps.hub.emit({ event: 'push.changed', payload: { id } }, null);
    return toPushDevice(record);
  }

  /** Throws `NOT_FOUND`. */
  async remove(id: string): Promise<void> {
    if (!(await this.#collection.remove(id))) throw createNotFoundError();
    this.#deps.hub.emit({ event: 'push.changed', payload: { id, deleted: true } }, null);
  }

  /** Ends the subscriptions of a browser or paired device that has lost its access. */
  async removeOwnedBy(owner: { browserId: string } | { pairedDeviceId: string }): Promise<void> {
    for (const record of await this.#collection.list()) {
      const isOwned = 'browserId' in owner ? record.browserId === owner.browserId : record.pairedDeviceId === owner.pairedDeviceId;
      // It may have been removed meanwhile.
      if (isOwned) await this.remove(record.id).catch(() => {});
    }
  }

  /** Ids of all devices that may be sent to now. */
  async listIds(): Promise<string[]> {
    return (await this.#listRecords()).map(({ id }) => id);
  }

  /** Values by which a device proves that it has shown a delivery. */
  createReceipts(deliveryId: string, deviceId: string): Promise<{ shown: string; opened: string }> {
    return this.#receipts.create(deliveryId, deviceId);
  }

  /** The receipt that a value proves; undefined if no device of the list could send it. */
  async readReceipt(value: string): Promise<SentReceipt | undefined> {
    const proof = await this.#receipts.verify(value, await this.listIds());
    return proof && { sentId: toSentId(proof.deviceId, proof.deliveryId), state: proof.state, at: this.#deps.clock.now() };
  }

  /** Sends a test notification. Throws `NOT_FOUND`, or an error for the person. */
  async test(id: string): Promise<void> {
    if (!(await this.listIds()).includes(id)) throw createNotFoundError();
    const payload: PushPayload = { kind: 'test', tag: `test:${id}`, body: '', path: '/settings' };
    try {
      await this.send(id, payload, { expiresAt: this.#deps.clock.now() + 60_000, isUrgent: true });
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      throw new RpcError(error.status === 429 ? 'RATE_LIMITED' : 'INTERNAL_ERROR', error.message, {}, { cause: error });
    }
  }

  /**
   * Sends an encrypted message to a device; resolves when its push service has accepted it. Throws `PlatformError`, and removes a device
   * whose subscription has ended.
   */
  async send(id: string, payload: PushPayload, { expiresAt, isUrgent = false, signal }: SendOptions): Promise<void> {
    const { bridge, clock } = this.#deps;
    const record = (await this.#listRecords()).find((each) => each.id === id);
    if (!record) throw new PlatformError('The device no longer receives push notifications.', { isUnsent: true, refused: true });
    requireCapability(bridge, pushPort);
    const now = clock.now();
    const ttl = expiresAt === undefined ? DEFAULT_TTL_S : Math.min(MAX_TTL_S, Math.floor((expiresAt - now) / 1000));
    if (ttl <= 0) throw new PlatformError('The message has expired.', { isUnsent: true, refused: true });
    const [body, authorization, topic] = await Promise.all([
      encryptPush(encodePushPayload(payload), record.keys),
      this.#keys().then((keys) => keys.authorize(record.endpoint, now)),
      toTopic(payload.tag),
    ]);
    const headers = { ttl: `${ttl}`, urgency: isUrgent ? 'high' : 'normal', topic, authorization } as const;
    const answer = await bridge.call(
      pushPort,
      'push.deliver',
      { endpoint: record.endpoint, headers, body: toBase64(body) },
      signal ? { signal } : {},
    );
    if (answer.status >= 200 && answer.status < 300) {
      await this.#update(id, ({ problem: _, ...before }) => ({ ...before, lastSentAt: clock.now() }));
      return;
    }
    if (answer.status === 404 || answer.status === 410) {
      await this.remove(id).catch(() => {});
      throw new PlatformError(`${record.name} has turned off push notifications, so it was removed.`, {
        ...{ status: answer.status, isUnsent: true, refused: true },
      });
    }
    const error = toPlatformError(answer);
    if (error.refused) await this.#update(id, (before) => ({ ...before, problem: error.message }));
    throw error;
  }

  get #collection() {
    return this.#deps.vault.collection('pushDevices');
  }

  /** Records of devices that are still allowed, oldest first. */
  async #listRecords(): Promise<PushDeviceRecord[]> {
    const paired = this.#deps.vault.collection('devices');
    const records = await this.#collection.list();
    const allowed = await Promise.all(
      records.map(async ({ pairedDeviceId }) => pairedDeviceId === undefined || (await paired.get(pairedDeviceId))?.state === 'paired'),
    );
    return records.filter((_, at) => allowed[at]).sort((a, b) => a.createdAt - b.createdAt);
  }

  async #update(id: string, change: (before: PushDeviceRecord) => PushDeviceRecord): Promise<void> {
    await this.#collection.update(id, (before) => before && change(before));
    this.#deps.hub.emit({ event: 'push.changed', payload: { id } }, null);
  }
}

/** Id of a delivery at a device, for receipts. */
export const toSentId = (deviceId: string, deliveryId: string): string => `${deviceId}:${deliveryId}`;

const createNotFoundError = (): RpcError => new RpcError('NOT_FOUND', 'This device receives no push notifications.');

function toPushDevice({ id, name, endpoint, createdAt, lastSentAt, problem }: PushDeviceRecord): PushDevice {
  return {
    ...{ id, name, service: new URL(endpoint).host, createdAt },
    ...(lastSentAt === undefined ? {} : { lastSentAt }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** A message replaces an undelivered one of the same topic. A hash, so that the push service learns nothing from it. */
async function toTopic(tag: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(tag)));
  return toBase64url(hash.subarray(0, 24));
}

function toPlatformError({ status, reason, isUnsent, retryAfterMs }: PushServiceAnswer): PlatformError {
  const detail = reason === '' ? '' : `: ${reason}`;
  if (status === 0) return new PlatformError(`${SERVICE_NAME} can’t be reached${detail}`, { isUnsent });
  if (status === 429)
    return new PlatformError(`${SERVICE_NAME} is limiting requests.`, { status, isUnsent, retryAfterMs: retryAfterMs ?? BUSY_MS });
  if (status === 413) return new PlatformError(`${SERVICE_NAME} rejected the message as too large.`, { status, isUnsent, refused: true });
  if (status >= 400 && status < 500)
    return new PlatformError(
      `${SERVICE_NAME} rejected the message (${status}${detail}). Turn push notifications off and on again on this device.`,
      {
        ...{ status, isUnsent, refused: true },
      },
    );
  return new PlatformError(`${SERVICE_NAME} failed (${status}${detail}).`, {
    ...{ status, isUnsent },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
