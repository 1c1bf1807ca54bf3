import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { readSetting } from '#app/state/read-setting.ts';

export type UpstreamSettingName = keyof UpstreamLimits;
/** Set values; null means the default. */
export type UpstreamSettings = Record<UpstreamSettingName, number | null>;

/** Timeouts of calls to model servers, and failures after which a server is paused. */
class Upstream {
  /** Null before the first answer. */
  settings = $state.raw<UpstreamSettings | null>(null);
  problem = $state<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const value = await readSetting('gateway.upstream');
      const stored: Partial<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
      const readNumber = (name: UpstreamSettingName): number | null => (typeof stored[name] === 'number' ? stored[name] : null);
      this.settings = {
        firstByteMs: readNumber('firstByteMs'),
        wholeMs: readNumber('wholeMs'),
        idleMs: readNumber('idleMs'),
        failures: readNumber('failures'),
        pauseMs: readNumber('pauseMs'),
      };
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.settings_doing_read_upstream());
    }
  }

  /** Saves settings; null restores a default. Rejects if the gateway refuses. */
  async save(change: Partial<UpstreamSettings>): Promise<void> {
    await gateway.call('config.patch', { patch: { gateway: { upstream: change } } });
    if (this.settings) this.settings = { ...this.settings, ...change };
  }
}

export const upstream = new Upstream();
