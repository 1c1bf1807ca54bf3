import type { Clock } from '#shared/async/clock.ts';

/** Interval between checks of a waiting reader. */
const CHECK_INTERVAL_MS = 25;
/** Bytes that a steady reader takes at least within `STALL_MS`. */
const STEADY_BYTES = 64 * 1024;
const STALL_MS = 500;
/** Maximum duration of one wait, so that a stopped run notices soon. */
const MAX_WAIT_MS = 1_000;

export interface ReaderPaceOptions {
  clock: Clock;
  /** Bytes that are waiting to be sent. */
  getWaitingBytes(): number;
  /** Bytes that the reader has taken so far. */
  getReadBytes(): number;
  /** Waiting bytes above which runs slow down. */
  maxWaitingBytes: number;
}

/**
 * Slows runs down to the pace of a client that reads steadily, so that a fast model does not overflow its buffer. A stalled client is
 * waited for once, and not again until it has caught up; the run continues without it.
 */
export class ReaderPace {
  readonly #options: ReaderPaceOptions;
  #pendingWait: Promise<void> | undefined;
  #isStalled = false;

  constructor(options: ReaderPaceOptions) {
    this.#options = options;
  }

  /** Resolves when the client is ready for more; undefined if it is now, or is not waited for. */
  ready(): Promise<void> | undefined {
    const { getWaitingBytes, maxWaitingBytes } = this.#options;
    if (getWaitingBytes() <= maxWaitingBytes) {
      this.#isStalled = false;
      return undefined;
    }
    if (this.#isStalled) return undefined;
    this.#pendingWait ??= this.#waitForReader().finally(() => (this.#pendingWait = undefined));
    return this.#pendingWait;
  }

  async #waitForReader(): Promise<void> {
    const { clock, getWaitingBytes, getReadBytes, maxWaitingBytes } = this.#options;
    const start = clock.monotonic();
    let last = { bytes: getReadBytes(), at: start };
    while (getWaitingBytes() > maxWaitingBytes) {
      await new Promise<void>((resolve) => clock.after(CHECK_INTERVAL_MS, resolve));
      const now = clock.monotonic();
      if (getReadBytes() - last.bytes >= STEADY_BYTES) last = { bytes: getReadBytes(), at: now };
      else if (now - last.at >= STALL_MS) this.#isStalled = true;
      if (this.#isStalled || now - start >= MAX_WAIT_MS) return;
    }
  }
}
