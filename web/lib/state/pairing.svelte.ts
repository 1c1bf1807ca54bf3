import type { Level } from '#shared/rpc/contract.ts';
import { probeBridge } from '#lib/gateway/bridge.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { announcer } from './announcer.svelte.ts';
import { paired } from './paired.svelte.ts';

const LOOK_EVERY_MS = 1_500;

/** The bridge tells its own machine alone; a page of another one has come by such an address. */
const ownReach = (): string[] => (location.protocol === 'https:' ? [`wss://${location.host}/ws`] : []);

/** Pairing of a new device by a code. */
export class Pairing {
  code = $state.raw<{ code: string; expiresAt: number } | null>(null);
  /** Addresses of this gateway for other computers; null before they are known. */
  reach = $state.raw<readonly string[] | null>(null);
  /** The device that has used the code. */
  paired = $state<string | null>(null);
  /** Whether browsers of other devices can open the app. */
  readonly isForBrowsers = $derived(this.reach?.some((address) => address.startsWith('wss:')) ?? false);
  #name = '';
  #before: ReadonlySet<string> = new Set();

  /** Looks whether the code has been used, until the result stops it. */
  watch(): () => void {
    void probeBridge().then((health) => (this.reach = health ? (health.reach ?? ownReach()) : []));
    const timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }

  /** A new code; earlier ones stay good until they expire. Rejects where the gateway refuses. */
  async begin(deviceName: string, scopes: Level[]): Promise<void> {
    this.#name = deviceName || this.#name;
    const { devices } = await gateway.call('device.list', {});
    this.#before = new Set(devices.map(({ id }) => id));
    this.code = await gateway.call('device.initiate', { deviceName: this.#name, scopes });
    announcer.say(m.devices_pair_shown());
  }

  async #look(): Promise<void> {
    if (this.code === null || this.paired !== null || document.hidden) return;
    await paired.load();
    const found = paired.items?.find(({ id, name }) => name === this.#name && !this.#before.has(id));
    if (found) this.paired = found.name;
  }
}
