import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '../clock.ts';
import { ProviderError } from './provider.ts';

/** The provider is not asked for a while: its server has failed too often. */
export class NotAsked extends ProviderError {
  override name = 'NotAsked';

  constructor(name: string, waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `${name} failed several times in a row. Try again in ${seconds} s.`;
    // Waiting for it is the caller's business; another model may answer meanwhile.
    super(message, { retryable: true, silent: true, retryAfterMs: seconds * 1000 });
  }
}

/** What comes of one request; the first word counts. */
export interface Attempt {
  /** The server has answered, with whatever. */
  answered(): void;
  failed(error: unknown): void;
}

/** One server's failures in a row. After too many nobody asks it for a while; then one request tries it, and the others wait for what comes of it. */
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

  /** While it is left alone: the failures that led to it, and the milliseconds until somebody may try it. */
  get rest(): { failures: number; leftMs: number } | undefined {
    if (this.#pausedUntil === undefined) return undefined;
    return { failures: this.#failures, leftMs: Math.max(0, this.#pausedUntil - this.#clock.monotonic()) };
  }

  /** The next request tries it, however long it was to be left alone. */
  wake(): void {
    if (this.#pausedUntil !== undefined) this.#pausedUntil = Math.min(this.#pausedUntil, this.#clock.monotonic());
  }

  /** Throws `NotAsked` where the server is left alone. */
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

/** The server could not be reached, said nothing, or said that it failed. */
const isOfServer = (error: unknown): boolean =>
  error instanceof ProviderError && (error.status === undefined ? error.retryable : error.status >= 500);

/** A refusal is an answer: the server is well. */
const isRefusal = (error: unknown): boolean => error instanceof ProviderError && error.status !== undefined;
