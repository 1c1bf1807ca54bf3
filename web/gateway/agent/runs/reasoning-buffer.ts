import type { Reasoning } from '#shared/rpc/record-schemas.ts';

/** Maximum number of characters of thoughts stored per step. */
const MAX_CHARS = 32_000;

/** A model's thoughts during a run, by step. */
export class ReasoningBuffer {
  /** Emitted thoughts of all steps. */
  text = '';
  /** Start of the current step's thoughts in `text`. */
  #stepStart = 0;
  #durationMs = 0;
  #startedAt: number | undefined;
  #isTruncated = false;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a piece; returns the part to emit, which is empty once the limit is reached. */
  add(piece: string): string {
    this.#startedAt ??= this.#now();
    const added = piece.slice(0, Math.max(0, MAX_CHARS - (this.text.length - this.#stepStart)));
    this.#isTruncated ||= added.length < piece.length;
    this.text += added;
    return added;
  }

  /** Other output has arrived: stops the time measurement. */
  pause(): void {
    if (this.#startedAt === undefined) return;
    this.#durationMs += this.#now() - this.#startedAt;
    this.#startedAt = undefined;
  }

  /** Thoughts of the current step, as fields of its message. */
  get fields(): { reasoning?: Reasoning } {
    const text = this.text.slice(this.#stepStart).trim();
    const ms = this.#durationMs + (this.#startedAt === undefined ? 0 : this.#now() - this.#startedAt);
    return text === '' ? {} : { reasoning: { text, ms, ...(this.#isTruncated ? { cut: true } : {}) } };
  }

  /** Starts the next step. */
  nextStep(): void {
    this.#stepStart = this.text.length;
    this.#durationMs = 0;
    this.#startedAt = undefined;
    this.#isTruncated = false;
  }
}
