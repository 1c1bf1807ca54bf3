import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Clock } from '#shared/async/clock.ts';
import { RateLimit } from '../system/rate-limit.ts';

const CONTROL_PLANE_LIMIT = { perMinute: 30, burst: 30 };
/** Minimum interval between two reports of a rate-limited connection. */
const REPORT_INTERVAL_MS = 60_000;

interface ConnectionLimitsOptions {
  clock: Clock;
  /** Limit for requests of any method. */
  limit: { perMinute: number; burst: number };
  /** Called with the rate-limited method, at most once per `REPORT_INTERVAL_MS`. */
  onlimited(method: string): void;
}

/** Rate limits of one connection: in total, and for each method of the control plane. */
export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  readonly #total: RateLimit;
  readonly #controlPlane = new Map<string, RateLimit>();
  #reportedAt = -Infinity;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
    this.#total = new RateLimit(options.clock, options.limit);
  }

  /** Counts a call; throws `RATE_LIMITED` if it exceeds a limit. */
  consume(method: string, isControlPlane: boolean): void {
    let wait = this.#total.consume();
    if (wait === 0 && isControlPlane) wait = this.#getControlPlaneLimit(method).consume();
    if (wait === 0) return;
    const { clock, onlimited } = this.#options;
    if (clock.monotonic() - this.#reportedAt >= REPORT_INTERVAL_MS) {
      this.#reportedAt = clock.monotonic();
      onlimited(method);
    }
    throw new RpcError('RATE_LIMITED', `Too many requests. Try again in ${Math.ceil(wait / 1000)} s.`, {
      retryable: true,
      retryAfterMs: wait,
    });
  }

  #getControlPlaneLimit(method: string): RateLimit {
    let limit = this.#controlPlane.get(method);
    if (!limit) this.#controlPlane.set(method, (limit = new RateLimit(this.#options.clock, CONTROL_PLANE_LIMIT)));
    return limit;
  }
}
