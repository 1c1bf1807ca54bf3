import { gateway } from '../connection/gateway-connection.svelte.ts';
import { getReportedQuota } from '#shared/reported-quota.ts';
import { pageVisibility } from '../connection/page-visibility.svelte.ts';

/** Events that report newly created data of the person. */
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
  /** Bytes; null if the browser does not report it. */
  quota = $state<number | null>(null);
  #hasRequested = false;

  /** Requests persistent storage when the first data is created, in any part of the app. */
  start(): void {
    for (const event of CREATED_EVENTS) gateway.on(event, () => void (pageVisibility.isVisible && this.requestOnce()));
  }

  async read(): Promise<void> {
    this.isPersisted = (await navigator.storage?.persisted?.().catch(() => null)) ?? null;
    const { usage, quota } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {};
    this.usage = usage ?? null;
    this.quota = usage === undefined || quota === undefined ? null : getReportedQuota({ usage, quota });
  }

  /** Requests persistent storage, at most once per visit. */
  async requestOnce(): Promise<void> {
    if (this.#hasRequested) return;
    this.#hasRequested = true;
    await this.requestPersistence();
  }

  /** Requests persistent storage, also if it was requested before. */
  async requestPersistence(): Promise<void> {
    if (await navigator.storage?.persist?.().catch(() => false)) this.isPersisted = true;
    await this.read();
  }
}

export const browserStorage = new BrowserStorage();
