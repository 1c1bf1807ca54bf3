import type { Clock } from '#shared/async/clock.ts';

/** Number of consecutive time-outs after which recall pauses, and length of the pause in milliseconds. */
const MAX_TIMEOUTS = 3;
const PAUSE_MS = 60_000;

/**
 * Circuit breaker for a search that does not answer. After the pause the search is tried again; one more time-out starts the next pause.
 */
export class CircuitBreaker {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #timeouts = 0;
  /** End of the pause, in monotonic milliseconds. */
  #openUntil = -Infinity;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Remaining pause in milliseconds; 0 if the search may be tried. */
  get restingMs(): number {
    return Math.max(0, this.#openUntil - this.#clock.monotonic());
  }

  timedOut(): void {
    this.#timeouts++;
    if (this.#timeouts >= MAX_TIMEOUTS) this.#openUntil = this.#clock.monotonic() + PAUSE_MS;
  }

  answered(): void {
    this.#timeouts = 0;
  }
}
