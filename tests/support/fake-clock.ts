import type { Clock } from '../../shared/async/clock.ts';

interface Timer {
  at: number;
  run(): void;
}

/** A clock that advances only on demand. */
export class FakeClock implements Clock {
  #start: number;
  #elapsed = 0;
  #timers: Timer[] = [];
  #watchers: { ms: number; resolve(): void }[] = [];

  constructor(start = Date.UTC(2026, 10, 20, 12)) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#elapsed + ms, run: callback };
    this.#timers.push(timer);
    this.#notifyWatchers();
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** Advances the time and runs due timers in order. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#elapsed = Math.max(this.#elapsed, next.at);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.run();
    }
    this.#elapsed = end;
  }

  /** The wall clock jumps; the monotonic one does not. */
  jump(ms: number): void {
    this.#start += ms;
  }

  /** Timers that wait. */
  pending(): number {
    return this.#timers.length;
  }

  /** Resolves once there is a timer that is due in exactly `ms` from now. */
  waitForTimer(ms: number): Promise<void> {
    return new Promise((found) => {
      this.#watchers.push({ ms, resolve: found });
      this.#notifyWatchers();
    });
  }

  #notifyWatchers(): void {
    this.#watchers = this.#watchers.filter(({ ms, resolve }) => {
      const exists = this.#timers.some(({ at }) => at === this.#elapsed + ms);
      if (exists) resolve();
      return !exists;
    });
  }
}
