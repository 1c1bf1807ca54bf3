import { createHash, randomBytes } from 'node:crypto';

/** Codes not traded yet that are kept; the oldest goes first. */
const MAX_CODES = 100;

/**
 * Single-use codes that a browser trades for credentials (design.md, "Two origins would be two databases"). 128 bits each; only their hashes are
 * kept, so that looking one up takes no time that tells about it. `now` is a monotonic clock in milliseconds.
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
    this.#expiries.set(hash(code), this.#now() + ttlMs);
    return code;
  }

  /** Takes the code out. `restore` puts it back, for when what it was traded for could not be stored. Undefined: unknown, used or expired. */
  redeem(code: string): { restore(): void } | undefined {
    const key = hash(code);
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

const hash = (code: string): string => createHash('sha256').update(code).digest('base64url');
