import type { Delivery } from '#shared/rpc/methods/delivery-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { destinations } from '#app/state/destinations.svelte.ts';
import { readSetting } from '#app/state/read-setting.ts';

const PAGE_SIZE = 50;
/** Delay after which changes are shown together. */
const REFRESH_MS = 300;

interface Times {
  quietHours: { from: string; to: string; timeZone?: string } | undefined;
  digest: { at: string } | undefined;
}

/** Deliveries with what the platforms have confirmed, and their settings. */
class Deliveries {
  /** Newest first; null before the first answer. */
  list = $state.raw<Delivery[] | null>(null);
  hasMore = $state(false);
  times = $state.raw<Times | null>(null);
  /** Connected or configured channels, by id. */
  channels = $state.raw<{ id: string; label: string }[]>([]);
  problem = $state.raw<Problem | null>(null);
  #limit = PAGE_SIZE;
  #loadCount = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Loads everything, and the list again after changes. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stop = gateway.on('delivery.changed', () => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.#loadList().catch(() => {});
      }, REFRESH_MS);
    });
    return () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      stop();
    };
  }

  async load(): Promise<void> {
    try {
      const [quietHours, digest, { channels }] = await Promise.all([
        readSetting('deliveries.quietHours'),
        readSetting('deliveries.digest'),
        gateway.call('channels.list', {}),
        destinations.load(),
        this.#loadList(),
      ]);
      this.times = { quietHours: quietHours as Times['quietHours'], digest: digest as Times['digest'] };
      this.channels = channels.filter(({ id }) => id !== 'webchat').map(({ id, display_name: label }) => ({ id, label }));
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.deliveries_doing_read());
    }
  }

  async showMore(): Promise<void> {
    this.#limit += PAGE_SIZE;
    await this.#loadList();
  }

  /** Rejects if the gateway refuses, like the methods below. */
  async saveTimes({ quietHours, digest }: Times): Promise<void> {
    await gateway.call('config.patch', { patch: { deliveries: { quietHours: quietHours ?? null, digest: digest ?? null } } });
    this.times = { quietHours, digest };
  }

  async sendTest(targetId: string): Promise<void> {
    await gateway.call('deliveries.test', { targetId });
  }

  async resend(id: string): Promise<void> {
    await gateway.call('deliveries.resend', { id });
  }

  async cancel(id: string): Promise<void> {
    await gateway.call('deliveries.cancel', { id });
  }

  async #loadList(): Promise<void> {
    const loadId = ++this.#loadCount;
    const { deliveries, next } = await gateway.call('deliveries.list', { limit: Math.min(500, this.#limit) });
    if (loadId !== this.#loadCount) return;
    this.list = deliveries;
    this.hasMore = next !== null && this.#limit < 500;
  }
}

export const deliveries = new Deliveries();
