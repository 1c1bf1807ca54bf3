/** Time for the core; tests pass a fake clock. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds, for time-outs and limits: not affected by changes of the wall clock. */
  monotonic(): number;
  /** Runs `callback` after `ms`; returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Runs `work` every `ms`, first after `ms`; returns a function that stops it. */
export function every(clock: Clock, ms: number, work: () => void): () => void {
  let cancel = (): void => {};
  const repeat = (): void => {
    cancel = clock.after(ms, () => {
      work();
      repeat();
    });
  };
  repeat();
  return () => cancel();
}

/** Wraps `work` so that it runs at most once every `ms`; calls in between are dropped. */
export function limitRate<Args extends unknown[]>(clock: Clock, ms: number, work: (...args: Args) => void): (...args: Args) => void {
  let last = -Infinity;
  return (...args) => {
    const now = clock.monotonic();
    if (now - last < ms) return;
    last = now;
    work(...args);
  };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
