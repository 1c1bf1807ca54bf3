import { isRepeatable, type Policy } from '#shared/rpc/contract.ts';
import type { Clock } from './clock.ts';

/** Period in which a repeated call is recognized. */
export const KEEP_MS = 5 * 60_000;
const KEEP = 1000;
/** Maximum total size of the stored results, as JSON; the newest one is kept whatever its size. */
const KEEP_CHARS = 16 * 1024 * 1024;
const MAX_KEY_CHARS = 256;

/** The idempotency key of a call, and the params for its handler; undefined if there is no valid key. */
export function keyedCall(
  params: Record<string, unknown>,
  policy: Policy | undefined,
): { key: string; params: Record<string, unknown> } | undefined {
  const { idempotencyKey: key, ...rest } = params;
  if (!policy || !isRepeatable(policy) || typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) return undefined;
  return { key, params: policy.idempotent ? params : rest };
}

interface Kept {
  answer: Promise<unknown>;
  until: number;
  /** 0 while the call is pending. */
  chars: number;
}

/**
 * Results by idempotency key: repeats within 5 minutes get the first result. At most 1,000 results of 16 MiB in total are kept. Each host
 * has its own; another host recognizes a repeat by the message that the first attempt stored (runs/once.ts).
 */
export class Idempotency {
  readonly #clock: Clock;
  readonly #answers = new Map<string, Kept>();
  #chars = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `work` unless this key has been seen. A failure is forgotten, so that a retry can succeed. */
  once(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const now = this.#clock.monotonic();
    const seen = this.#answers.get(key);
    if (seen && seen.until > now) return seen.answer;
    this.#forget(key);
    // Evict the oldest, to make room for one more.
    for (const [old, { until }] of this.#answers) {
      if (until > now && this.#answers.size < KEEP) break;
      this.#forget(old);
    }
    const kept: Kept = { answer: work(), until: now + KEEP_MS, chars: 0 };
    this.#answers.set(key, kept);
    kept.answer
      .then((value) => {
        if (this.#answers.get(key) === kept) this.#weigh(kept, value);
      })
      .catch(() => {
        if (this.#answers.get(key) === kept) this.#forget(key);
      });
    return kept.answer;
  }

  #weigh(kept: Kept, value: unknown): void {
    kept.chars = JSON.stringify(value).length;
    this.#chars += kept.chars;
    for (const [key, each] of this.#answers) {
      if (this.#chars <= KEEP_CHARS) break;
      if (each.chars > 0 && each !== kept) this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#answers.get(key)?.chars ?? 0;
    this.#answers.delete(key);
  }
}
