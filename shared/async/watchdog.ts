import type { Clock } from './clock.ts';

/** A signal that follows the caller's, and fires after a silence. `touch` resets the time. */
export class Watchdog {
  readonly clock: Clock;
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #onParentAbort: () => void;
  readonly #createError: (ms: number) => unknown;
  #limit: number;
  #lastActiveAt: number;
  #isPaused = false;
  #cancel: () => void = () => {};

  /** `createError` returns the reason of the signal after `limit` milliseconds without a touch. */
  constructor(clock: Clock, limit: number, parent: AbortSignal, createError: (ms: number) => unknown) {
    this.clock = clock;
    this.#limit = limit;
    this.#parent = parent;
    this.#createError = createError;
    this.#lastActiveAt = clock.monotonic();
    this.#onParentAbort = () => this.#fire(parent.reason);
    if (parent.aborted) this.#fire(parent.reason);
    else {
      parent.addEventListener('abort', this.#onParentAbort, { once: true });
      this.#arm(limit);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only records the time: the timer checks it when due, which is cheaper than a new timer per chunk. */
  touch(): void {
    this.#lastActiveAt = this.clock.monotonic();
  }

  /** Sets a new time-out, in milliseconds. */
  setLimit(ms: number): void {
    this.#limit = ms;
    this.touch();
    this.#cancel();
    if (!this.signal.aborted) this.#arm(ms);
  }

  /** True while nobody waits for the next bytes: that time does not count as silence. */
  set isPaused(value: boolean) {
    this.#isPaused = value;
    this.touch();
  }

  /** Stops the time-out; the signal still follows the caller's. */
  disarm(): void {
    this.#cancel();
  }

  stop(): void {
    this.#cancel();
    this.#parent.removeEventListener('abort', this.#onParentAbort);
  }

  #arm(ms: number): void {
    this.#cancel = this.clock.after(ms, () => {
      const remainingMs = this.#limit - (this.clock.monotonic() - this.#lastActiveAt);
      // A timer may fire a fraction of a millisecond early by the monotonic clock.
      if (this.#isPaused) this.#arm(this.#limit);
      else if (remainingMs < 1) this.#fire(this.#createError(this.#limit));
      else this.#arm(remainingMs);
    });
  }

  #fire(reason: unknown): void {
    this.stop();
    this.#controller.abort(reason);
  }
}

/** Settles with `promise`, or rejects with the signal's reason as soon as it fires, even if the work ignores the signal. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Waits `ms` milliseconds, or rejects with the signal's reason. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let cancel = (): void => {};
  const elapsed = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  return abortable(elapsed, signal).finally(cancel);
}

/** Runs `work` with a signal that follows `parent` and fires after `ms` with a `TimeoutError`. */
export async function withTimeout<T>(clock: Clock, ms: number, parent: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const watchdog = new Watchdog(clock, ms, parent, () => new DOMException(`No response within ${ms / 1000} s`, 'TimeoutError'));
  try {
    return await abortable(work(watchdog.signal), watchdog.signal);
  } finally {
    watchdog.stop();
  }
}
