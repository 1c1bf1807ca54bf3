import type { Clock } from '../clock.ts';

/** So many time-outs in a row, and recall is left alone for so long (decisions, "Memory, recall …"). */
const IN_A_ROW = 3;
const PAUSE_MS = 60_000;

/** Leaves a search alone that does not answer. After the pause it is tried again: one more time-out in the row begins the next. */
export class Breaker {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #timeouts = 0;
  /** Monotonic milliseconds. */
  #until = -Infinity;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Milliseconds for which it is still left alone; 0: it may be asked. */
  get restingMs(): number {
    return Math.max(0, this.#until - this.#clock.monotonic());
  }

  timedOut(): void {
    this.#timeouts++;
    if (this.#timeouts >= IN_A_ROW) this.#until = this.#clock.monotonic() + PAUSE_MS;
  }

  answered(): void {
    this.#timeouts = 0;
  }
}
