import { gateway } from '#lib/gateway/connection.svelte.ts';
import { toldQuota } from '#shared/told-quota.ts';
import { visible } from './visible.svelte.ts';

/** Each tells that there is something of the person's that was not there before. */
const MADE = [
  'sessions.changed',
  'drawings.changed',
  'wiki.changed',
  'memory.changed',
  'plan.changed',
  'cron.changed',
  'config.changed',
] as const;

/** Whether this browser keeps the app's data permanently, and how much space is left. */
class Storage {
  persisted = $state<boolean | null>(null);
  /** Bytes. */
  usage = $state<number | null>(null);
  /** Bytes; null where the browser does not say. */
  quota = $state<number | null>(null);
  #asked = false;

  /** Asks to keep the data at the first that is made, in whatever part of the app. */
  start(): void {
    for (const event of MADE) gateway.on(event, () => void (visible.now && this.persist()));
  }

  async read(): Promise<void> {
    this.persisted = (await navigator.storage?.persisted?.().catch(() => null)) ?? null;
    const { usage, quota } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {};
    this.usage = usage ?? null;
    this.quota = usage === undefined || quota === undefined ? null : toldQuota({ usage, quota });
  }

  /** Asks the browser, once a visit, not to evict the data. */
  async persist(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    await this.ask();
  }

  /** Asks again, because the person wants it. */
  async ask(): Promise<void> {
    if (await navigator.storage?.persist?.().catch(() => false)) this.persisted = true;
    await this.read();
  }
}

export const storage = new Storage();
