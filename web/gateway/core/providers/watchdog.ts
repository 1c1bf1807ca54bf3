import type { Clock } from '../clock.ts';

/** A signal that follows the caller's, and fires after a silence. `touch` resets the time. */
export class Watchdog {
  readonly clock: Clock;
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #onParent: () => void;
  readonly #silence: (ms: number) => unknown;
  #limit: number;
  #last: number;
  #held = false;
  #cancel: () => void = () => {};

  /** `silence` returns the reason of the signal after `limit` milliseconds without a touch. */
  constructor(clock: Clock, limit: number, parent: AbortSignal, silence: (ms: number) => unknown) {
    this.clock = clock;
    this.#limit = limit;
    this.#parent = parent;
    this.#silence = silence;
    this.#last = clock.monotonic();
    this.#onParent = () => this.#fire(parent.reason);
    if (parent.aborted) this.#fire(parent.reason);
    else {
      parent.addEventListener('abort', this.#onParent, { once: true });
      this.#arm(limit);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only records the time: the timer checks it when due, which is cheaper than a new timer per chunk. */
  touch(): void {
    this.#last = this.clock.monotonic();
  }

  /** Sets a new time-out, in milliseconds. */
  limit(ms: number): void {
    this.#limit = ms;
    this.touch();
    this.#cancel();
    if (!this.signal.aborted) this.#arm(ms);
  }

  /** True while nobody waits for the next bytes: that time does not count as silence. */
  set held(held: boolean) {
    this.#held = held;
    this.touch();
  }

  /** Stops the time-out; the signal still follows the caller's. */
  rest(): void {
    this.#cancel();
  }

  stop(): void {
    this.#cancel();
    this.#parent.removeEventListener('abort', this.#onParent);
  }

  #arm(ms: number): void {
    this.#cancel = this.clock.after(ms, () => {
      const left = this.#limit - (this.clock.monotonic() - this.#last);
      // A timer may fire a fraction of a millisecond early by the monotonic clock.
      if (this.#held) this.#arm(this.#limit);
      else if (left < 1) this.#fire(this.#silence(this.#limit));
      else this.#arm(left);
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
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let cancel = (): void => {};
  const waited = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  return abortable(waited, signal).finally(cancel);
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
