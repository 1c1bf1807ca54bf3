import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';

export type PairedDevice = MethodResult<'device.list'>['devices'][number];
type LinkedBrowser = MethodResult<'device.browsers'>['browsers'][number];

/** A list of devices or browsers with access, each of which can be revoked. */
class RevocableList<Item extends { id: string }> {
  /** Null before the first answer. */
  items = $state.raw<Item[] | null>(null);
  problem = $state<Problem | null>(null);
  readonly #fetchItems: () => Promise<Item[]>;
  readonly #revoke: (id: string) => Promise<unknown>;

  constructor(fetchItems: () => Promise<Item[]>, revoke: (id: string) => Promise<unknown>) {
    this.#fetchItems = fetchItems;
    this.#revoke = revoke;
  }

  async load(): Promise<void> {
    try {
      this.items = await this.#fetchItems();
      this.problem = null;
    } catch (error) {
      // A host of an older build has no devices.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!unknown && !isConnectionLost(error)) this.problem = toProblem(error, m.devices_doing_read());
    }
  }

  /** Revokes the access of an item. `name`: its name on screen. Rejects if the gateway refuses. */
  async revoke({ id }: Item, name: string): Promise<void> {
    await this.#revoke(id);
    this.items = (this.items ?? []).filter((item) => item.id !== id);
    announcer.announce(m.devices_revoked({ name }));
  }
}

/** Devices that are paired with the gateway, each with a token of its own. */
export const pairedDevices = new RevocableList<PairedDevice>(
  async () => (await gateway.call('device.list', {})).devices,
  (deviceId) => gateway.call('device.revoke', { deviceId }),
);

/** Browsers that are linked to the bridge. */
export const linkedBrowsers = new RevocableList<LinkedBrowser>(
  async () => (await gateway.call('device.browsers', {})).browsers,
  (browserId) => gateway.call('device.unlink', { browserId }),
);
