import type { Reasoning } from '#shared/rpc/records.ts';

/** Maximum number of characters of thoughts stored per step. */
const MOST = 32_000;

/** A model's thoughts during a run, by step. */
export class Thoughts {
  /** Emitted thoughts of all steps. */
  text = '';
  /** Start of the current step's thoughts in `text`. */
  #from = 0;
  #ms = 0;
  #since: number | undefined;
  #cut = false;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a piece; returns the part to emit, which is empty once the limit is reached. */
  add(piece: string): string {
    this.#since ??= this.#now();
    const told = piece.slice(0, Math.max(0, MOST - (this.text.length - this.#from)));
    this.#cut ||= told.length < piece.length;
    this.text += told;
    return told;
  }

  /** Other output has arrived: stops the time measurement. */
  pause(): void {
    if (this.#since === undefined) return;
    this.#ms += this.#now() - this.#since;
    this.#since = undefined;
  }

  /** Thoughts of the current step, as fields of its message. */
  get fields(): { reasoning?: Reasoning } {
    const text = this.text.slice(this.#from).trim();
    const ms = this.#ms + (this.#since === undefined ? 0 : this.#now() - this.#since);
    return text === '' ? {} : { reasoning: { text, ms, ...(this.#cut ? { cut: true } : {}) } };
  }

  /** Starts the next step. */
  next(): void {
    this.#from = this.text.length;
    this.#ms = 0;
    this.#since = undefined;
    this.#cut = false;
  }
}
