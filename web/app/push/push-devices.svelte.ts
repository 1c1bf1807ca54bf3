import { toBrowserName } from '#shared/link/browser-name.ts';
import type { PushDevice } from '#shared/rpc/methods/push-contracts.ts';
import { fromBase64 } from '#shared/base64.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { isDemo } from '../state/demo.ts';
import { safeLocalStorage } from '../state/safe-local-storage.ts';
import { storePushTexts } from './push-texts.ts';

/** Why this browser cannot receive push notifications. */
type PushObstacle = 'insecure' | 'unsupported' | 'blocked';

/** Push notifications on this device, and the list of all devices that receive them. */
class PushDevices {
  /** Null before the first answer. */
  items = $state.raw<PushDevice[] | null>(null);
  /** Whether the gateway can send them now. */
  isAvailable = $state(true);
  problem = $state.raw<Problem | null>(null);
  obstacle = $state<PushObstacle | null>(findObstacle());
  /** Id of this browser's subscription; null if push notifications are off. */
  #ownId = $state(safeLocalStorage.read('push'));
  readonly ownDevice = $derived(this.items?.find(({ id }) => id === this.#ownId));

  constructor() {
    safeLocalStorage.watch('push', (value) => (this.#ownId = value));
  }

  isOwn({ id }: PushDevice): boolean {
    return id === this.#ownId;
  }

  /** Keeps the list current until the returned function is called. */
  watch(): () => void {
    void this.load();
    return gateway.on('push.changed', () => void this.load());
  }

  async load(): Promise<void> {
    try {
      const { devices, available } = await gateway.call('push.list', {});
      this.items = devices;
      this.isAvailable = available;
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.push_doing_read());
    }
  }

  /** Asks for permission and subscribes this browser. Requires a user gesture. Rejects with the browser's or the gateway's error. */
  async turnOn(): Promise<void> {
    const permission = await Notification.requestPermission();
    this.obstacle = findObstacle();
    if (permission !== 'granted') return;
    // An id is used once: one that was removed elsewhere stays removed.
    const isKnown = this.#ownId !== null && this.items?.some(({ id }) => id === this.#ownId);
    await this.#subscribe(isKnown && this.#ownId !== null ? this.#ownId : crypto.randomUUID());
    await this.load();
  }

  async turnOff(): Promise<void> {
    const device = this.ownDevice;
    await this.#unsubscribe();
    if (device) await gateway.call('push.remove', { id: device.id });
    await this.load();
  }

  async remove(device: PushDevice): Promise<void> {
    if (this.isOwn(device)) return this.turnOff();
    await gateway.call('push.remove', { id: device.id });
    await this.load();
  }

  /** Sends a test notification to a device. */
  async test({ id }: PushDevice): Promise<void> {
    await gateway.call('push.test', { id });
  }

  /** Renews the subscription of this browser, which its push service may have replaced, and the texts. Off if it was removed elsewhere. */
  async renew(): Promise<void> {
    // A browser that was unlinked is not sent anything any more.
    if (this.#ownId !== null && gateway.bridge.isRefused) return this.#unsubscribe();
    await this.load();
    if (this.#ownId === null || this.items === null) return;
    if (!this.ownDevice || this.obstacle !== null) return this.#setOwnId(null);
    await this.#subscribe(this.#ownId);
  }

  async #unsubscribe(): Promise<void> {
    this.#setOwnId(null);
    const registration = await navigator.serviceWorker.getRegistration();
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
  }

  async #subscribe(id: string): Promise<void> {
    const registration = await navigator.serviceWorker.ready;
    const { publicKey } = await gateway.call('push.key', {});
    const key = fromBase64(publicKey);
    const current = await registration.pushManager.getSubscription();
    const isCurrent = current !== null && isEqual(new Uint8Array(current.options.applicationServerKey ?? new ArrayBuffer()), key);
    if (current && !isCurrent) await current.unsubscribe();
    const subscription = isCurrent
      ? current
      : await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint = '', keys = {} } = subscription.toJSON();
    const { p256dh = '', auth = '' } = keys;
    await storePushTexts({
      approval: m.push_approval(),
      message: m.push_message(),
      test: m.push_message(),
      testBody: m.push_test_body(),
      approve: m.push_allow(),
      deny: m.push_deny(),
      closed: m.push_closed(),
      unreachable: m.push_unreachable(),
    });
    const browserId = gateway.bridge.credentials?.app.id;
    await gateway.call('push.subscribe', {
      ...{ id, name: toBrowserName(navigator), subscription: { endpoint, keys: { p256dh, auth } } },
      ...(browserId === undefined ? {} : { browserId }),
    });
    this.#setOwnId(id);
  }

  #setOwnId(id: string | null): void {
    this.#ownId = id;
    safeLocalStorage.write('push', id);
  }
}

function findObstacle(): PushObstacle | null {
  if (!globalThis.isSecureContext) return 'insecure';
  if (isDemo || !('PushManager' in globalThis) || !('Notification' in globalThis) || !('serviceWorker' in navigator)) return 'unsupported';
  return Notification.permission === 'denied' ? 'blocked' : null;
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);

export const pushDevices = new PushDevices();
