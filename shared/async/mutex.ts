/** Does one thing after the other, each when the one before is over, however that ended. */
export class Mutex {
  #tail: Promise<void> = Promise.resolve();

  /** Settles like `work`. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.then(noop, noop);
    return done;
  }

  /** The same, but rejects with the reason of `signal` if it aborts while waiting; `work` then does not start. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    const released = Promise.withResolvers<void>();
    this.#tail = before.then(() => released.promise);
    try {
      await raceAbort(before, signal);
      return await work();
    } finally {
      released.resolve();
    }
  }
}

/** A promise that is not waited for any more when the signal fires: it rejects with its reason then. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

const noop = (): void => {};
