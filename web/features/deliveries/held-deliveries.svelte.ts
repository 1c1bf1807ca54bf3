import type { Delivery } from '#shared/rpc/methods/delivery-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { destinations } from '#app/state/destinations.svelte.ts';

/** Deliveries that wait for a person. */
class HeldDeliveries {
  /** Newest first; null before the first answer. */
  list = $state.raw<Delivery[] | null>(null);
  problem = $state.raw<Problem | null>(null);
  #loadCount = 0;

  /** Loads the list, now and after changes. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    return gateway.on('delivery.changed', () => void this.load());
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const [{ deliveries }] = await Promise.all([gateway.call('deliveries.list', { limit: 500 }), destinations.load()]);
      if (loadId !== this.#loadCount) return;
      this.list = deliveries.filter(({ state, waitsFor }) => state === 'waiting' && waitsFor === 'approval');
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.deliveries_doing_read());
    }
  }
}

export const heldDeliveries = new HeldDeliveries();
