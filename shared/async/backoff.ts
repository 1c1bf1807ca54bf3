/** Delays between attempts in a row: each is twice as long as the one before, up to a maximum. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  #ms: number;

  constructor(minMs: number, maxMs: number) {
    this.#minMs = this.#ms = minMs;
    this.#maxMs = maxMs;
  }

  /** Delay before the next attempt, in milliseconds. */
  next(): number {
    const ms = this.#ms;
    this.#ms = Math.min(this.#maxMs, ms * 2);
    return ms;
  }

  /** Call this after a success. */
  reset(): void {
    this.#ms = this.#minMs;
  }
}

/** Varies a delay by a quarter, so that many do not try again at the same moment. */
export const addJitter = (ms: number): number => ms * (0.75 + Math.random() / 2);

/** Maximum delay between two attempts. */
const MAX_DELAY_MS = 15 * 60_000;

/** Delay after a number of consecutive failures, in milliseconds: doubles with each one. */
export const computeBackoff = (failures: number, minMs: number): number => Math.min(MAX_DELAY_MS, minMs * 2 ** Math.min(20, failures - 1));
