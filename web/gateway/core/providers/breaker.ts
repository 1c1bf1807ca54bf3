import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '../clock.ts';
import { ProviderError } from './provider.ts';

/** The request was not sent: the provider's server has failed too often and is paused. */
export class NotAsked extends ProviderError {
  override name = 'NotAsked';

  constructor(name: string, waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `${name} failed several times in a row. Try again in ${seconds} s.`;
    // Callers decide whether to wait; meanwhile, another model can answer.
    super(message, { retryable: true, silent: true, retryAfterMs: seconds * 1000 });
  }
}

/** Outcome of one request; only the first report counts. */
export interface Attempt {
  /** The server responded, with any status. */
  answered(): void;
  failed(error: unknown): void;
}

/**
 * Circuit breaker: counts one server's consecutive failures. After too many, requests are rejected for a while; then one request tries the
 * server, and the others wait for its result.
 */
export class Breaker {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #limits: () => Pick<UpstreamLimits, 'failures' | 'pauseMs'>;
  #failures = 0;
  #pausedUntil: number | undefined;
  #trying: Attempt | undefined;

  constructor(name: string, clock: Clock, limits: () => Pick<UpstreamLimits, 'failures' | 'pauseMs'>) {
    this.#name = name;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Undefined if not paused, else the number of failures so far and the milliseconds until the next attempt. */
  get rest(): { failures: number; leftMs: number } | undefined {
    if (this.#pausedUntil === undefined) return undefined;
    return { failures: this.#failures, leftMs: Math.max(0, this.#pausedUntil - this.#clock.monotonic()) };
  }

  /** Ends the pause: the next request tries the server. */
  wake(): void {
    if (this.#pausedUntil !== undefined) this.#pausedUntil = Math.min(this.#pausedUntil, this.#clock.monotonic());
  }

  /** Throws `NotAsked` while the server is paused. */
  enter(): Attempt {
    const left = this.#pausedUntil === undefined ? undefined : this.#pausedUntil - this.#clock.monotonic();
    if (left !== undefined && (left > 0 || this.#trying)) throw new NotAsked(this.#name, Math.max(left, 1000));
    let over = false;
    const once = (then: () => void) => (): void => {
      if (!over) then();
      over = true;
      if (this.#trying === attempt) this.#trying = undefined;
    };
    const answered = once(() => {
      this.#failures = 0;
      this.#pausedUntil = undefined;
    });
    const attempt: Attempt = {
      answered,
      failed: (error) => (isOfServer(error) ? once(() => this.#fail())() : isRefusal(error) ? answered() : once(() => {})()),
    };
    if (left !== undefined) this.#trying = attempt;
    return attempt;
  }

  #fail(): void {
    const { failures, pauseMs } = this.#limits();
    this.#failures++;
    if (failures > 0 && this.#failures >= failures) this.#pausedUntil = this.#clock.monotonic() + pauseMs;
  }
}

/** The server was unreachable, timed out, or reported a failure of its own. */
const isOfServer = (error: unknown): boolean =>
  error instanceof ProviderError && (error.status === undefined ? error.retryable : error.status >= 500);

/** An error response is a response: the server works. */
const isRefusal = (error: unknown): boolean => error instanceof ProviderError && error.status !== undefined;
