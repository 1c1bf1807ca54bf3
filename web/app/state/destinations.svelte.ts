import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { readSetting } from './read-setting.ts';

/** A place where messages of schedules and agents are sent (`deliveries.targets` of the configuration). */
export interface Destination {
  id: string;
  name: string;
  target: DeliveryTarget;
}

/** The destinations that the owner has set up. */
class Destinations {
  /** Null before they are loaded. */
  list = $state.raw<Destination[] | null>(null);

  /** Rejects if they cannot be read. */
  async load(): Promise<void> {
    this.list = ((await readSetting('deliveries.targets')) ?? []) as Destination[];
  }

  /** Rejects if the gateway refuses. */
  async save(list: readonly Destination[]): Promise<void> {
    await gateway.call('config.patch', { patch: { deliveries: { targets: [...list] } } });
    this.list = [...list];
  }
}

export const destinations = new Destinations();
