import type { Clock } from './clock.ts';

/** For how long a repeat is known as one. */
export const KEEP_MS = 5 * 60_000;
const KEEP = 1000;

/**
 * First answers by idempotency key (decisions, "Frames and connection"): repeats within 5 minutes get the same one, 1,000 are kept. Each host has its own:
 * what reaches another host is known there by the message that the first try stored (runs/once.ts).
 */
export class Idempotency {
  readonly #clock: Clock;
  readonly #answers = new Map<string, { answer: Promise<unknown>; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `work` unless this key has been seen. An answer that failed is forgotten, so that a retry can succeed. */
  once(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const now = this.#clock.monotonic();
    for (const [old, { until }] of this.#answers) {
      if (until > now && this.#answers.size <= KEEP) break;
      this.#answers.delete(old);
    }
    const seen = this.#answers.get(key);
    if (seen && seen.until > now) return seen.answer;
    const answer = work();
    this.#answers.set(key, { answer, until: now + KEEP_MS });
    answer.catch(() => {
      if (this.#answers.get(key)?.answer === answer) this.#answers.delete(key);
    });
    return answer;
  }
}
