import type { Clock } from '../web/gateway/core/clock.ts';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves time on and runs what falls due, in order. */
  advance(ms: number): void;
  /** Timers that wait. */
  pending(): number;
  /** Resolves once a timer waits that is due in exactly `ms` from now. */
  waitsFor(ms: number): Promise<void>;
}

export function manualClock(start = Date.UTC(2026, 10, 20, 12)): ManualClock {
  let now = 0;
  let timers: { at: number; callback: () => void }[] = [];
  let watchers: { ms: number; found: () => void }[] = [];
  const look = (): void => {
    watchers = watchers.filter(({ ms, found }) => {
      const there = timers.some(({ at }) => at === now + ms);
      if (there) found();
      return !there;
    });
  };
  return {
    now: () => start + now,
    monotonic: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      look();
      return () => void (timers = timers.filter((each) => each !== timer));
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = Math.max(now, next.at);
        timers = timers.filter((each) => each !== next);
        next.callback();
      }
      now = end;
    },
    pending: () => timers.length,
    waitsFor: (ms) =>
      new Promise((found) => {
        watchers.push({ ms, found });
        look();
      }),
  };
}
