/** Time, as the core sees it; tests pass a fake one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds: for time-outs and limits, which a jump of the wall clock must not touch. */
  monotonic(): number;
  /** Runs `callback` after `ms`; the result cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Does `work` every `ms`, the first time after that; the result stops it. */
export function every(clock: Clock, ms: number, work: () => void): () => void {
  let cancel = (): void => {};
  const again = (): void => {
    cancel = clock.after(ms, () => {
      work();
      again();
    });
  };
  again();
  return () => cancel();
}

/** Wraps `work` so that it runs at most once in `ms`; calls in between are dropped. */
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
