import type { Clock } from '#shared/async/clock.ts';

const MINUTE = 60_000;
/** How long Ollama keeps a model in memory after its last use. */
export const KEEP_ALIVE_MS = 5 * MINUTE;

interface Use {
  /** Requests in progress. */
  running: number;
  keepAliveMs: number;
  /** End of the last request. */
  usedAt: number;
}

/** A model that counts as loaded, until a time in milliseconds since 1970. */
interface LoadedModel {
  name: string;
  expiresAt: number;
}

/**
 * Models and agents that clients of Ollama's API use, for as long as Ollama would keep them in memory (`keep_alive`). Perch loads nothing
 * itself. Per caller, since an API key does not see what others use.
 */
export class LoadedModels {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #uses = new Map<string, Map<string, Use>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Counts a request as started. The result ends it; further calls have no effect. */
  begin(principal: string, name: string, keepAliveMs: number): () => void {
    const uses = this.#uses.get(principal) ?? new Map<string, Use>();
    this.#uses.set(principal, uses);
    const use = uses.get(name) ?? { running: 0, keepAliveMs, usedAt: 0 };
    uses.set(name, Object.assign(use, { running: use.running + 1, keepAliveMs }));
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      use.running--;
      use.usedAt = this.#clock.now();
      this.#tidy(principal);
    };
  }

  /** The caller's models. One that was unloaded has a time in the past. */
  list(principal: string): LoadedModel[] {
    const now = this.#clock.now();
    return [...(this.#uses.get(principal) ?? [])].map(([name, { running, keepAliveMs, usedAt }]) => ({
      name,
      expiresAt: running > 0 ? now + Math.max(keepAliveMs, 1) : usedAt + keepAliveMs,
    }));
  }

  /** Forgets models that would not be listed in any case. */
  #tidy(principal: string): void {
    const now = this.#clock.now();
    const uses = this.#uses.get(principal);
    for (const [name, { running, keepAliveMs, usedAt }] of uses ?? [])
      if (running === 0 && usedAt + Math.max(keepAliveMs, KEEP_ALIVE_MS) <= now) uses?.delete(name);
  }
}

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: MINUTE, h: 60 * MINUTE };

/**
 * Converts `keep_alive` to milliseconds: a number of seconds or a duration such as `1h30m`. Below 0 it has no end; values that are neither
 * have no effect, as other options.
 */
export function toKeepAliveMs(value: unknown): number {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds === 'number' && !Number.isNaN(seconds)) return seconds < 0 ? Infinity : seconds * 1000;
  if (typeof value !== 'string') return KEEP_ALIVE_MS;
  const [, sign, rest = ''] = /^([+-]?)(.*)$/.exec(value.trim()) ?? [];
  const parts = [...rest.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== rest) return KEEP_ALIVE_MS;
  return sign === '-' ? Infinity : parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
}
