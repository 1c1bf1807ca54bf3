import type { Level } from '#shared/rpc/contract.ts';
import { probeBridge } from '#app/connection/bridge-connection.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { pairedDevices } from './paired-devices.svelte.ts';

const POLL_MS = 1_500;

/** Fallback on other machines, to which the bridge does not report its addresses: the address of this page. */
const getOwnAddresses = (): string[] => (location.protocol === 'https:' ? [`wss://${location.host}/ws`] : []);

/** Pairing of a new device by a code. */
export class Pairing {
  code = $state.raw<{ code: string; expiresAt: number } | null>(null);
  /** Addresses of this gateway for other computers; null before they are known. */
  addresses = $state.raw<readonly string[] | null>(null);
  /** Name of the device that used the code. */
  pairedName = $state<string | null>(null);
  /** Whether browsers of other devices can open the app. */
  readonly isForBrowsers = $derived(this.addresses?.some((address) => address.startsWith('wss:')) ?? false);
  #deviceName = '';
  #idsBefore: ReadonlySet<string> = new Set();

  /** Polls whether the code has been used. Returns a function that stops it. */
  watch(): () => void {
    void probeBridge().then((health) => (this.addresses = health ? (health.reach ?? getOwnAddresses()) : []));
    const timer = setInterval(() => void this.#poll(), POLL_MS);
    return () => clearInterval(timer);
  }

  /** Creates a new code; earlier ones stay valid until they expire. Rejects if the gateway refuses. */
  async createCode(deviceName: string, scopes: Level[]): Promise<void> {
    this.#deviceName = deviceName || this.#deviceName;
    const { devices } = await gateway.call('device.list', {});
    this.#idsBefore = new Set(devices.map(({ id }) => id));
    this.code = await gateway.call('device.initiate', { deviceName: this.#deviceName, scopes });
    announcer.announce(m.devices_pair_shown());
  }

  async #poll(): Promise<void> {
    if (this.code === null || this.pairedName !== null || document.hidden) return;
    await pairedDevices.load();
    const newDevice = pairedDevices.items?.find(({ id, name }) => name === this.#deviceName && !this.#idsBefore.has(id));
    if (newDevice) this.pairedName = newDevice.name;
  }
}
