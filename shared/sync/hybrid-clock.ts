const READING_PATTERN = /^(\d{15})-([0-9a-z]{4})-(.+)$/;
const COUNTER_LIMIT = 36 ** 4;

/**
 * A hybrid logical clock: readings follow the wall clock, but never go back or repeat, even if the wall clock jumps. A reading is a
 * sortable string: `<wall ms, 15 digits>-<counter, 4 in base 36>-<origin>`.
 */
export class HybridClock {
  readonly #now: () => number;
  readonly #origin: string;
  #wall = 0;
  #counter = 0;

  /** `now`: the wall clock in milliseconds since 1970. `origin`: the writer; it orders equal readings of two hosts. */
  constructor(now: () => number, origin: string) {
    this.#now = now;
    this.#origin = origin;
  }

  /** The next reading: later than every reading given or received before. */
  tick(): string {
    const wall = Math.max(0, Math.floor(this.#now()));
    if (wall > this.#wall) {
      this.#wall = wall;
      this.#counter = 0;
    } else if (++this.#counter === COUNTER_LIMIT) {
      this.#wall++;
      this.#counter = 0;
    }
    return `${String(this.#wall).padStart(15, '0')}-${this.#counter.toString(36).padStart(4, '0')}-${this.#origin}`;
  }

  /** Milliseconds by which the newest reading of any host is ahead of the local wall clock. */
  ahead(): number {
    return this.#wall - Math.floor(this.#now());
  }

  /** Records a reading of another host (or of an earlier run of this one). Throws if the string is invalid. */
  receive(reading: string): void {
    const [, wallText, counterText] = READING_PATTERN.exec(reading) ?? [];
    if (wallText === undefined || counterText === undefined) throw new RangeError(`Invalid hybrid clock reading: "${reading}"`);
    const wall = Number(wallText);
    const counter = parseInt(counterText, 36);
    if (wall < this.#wall || (wall === this.#wall && counter <= this.#counter)) return;
    this.#wall = wall;
    this.#counter = counter;
  }
}
