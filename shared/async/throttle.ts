import type { Clock } from './clock.ts';

/** Passes keys on: the first at once, then every `ms` those added since, each key once. */
export class Throttle<K> {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #emit: (keys: readonly K[]) => void;
  readonly #pending = new Set<K>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, ms: number, pass: (keys: readonly K[]) => void) {
    this.#clock = clock;
    this.#intervalMs = ms;
    this.#emit = pass;
  }

  add(keys: Iterable<K>): void {
    for (const key of keys) this.#pending.add(key);
    if (!this.#cancel) this.#flush();
  }

  /** Stops, and drops waiting keys. */
  stop(): void {
    this.#pending.clear();
    this.#cancel?.();
  }

  #flush(): void {
    this.#cancel = undefined;
    if (this.#pending.size === 0) return;
    const keys = [...this.#pending];
    this.#pending.clear();
    this.#cancel = this.#clock.after(this.#intervalMs, () => this.#flush());
    this.#emit(keys);
  }
}
