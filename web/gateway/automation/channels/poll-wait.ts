import type { Clock } from '#shared/async/clock.ts';
import { sleep } from '#shared/async/watchdog.ts';

/** Duration of a poll without news, in milliseconds. */
export const POLL_MS = 30_000;

/** Lets a poll wait until the adapter's connection has news. */
export class PollWait {
  readonly #clock: Clock;
  #end = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the wait. */
  wake(): void {
    this.#end();
  }

  /** Resolves at `wake`, or after `ms`. Rejects if `signal` aborts. */
  async wait(signal: AbortSignal, ms = POLL_MS): Promise<void> {
    const woken = new AbortController();
    this.#end = () => woken.abort();
    await sleep(this.#clock, ms, AbortSignal.any([signal, woken.signal])).catch(() => {});
    signal.throwIfAborted();
  }
}
