import type { Clock } from './clock.ts';

/** Interval between checks of a waiting reader. */
const LOOK_MS = 25;
/** Bytes that a steady reader takes at least within `PATIENCE_MS`. */
const STEADY_BYTES = 64 * 1024;
const PATIENCE_MS = 500;
/** Maximum duration of one wait, so that a stopped run notices soon. */
const MAX_WAIT_MS = 1_000;

export interface ReaderPaceOptions {
  clock: Clock;
  /** Bytes that are waiting to be sent. */
  waiting(): number;
  /** Bytes that the reader has taken so far. */
  taken(): number;
  /** Waiting bytes above which runs slow down. */
  above: number;
}

/**
 * Slows runs down to the pace of a client that reads steadily, so that a fast model does not overflow its buffer. A stalled client is
 * waited for once, and not again until it has caught up; the run continues without it.
 */
export class ReaderPace {
  readonly #options: ReaderPaceOptions;
  #wait: Promise<void> | undefined;
  #isStalled = false;

  constructor(options: ReaderPaceOptions) {
    this.#options = options;
  }

  /** Resolves when the client is ready for more; undefined if it is now, or is not waited for. */
  ready(): Promise<void> | undefined {
    const { waiting, above } = this.#options;
    if (waiting() <= above) {
      this.#isStalled = false;
      return undefined;
    }
    if (this.#isStalled) return undefined;
    this.#wait ??= this.#untilTaken().finally(() => (this.#wait = undefined));
    return this.#wait;
  }

  async #untilTaken(): Promise<void> {
    const { clock, waiting, taken, above } = this.#options;
    const start = clock.monotonic();
    let seen = { bytes: taken(), at: start };
    while (waiting() > above) {
      await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
      const now = clock.monotonic();
      if (taken() - seen.bytes >= STEADY_BYTES) seen = { bytes: taken(), at: now };
      else if (now - seen.at >= PATIENCE_MS) this.#isStalled = true;
      if (this.#isStalled || now - start >= MAX_WAIT_MS) return;
    }
  }
}
