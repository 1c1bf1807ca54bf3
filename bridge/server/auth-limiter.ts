/** Ten failures per minute, then a lock-out of five minutes. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const LOCKOUT_MS = 5 * 60_000;

interface Failures {
  /** Times of recent failures, oldest first. */
  at: number[];
  lockedUntil: number;
}

/**
 * Counts failed attempts per key and locks the key out. Keys must come from a closed set (allowed origins, credential classes), since they
 * are never forgotten. `now` is a monotonic clock in milliseconds, so that setting the machine's clock has no effect.
 */
export class AuthLimiter {
  readonly #now: () => number;
  readonly #onlock: (key: string) => void;
  readonly #keys = new Map<string, Failures>();

  constructor({ now = () => performance.now(), onlock = () => {} }: { now?: () => number; onlock?: (key: string) => void } = {}) {
    this.#now = now;
    this.#onlock = onlock;
  }

  /** Milliseconds until the key's lock-out ends; 0 if it is not locked out. */
  locked(key: string): number {
    return Math.max(0, (this.#keys.get(key)?.lockedUntil ?? 0) - this.#now());
  }

  /** Counts a failure. Returns the value of `locked` before it. */
  fail(key: string): number {
    const locked = this.locked(key);
    if (locked > 0) return locked;
    const now = this.#now();
    let failures = this.#keys.get(key);
    if (!failures) this.#keys.set(key, (failures = { at: [], lockedUntil: 0 }));
    failures.at = [...failures.at.filter((at) => at > now - WINDOW_MS), now];
    if (failures.at.length >= MAX_FAILURES) {
      failures.at = [];
      failures.lockedUntil = now + LOCKOUT_MS;
      this.#onlock(key);
    }
    return 0;
  }
}
