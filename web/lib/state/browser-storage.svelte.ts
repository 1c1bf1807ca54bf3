import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { getReportedQuota } from '#shared/reported-quota.ts';
import { pageVisibility } from './page-visibility.svelte.ts';

/** Each tells that there is something of the person's that was not there before. */
const CREATED_EVENTS = [
  'sessions.changed',
  'drawings.changed',
  'wiki.changed',
  'memory.changed',
  'plan.changed',
  'cron.changed',
  'config.changed',
] as const;

/** Whether this browser keeps the app's data permanently, and how much space is left. */
class BrowserStorage {
  isPersisted = $state<boolean | null>(null);
  /** Bytes. */
  usage = $state<number | null>(null);
  /** Bytes; null where the browser does not say. */
  quota = $state<number | null>(null);
  #hasRequested = false;

  /** Asks to keep the data at the first that is made, in whatever part of the app. */
  start(): void {
    for (const event of CREATED_EVENTS) gateway.on(event, () => void (pageVisibility.isVisible && this.requestOnce()));
  }

  async read(): Promise<void> {
    this.isPersisted = (await navigator.storage?.persisted?.().catch(() => null)) ?? null;
    const { usage, quota } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {};
    this.usage = usage ?? null;
    this.quota = usage === undefined || quota === undefined ? null : getReportedQuota({ usage, quota });
  }

  /** Asks the browser, once a visit, not to evict the data. */
  async requestOnce(): Promise<void> {
    if (this.#hasRequested) return;
    this.#hasRequested = true;
    await this.requestPersistence();
  }

  /** Asks again, because the person wants it. */
  async requestPersistence(): Promise<void> {
    if (await navigator.storage?.persist?.().catch(() => false)) this.isPersisted = true;
    await this.read();
  }
}

export const browserStorage = new BrowserStorage();
