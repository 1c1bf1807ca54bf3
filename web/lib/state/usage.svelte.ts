import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import type { UsageReport } from '#lib/usage/types.ts';

/** Runs are told of as they end; what programs ask for over HTTP is looked for this often. */
const LOOK_EVERY_MS = 15_000;

/** Usage and cost of model calls over a number of days. */
class Usage {
  days = $state(30);
  /** Null before the first answer. */
  report = $state.raw<UsageReport | null>(null);
  problem = $state<Problem | null>(null);
  #asked = 0;

  /** Reads it now, after each run, and now and then; the result stops it. */
  show(): () => void {
    void this.load();
    const stop = gateway.on('chat.done', () => void this.load());
    const timer = setInterval(() => void (document.hidden || gateway.state !== 'online' || this.load()), LOOK_EVERY_MS);
    return () => {
      stop();
      clearInterval(timer);
    };
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    const { days } = this;
    try {
      const [totals, daily, hourly] = await Promise.all([
        gateway.call('usage.get', { days }),
        gateway.call('usage.daily', { days }),
        gateway.call('usage.hourly', { days }),
      ]);
      // A later question is answered by its own answer.
      if (asked !== this.#asked) return;
      this.report = { totals, days: daily.dailyBreakdown, hours: hourly.hourlyDistribution };
      this.problem = null;
    } catch (error) {
      if (asked === this.#asked && !isLost(error)) this.problem = problemOf(error, m.usage_doing_read());
    }
  }

  choose(days: number): void {
    this.days = days;
    void this.load();
  }
}

export const usage = new Usage();
