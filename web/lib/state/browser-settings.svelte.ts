import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { setting } from './setting.ts';

/** Settings of the driven browser: which browser it is, and which private addresses it may open. */
class BrowserSettings {
  /** Private places that it may go to; null before the first answer. */
  places = $state.raw<readonly string[] | null>(null);
  /** Whether one elsewhere is driven; its address is a secret. */
  elsewhere = $state<boolean | null>(null);
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const [places, endpoint] = await Promise.all([readPlaces(), setting('browser.cdpEndpoint')]);
      Object.assign(this, { places, elsewhere: typeof endpoint === 'string' && endpoint !== '', problem: null });
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.settings_doing_read_browser());
    }
  }

  /** Rejects where the gateway refuses, as all below. */
  async add(place: string): Promise<void> {
    const places = await readPlaces();
    if (!places.includes(place)) await this.#setPlaces([...places, place]);
  }

  async remove(place: string): Promise<void> {
    await this.#setPlaces((await readPlaces()).filter((each) => each !== place));
  }

  /** None, as by default. */
  async removeAll(): Promise<void> {
    await this.#setPlaces([]);
  }

  /** Null goes back to one on the bridge's machine. */
  async drive(endpoint: string | null): Promise<void> {
    await gateway.call('config.patch', { patch: { browser: { cdpEndpoint: endpoint } } });
    this.elsewhere = endpoint !== null;
  }

  async #setPlaces(places: readonly string[]): Promise<void> {
    await gateway.call('config.patch', { patch: { browser: { allow: places.length > 0 ? places : null } } });
    this.places = places;
  }
}

async function readPlaces(): Promise<string[]> {
  const found = await setting('browser.allow');
  return Array.isArray(found) ? found.filter((place) => typeof place === 'string') : [];
}

export const browserSettings = new BrowserSettings();
