import type { Clock } from './clock.ts';

/** Commits items in groups: within `ms` of the first one of a group, one commit at a time. */
export class GroupCommit {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #commit: () => Promise<void>;
  #cancelTimer: (() => void) | undefined;
  #committing: Promise<void> = Promise.resolve();

  /** `commit` takes everything that is pending; it never rejects. */
  constructor(clock: Clock, ms: number, commit: () => Promise<void>) {
    this.#clock = clock;
    this.#delayMs = ms;
    this.#commit = commit;
  }

  /** Schedules a commit, after something was added. */
  schedule(): void {
    this.#cancelTimer ??= this.#clock.after(this.#delayMs, () => void this.flush());
  }

  /** Commits everything pending at once. Never rejects. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#committing = this.#committing.then(this.#commit);
    return this.#committing;
  }
}
