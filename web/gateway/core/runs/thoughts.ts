import type { Reasoning } from '#shared/rpc/records.ts';

/** Characters that are kept of what is thought in one step. */
const MOST = 32_000;

/** What a model thinks in a run, by its steps. */
export class Thoughts {
  /** What was told of all steps. */
  text = '';
  /** Where those of the step under way begin. */
  #from = 0;
  #ms = 0;
  #since: number | undefined;
  #cut = false;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a piece; what is to be told of it: nothing, once there is too much. */
  add(piece: string): string {
    this.#since ??= this.#now();
    const told = piece.slice(0, Math.max(0, MOST - (this.text.length - this.#from)));
    this.#cut ||= told.length < piece.length;
    this.text += told;
    return told;
  }

  /** Something else came: the time ends that it took. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#ms += this.#now() - this.#since;
    this.#since = undefined;
  }

  /** Those of the step under way, as its message has them. */
  get fields(): { reasoning?: Reasoning } {
    const text = this.text.slice(this.#from).trim();
    const ms = this.#ms + (this.#since === undefined ? 0 : this.#now() - this.#since);
    return text === '' ? {} : { reasoning: { text, ms, ...(this.#cut ? { cut: true } : {}) } };
  }

  /** The next step begins. */
  next(): void {
    this.#from = this.text.length;
    this.#ms = 0;
    this.#since = undefined;
    this.#cut = false;
  }
}
