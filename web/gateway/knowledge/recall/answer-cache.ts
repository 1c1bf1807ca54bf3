import type { Clock } from '#shared/async/clock.ts';

/** Short-lived cache of answers by question; the oldest are evicted. */
export class AnswerCache<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { value: T; until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>, ttlMs: number, maxEntries: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const cached = this.#entries.get(key);
    if (!cached) return undefined;
    if (cached.until > this.#clock.monotonic()) return cached.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: T): void {
    if (this.#ttlMs <= 0) return;
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.monotonic() + this.#ttlMs });
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
