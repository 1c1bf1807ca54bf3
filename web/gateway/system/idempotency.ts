import { isRepeatable, type MethodPolicy } from '#shared/rpc/contract.ts';
import type { Clock } from '#shared/async/clock.ts';

/** Period in which a repeated call is recognized. */
export const RETENTION_MS = 5 * 60_000;
const MAX_RESULTS = 1000;
/** Maximum total size of the stored results, as JSON; the newest one is kept whatever its size. */
const MAX_RESULT_CHARS = 16 * 1024 * 1024;
const MAX_KEY_CHARS = 256;

/** The idempotency key of a call, and the params for its handler; undefined if there is no valid key. */
export function toKeyedCall(
  params: Record<string, unknown>,
  policy: MethodPolicy | undefined,
): { key: string; params: Record<string, unknown> } | undefined {
  const { idempotencyKey: key, ...rest } = params;
  if (!policy || !isRepeatable(policy) || typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) return undefined;
  return { key, params: policy.idempotent ? params : rest };
}

interface CachedResult {
  result: Promise<unknown>;
  until: number;
  /** 0 while the call is pending. */
  chars: number;
}

/**
 * Results by idempotency key: repeats within 5 minutes get the first result. At most 1,000 results of 16 MiB in total are kept. Each host
 * has its own; another host recognizes a repeat by the message that the first attempt stored (runs/idempotent-send.ts).
 */
export class IdempotencyCache {
  readonly #clock: Clock;
  readonly #results = new Map<string, CachedResult>();
  #chars = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `work` unless this key has been seen. A failure is forgotten, so that a retry can succeed. */
  runOnce(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const now = this.#clock.monotonic();
    const existing = this.#results.get(key);
    if (existing && existing.until > now) return existing.result;
    this.#evict(key);
    // Evict the oldest, to make room for one more.
    for (const [old, { until }] of this.#results) {
      if (until > now && this.#results.size < MAX_RESULTS) break;
      this.#evict(old);
    }
    const cached: CachedResult = { result: work(), until: now + RETENTION_MS, chars: 0 };
    this.#results.set(key, cached);
    cached.result
      .then((value) => {
        if (this.#results.get(key) === cached) this.#recordSize(cached, value);
      })
      .catch(() => {
        if (this.#results.get(key) === cached) this.#evict(key);
      });
    return cached.result;
  }

  #recordSize(cached: CachedResult, value: unknown): void {
    cached.chars = JSON.stringify(value).length;
    this.#chars += cached.chars;
    for (const [key, result] of this.#results) {
      if (this.#chars <= MAX_RESULT_CHARS) break;
      if (result.chars > 0 && result !== cached) this.#evict(key);
    }
  }

  #evict(key: string): void {
    this.#chars -= this.#results.get(key)?.chars ?? 0;
    this.#results.delete(key);
  }
}
