import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { setting } from './setting.ts';

export type UpstreamName = keyof UpstreamLimits;
/** Set values; null means the default. */
export type UpstreamSettings = Record<UpstreamName, number | null>;

/** How long models' servers are waited for, and when one is left alone, as a person has set it. */
class Upstream {
  /** Null before the first answer. */
  set = $state.raw<UpstreamSettings | null>(null);
  problem = $state<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const found = await setting('gateway.upstream');
      const stored: Partial<Record<string, unknown>> = typeof found === 'object' && found !== null ? { ...found } : {};
      const of = (name: UpstreamName): number | null => (typeof stored[name] === 'number' ? stored[name] : null);
      this.set = {
        firstByteMs: of('firstByteMs'),
        wholeMs: of('wholeMs'),
        idleMs: of('idleMs'),
        failures: of('failures'),
        pauseMs: of('pauseMs'),
      };
      this.problem = null;
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.settings_doing_read_upstream());
    }
  }

  /** Null goes back to the default. Rejects where the gateway refuses. */
  async save(change: Partial<UpstreamSettings>): Promise<void> {
    await gateway.call('config.patch', { patch: { gateway: { upstream: change } } });
    if (this.set) this.set = { ...this.set, ...change };
  }
}

export const upstream = new Upstream();
