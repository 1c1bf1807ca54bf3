import type { Clock } from '../clock.ts';

/** Short-lived cache of answers by question; the oldest are evicted. */
export class AnswerCache<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: number;
  readonly #most: number;
  readonly #kept = new Map<string, { value: T; until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>, ttlMs: number, maxEntries: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#most = maxEntries;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): T | undefined {
    const cached = this.#kept.get(key);
    if (!cached) return undefined;
    if (cached.until > this.#clock.monotonic()) return cached.value;
    this.#kept.delete(key);
    return undefined;
  }

  set(key: string, value: T): void {
    if (this.#ttlMs <= 0) return;
    this.#kept.delete(key);
    this.#kept.set(key, { value, until: this.#clock.monotonic() + this.#ttlMs });
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= this.#most) break;
      this.#kept.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#kept.delete(key);
  }
}
