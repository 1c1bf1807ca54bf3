import type { Clock } from '#shared/async/clock.ts';

/** Default limit for requests on one socket; `gateway.rateLimit` overrides it. */
export const RATE_LIMIT = { perMinute: 600, burst: 100 };

/** A token bucket on the monotonic clock. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #ratePerMs: number;
  readonly #burst: number;
  #tokens: number;
  #updatedAt: number;

  constructor(clock: Clock, { perMinute, burst }: { perMinute: number; burst: number }) {
    this.#clock = clock;
    this.#ratePerMs = perMinute / 60_000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#updatedAt = clock.monotonic();
  }

  /** Takes a token. Returns 0 on success, else the milliseconds until one is available. */
  consume(): number {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#updatedAt) * this.#ratePerMs);
    this.#updatedAt = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.ceil((1 - this.#tokens) / this.#ratePerMs);
  }
}
