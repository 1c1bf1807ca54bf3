import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import { CircuitBreaker } from '#shared/async/circuit-breaker.ts';
import type { Clock } from '#shared/async/clock.ts';
import { ProviderError } from './provider.ts';

/** The request was not sent: the provider's server has failed too often and is paused. */
export class CircuitOpenError extends ProviderError {
  override name = 'CircuitOpenError';

  constructor(name: string, waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `${name} failed several times in a row. Try again in ${seconds} s.`;
    // Callers decide whether to wait; meanwhile, another model can answer.
    super(message, { retryable: true, silent: true, retryAfterMs: seconds * 1000 });
  }
}

/** Outcome of one request; only the first report counts. */
interface Attempt {
  /** The server responded, with any status. */
  succeed(): void;
  fail(error: unknown): void;
}

/**
 * Circuit breaker for the requests to one server. After too many failures, requests are rejected for a while; then one request tries the
 * server, and the others wait for its result.
 */
export class RequestBreaker {
  readonly #name: string;
  readonly #circuit: CircuitBreaker;
  #probe: Attempt | undefined;

  constructor(name: string, clock: Clock, limits: () => Pick<UpstreamLimits, 'failures' | 'pauseMs'>) {
    this.#name = name;
    this.#circuit = new CircuitBreaker(clock, limits);
  }

  /** Undefined if not paused, else the number of failures so far and the milliseconds until the next attempt. */
  get pauseState(): { failures: number; leftMs: number } | undefined {
    return this.#circuit.pauseState;
  }

  /** Ends the pause: the next request tries the server. */
  endPause(): void {
    this.#circuit.endPause();
  }

  /** Throws `CircuitOpenError` while the server is paused. */
  begin(): Attempt {
    const leftMs = this.#circuit.pauseState?.leftMs;
    if (leftMs !== undefined && (leftMs > 0 || this.#probe)) throw new CircuitOpenError(this.#name, Math.max(leftMs, 1000));
    let isReported = false;
    const reportOnce = (report: () => void) => (): void => {
      if (!isReported) report();
      isReported = true;
      if (this.#probe === attempt) this.#probe = undefined;
    };
    const succeed = reportOnce(() => this.#circuit.succeed());
    const attempt: Attempt = {
      succeed,
      fail: (error) =>
        isServerFailure(error) ? reportOnce(() => this.#circuit.fail())() : isErrorResponse(error) ? succeed() : reportOnce(() => {})(),
    };
    if (leftMs !== undefined) this.#probe = attempt;
    return attempt;
  }
}

/** The server was unreachable, timed out, or reported a failure of its own. */
const isServerFailure = (error: unknown): boolean =>
  error instanceof ProviderError && (error.status === undefined ? error.retryable : error.status >= 500);

/** An error response is a response: the server works. */
const isErrorResponse = (error: unknown): boolean => error instanceof ProviderError && error.status !== undefined;
