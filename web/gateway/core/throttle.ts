import type { Clock } from './clock.ts';

/** Passes keys on: the first at once, then every `ms` those added since, each key once. */
export class Throttle<K> {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #emit: (keys: readonly K[]) => void;
  readonly #waiting = new Set<K>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, ms: number, pass: (keys: readonly K[]) => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#emit = pass;
  }

  add(keys: Iterable<K>): void {
    for (const key of keys) this.#waiting.add(key);
    if (!this.#cancel) this.#flush();
  }

  /** Stops, and drops waiting keys. */
  stop(): void {
    this.#waiting.clear();
    this.#cancel?.();
  }

  #flush(): void {
    this.#cancel = undefined;
    if (this.#waiting.size === 0) return;
    const keys = [...this.#waiting];
    this.#waiting.clear();
    this.#cancel = this.#clock.after(this.#ms, () => this.#flush());
    this.#emit(keys);
  }
}
