import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import { isConnectionLost, type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/page-messages.ts';
import { readSetting } from './read-setting.ts';

export type UpstreamSettingName = keyof UpstreamLimits;
/** Set values; null means the default. */
export type UpstreamSettings = Record<UpstreamSettingName, number | null>;

/** How long models' servers are waited for, and when one is left alone, as a person has set it. */
class Upstream {
  /** Null before the first answer. */
  settings = $state.raw<UpstreamSettings | null>(null);
  problem = $state<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const storedSettings = await readSetting('gateway.upstream');
      const stored: Partial<Record<string, unknown>> =
        typeof storedSettings === 'object' && storedSettings !== null ? { ...storedSettings } : {};
      const of = (name: UpstreamSettingName): number | null => (typeof stored[name] === 'number' ? stored[name] : null);
      this.settings = {
        firstByteMs: of('firstByteMs'),
        wholeMs: of('wholeMs'),
        idleMs: of('idleMs'),
        failures: of('failures'),
        pauseMs: of('pauseMs'),
      };
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.settings_doing_read_upstream());
    }
  }

  /** Null goes back to the default. Rejects where the gateway refuses. */
  async save(change: Partial<UpstreamSettings>): Promise<void> {
    await gateway.call('config.patch', { patch: { gateway: { upstream: change } } });
    if (this.settings) this.settings = { ...this.settings, ...change };
  }
}

export const upstream = new Upstream();
