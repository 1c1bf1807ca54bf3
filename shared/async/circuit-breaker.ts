import type { Clock } from './clock.ts';

interface CircuitLimits {
  /** Consecutive failures after which attempts pause; 0 for never. */
  failures: number;
  pauseMs: number;
}

/** Circuit breaker: counts consecutive failures and pauses attempts after too many. One more failure after the pause starts the next. */
export class CircuitBreaker {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limits: () => CircuitLimits;
  #failures = 0;
  #pausedUntil: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, limits: () => CircuitLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Undefined if not paused, else the number of failures so far and the milliseconds until the next attempt. */
  get pauseState(): { failures: number; leftMs: number } | undefined {
    if (this.#pausedUntil === undefined) return undefined;
    return { failures: this.#failures, leftMs: Math.max(0, this.#pausedUntil - this.#clock.monotonic()) };
  }

  /** Ends the pause: the next attempt may be made. */
  endPause(): void {
    if (this.#pausedUntil !== undefined) this.#pausedUntil = Math.min(this.#pausedUntil, this.#clock.monotonic());
  }

  succeed(): void {
    this.#failures = 0;
    this.#pausedUntil = undefined;
  }

  fail(): void {
    const { failures, pauseMs } = this.#limits();
    this.#failures++;
    if (failures > 0 && this.#failures >= failures) this.#pausedUntil = this.#clock.monotonic() + pauseMs;
  }
}
