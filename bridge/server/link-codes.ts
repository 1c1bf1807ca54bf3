import { createHash, randomBytes } from 'node:crypto';

/** Maximum number of unused codes; the oldest is dropped first. */
const MAX_CODES = 100;

/**
 * Single-use codes that a browser trades for credentials. They have 128 bits, and only their hashes are stored, so that lookup time reveals
 * nothing. `now` is a monotonic clock in milliseconds.
 */
export class LinkCodes {
  readonly #now: () => number;
  readonly #expiries = new Map<string, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  issue(ttlMs: number): string {
    this.#sweep();
    const code = randomBytes(16).toString('base64url');
    this.#expiries.set(hashCode(code), this.#now() + ttlMs);
    return code;
  }

  /** Uses up a code. `restore` puts it back, for when the new credentials could not be stored. Undefined: unknown, used or expired. */
  redeem(code: string): { restore(): void } | undefined {
    const key = hashCode(code);
    const expiry = this.#expiries.get(key);
    this.#expiries.delete(key);
    if (expiry === undefined || expiry <= this.#now()) return undefined;
    return { restore: () => void this.#expiries.set(key, expiry) };
  }

  #sweep(): void {
    const now = this.#now();
    for (const [key, expiry] of this.#expiries) if (expiry <= now || this.#expiries.size >= MAX_CODES) this.#expiries.delete(key);
  }
}

const hashCode = (code: string): string => createHash('sha256').update(code).digest('base64url');
