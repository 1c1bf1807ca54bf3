import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { budgets } from '#app/budgets/budgets.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import type { UsageReport } from './types.ts';

/** Interval of polling in milliseconds: events report the end of runs, but not calls by programs over HTTP. */
const REFRESH_MS = 15_000;

/** Usage and cost of model calls over a number of days. */
class Usage {
  days = $state(30);
  /** Null before the first answer. */
  report = $state.raw<UsageReport | null>(null);
  problem = $state<Problem | null>(null);
  #loadCount = 0;

  /** Loads the report now, after each run, and at an interval. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stops = [gateway.on('chat.done', () => void this.load()), gateway.on('budgets.changed', () => void budgets.load())];
    const timer = setInterval(() => void (document.hidden || gateway.state !== 'online' || this.load()), REFRESH_MS);
    return () => {
      for (const stop of stops) stop();
      clearInterval(timer);
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    const { days } = this;
    void budgets.load();
    try {
      const [totals, daily, hourly] = await Promise.all([
        gateway.call('usage.get', { days }),
        gateway.call('usage.daily', { days }),
        gateway.call('usage.hourly', { days }),
      ]);
      // A later load has begun.
      if (loadId !== this.#loadCount) return;
      this.report = { totals, days: daily.dailyBreakdown, hours: hourly.hourlyDistribution };
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.usage_doing_read());
    }
  }

  selectDays(days: number): void {
    this.days = days;
    void this.load();
  }
}

export const usage = new Usage();
