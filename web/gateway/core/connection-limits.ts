import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from './clock.ts';
import { RateLimit } from './rate-limit.ts';

const CONTROL_PLANE = { perMinute: 30, burst: 30 };
/** That a connection is held back is told so often at the most. */
const TELL_MS = 60_000;

export interface ConnectionLimitsOptions {
  clock: Clock;
  /** Requests of any kind. */
  limit: { perMinute: number; burst: number };
  /** Told of the method that was held back, now and then. */
  onlimited(method: string): void;
}

/** How often one connection may call: in all, and each method of the control plane. */
export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  readonly #all: RateLimit;
  readonly #controlPlane = new Map<string, RateLimit>();
  #toldAt = -Infinity;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
    this.#all = new RateLimit(options.clock, options.limit);
  }

  /** Counts a call; throws `RATE_LIMITED` where it is one too many. */
  take(method: string, isControlPlane: boolean): void {
    let wait = this.#all.take();
    if (wait === 0 && isControlPlane) wait = this.#controlPlaneOf(method).take();
    if (wait === 0) return;
    const { clock, onlimited } = this.#options;
    if (clock.monotonic() - this.#toldAt >= TELL_MS) {
      this.#toldAt = clock.monotonic();
      onlimited(method);
    }
    throw new RpcError('RATE_LIMITED', `Too many requests. Try again in ${Math.ceil(wait / 1000)} s.`, {
      retryable: true,
      retryAfterMs: wait,
    });
  }

  #controlPlaneOf(method: string): RateLimit {
    let limit = this.#controlPlane.get(method);
    if (!limit) this.#controlPlane.set(method, (limit = new RateLimit(this.#options.clock, CONTROL_PLANE)));
    return limit;
  }
}
