import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { readSetting } from '#app/state/read-setting.ts';

/** Settings of the driven browser: which browser it is, and which private addresses it may open. */
class BrowserSettings {
  /** Private addresses that it may open; null before the first answer. */
  privateAddresses = $state.raw<readonly string[] | null>(null);
  /** Whether a remote browser is driven; its address is a secret. */
  isRemote = $state<boolean | null>(null);
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const [privateAddresses, endpoint] = await Promise.all([readPrivateAddresses(), readSetting('browser.cdpEndpoint')]);
      Object.assign(this, {
        privateAddresses,
        isRemote: typeof endpoint === 'string' && endpoint !== '',
        problem: null,
      } satisfies Partial<BrowserSettings>);
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.settings_doing_read_browser());
    }
  }

  /** Rejects if the gateway refuses, as do the methods below. */
  async add(address: string): Promise<void> {
    const addresses = await readPrivateAddresses();
    if (!addresses.includes(address)) await this.#setPrivateAddresses([...addresses, address]);
  }

  async remove(address: string): Promise<void> {
    await this.#setPrivateAddresses((await readPrivateAddresses()).filter((each) => each !== address));
  }

  /** Removes all addresses, which is the default. */
  async removeAll(): Promise<void> {
    await this.#setPrivateAddresses([]);
  }

  /** Null: the browser on the bridge's machine. */
  async setEndpoint(endpoint: string | null): Promise<void> {
    await gateway.call('config.patch', { patch: { browser: { cdpEndpoint: endpoint } } });
    this.isRemote = endpoint !== null;
  }

  async #setPrivateAddresses(addresses: readonly string[]): Promise<void> {
    await gateway.call('config.patch', { patch: { browser: { allow: addresses.length > 0 ? addresses : null } } });
    this.privateAddresses = addresses;
  }
}

async function readPrivateAddresses(): Promise<string[]> {
  const value = await readSetting('browser.allow');
  return Array.isArray(value) ? value.filter((address) => typeof address === 'string') : [];
}

export const browserSettings = new BrowserSettings();
