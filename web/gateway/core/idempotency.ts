import { isRepeatable, type Policy } from '#shared/rpc/contract.ts';
import type { Clock } from './clock.ts';

/** For how long a repeat is known as one. */
export const KEEP_MS = 5 * 60_000;
const KEEP = 1000;
const MAX_KEY_CHARS = 256;

/** The key of a call that may have one, and what its handler is given; undefined where there is none, or it is no key. */
export function keyedCall(
  params: Record<string, unknown>,
  policy: Policy | undefined,
): { key: string; params: Record<string, unknown> } | undefined {
  const { idempotencyKey: key, ...rest } = params;
  if (!policy || !isRepeatable(policy) || typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) return undefined;
  return { key, params: policy.idempotent ? params : rest };
}

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
    const seen = this.#answers.get(key);
    if (seen && seen.until > now) return seen.answer;
    this.#answers.delete(key);
    // The oldest first: room for one more.
    for (const [old, { until }] of this.#answers) {
      if (until > now && this.#answers.size < KEEP) break;
      this.#answers.delete(old);
    }
    const answer = work();
    this.#answers.set(key, { answer, until: now + KEEP_MS });
    answer.catch(() => {
      if (this.#answers.get(key)?.answer === answer) this.#answers.delete(key);
    });
    return answer;
  }
}
