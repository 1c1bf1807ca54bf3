/** Does one thing after the other, each when the one before is over, however that ended. */
export class Turns {
  #tail: Promise<void> = Promise.resolve();

  /** As `work` ends. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.then(nothing, nothing);
    return done;
  }

  /** The same, but rejects with the reason of `signal` if it aborts while waiting; `work` then does not start. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    const turn = Promise.withResolvers<void>();
    this.#tail = before.then(() => turn.promise);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      turn.resolve();
    }
  }
}

/** A promise that is not waited for any more when the signal fires: it rejects with its reason then. */
export function unlessAborted<T>(waited: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([waited, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

const nothing = (): void => {};
