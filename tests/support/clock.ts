import type { Clock } from '../../web/gateway/core/clock.ts';

/** A clock that a test moves. Timers run in order when their time comes. */
export class FakeClock implements Clock {
  #now: number;
  #elapsed = 0;
  #timers: { at: number; run: () => void }[] = [];

  constructor(now = Date.UTC(2026, 0, 5, 12)) {
    this.#now = now;
  }

  now(): number {
    return this.#now + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#elapsed + ms, run: callback };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  get timers(): number {
    return this.#timers.length;
  }

  /** Lets time pass, timer by timer, with the work that each causes in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#elapsed + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#elapsed = next.at;
      this.#timers = this.#timers.filter((other) => other !== next);
      next.run();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#elapsed = until;
  }

  /** The wall clock jumps; the monotonic one does not. */
  jump(ms: number): void {
    this.#now += ms;
  }
}
