import type { Clock } from './clock.ts';

/** Interval in which a waiting reader is looked at. */
const LOOK_MS = 25;
/** A reader that takes fewer bytes in this time does not read steadily. */
const STEADY_BYTES = 64 * 1024;
const PATIENCE_MS = 500;
/** One wait is no longer than this, so that a run hears soon that it was stopped. */
const MAX_WAIT_MS = 1_000;

export interface ReaderPaceOptions {
  clock: Clock;
  /** Bytes that wait for the reader. */
  waiting(): number;
  /** Bytes that the reader has taken so far. */
  taken(): number;
  /** With more than this waiting, runs slow down. */
  above: number;
}

/**
 * Slows runs down to a client that reads steadily, so that a fast model does not make it a slow consumer. A client that stalls is
 * waited for once, and then not again until it has caught up: a run goes on without it.
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
