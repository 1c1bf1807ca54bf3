import type { Level } from '#shared/rpc/contract.ts';
import { probeBridge } from '#lib/gateway/bridge-connection.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/page-messages.ts';
import { announcer } from './announcer.svelte.ts';
import { pairedDevices } from './paired-devices.svelte.ts';

const POLL_MS = 1_500;

/** The bridge tells its own machine alone; a page of another one has come by such an address. */
const getOwnAddresses = (): string[] => (location.protocol === 'https:' ? [`wss://${location.host}/ws`] : []);

/** Pairing of a new device by a code. */
export class Pairing {
  code = $state.raw<{ code: string; expiresAt: number } | null>(null);
  /** Addresses of this gateway for other computers; null before they are known. */
  addresses = $state.raw<readonly string[] | null>(null);
  /** The device that has used the code. */
  pairedName = $state<string | null>(null);
  /** Whether browsers of other devices can open the app. */
  readonly isForBrowsers = $derived(this.addresses?.some((address) => address.startsWith('wss:')) ?? false);
  #deviceName = '';
  #idsBefore: ReadonlySet<string> = new Set();

  /** Looks whether the code has been used, until the result stops it. */
  watch(): () => void {
    void probeBridge().then((health) => (this.addresses = health ? (health.reach ?? getOwnAddresses()) : []));
    const timer = setInterval(() => void this.#poll(), POLL_MS);
    return () => clearInterval(timer);
  }

  /** A new code; earlier ones stay good until they expire. Rejects where the gateway refuses. */
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
