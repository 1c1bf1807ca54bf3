/** A piece of a model's output: its answer, or its reasoning before it. */
export interface Piece {
  text: string;
  thought: boolean;
}

/** The marks around a model's thoughts. */
export const THINK = '<think>';
export const THOUGHT = '</think>';

/**
 * Separates a model's reasoning from its answer, and ends the answer before a stop sequence. Text that may be the beginning of one is held
 * back. Reasoning is marked only before the answer; `<think>` within it is text.
 */
export class AnswerText {
  readonly #stops: readonly string[];
  readonly #say: (piece: Piece) => void;
  /** Reasoning that may turn out to be the answer. */
  #unmarked: string | undefined;
  #held = '';
  #thought: boolean;
  /** Reasoning has ended, or the answer mentions the mark. */
  #isMarkText = false;
  /** Said so far, of the answer itself. */
  #answered = false;
  #stopped = false;
  #isUnopened = false;

  /** `thinksFirst`: the prompt ends with the opening mark, so that only the closing one comes. */
  constructor(stops: readonly string[], say: (piece: Piece) => void, thinksFirst = false) {
    this.#stops = stops;
    this.#say = say;
    this.#thought = thinksFirst;
    this.#unmarked = thinksFirst ? '' : undefined;
  }

  /** Whether a stop sequence was found; no more text is emitted. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /**
   * The closing mark came without an opening one: the model's next answers begin with reasoning. The text emitted before remains the
   * answer.
   */
  get isUnopened(): boolean {
    return this.#isUnopened;
  }

  add(text: string): void {
    if (this.#stopped) return;
    this.#held += text;
    for (;;) {
      const marks = this.#marks();
      const found = marks
        .map((mark) => ({ mark, at: this.#held.indexOf(mark) }))
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.at - b.at)[0];
      if (!found) {
        this.#tell(this.#held.length - longestBeginning(this.#held, marks));
        return;
      }
      const { mark, at } = found;
      const isText = this.#isText(mark, at);
      if (mark === THOUGHT && !this.#thought && !isText) {
        this.#isUnopened = true;
        this.#thought = !this.#answered;
      }
      this.#tell(isText ? at + mark.length : at);
      if (isText) this.#isMarkText = true;
      else this.#held = this.#held.slice(mark.length);
      if (isText) continue;
      if (mark === THINK) this.#thought = true;
      else if (mark === THOUGHT) {
        this.#thought = false;
        this.#isMarkText = true;
        this.#unmarked = undefined;
      } else {
        this.#stopped = true;
        return;
      }
    }
  }

  /** Ends the text: emits what was held back. */
  end(): void {
    if (this.#stopped) return;
    this.#tell(this.#held.length);
    if (this.#unmarked?.trim()) this.#say({ text: this.#unmarked.trimStart(), thought: false });
  }

  #marks(): string[] {
    if (this.#thought) return this.#unmarked === '' ? [THINK, THOUGHT] : [THOUGHT];
    return [...(this.#isMarkText ? [] : [THINK, THOUGHT]), ...this.#stops];
  }

  /** Whether a mark is part of the answer, as where it is quoted. */
  #isText(mark: string, at: number): boolean {
    if (mark === THINK) return this.#answered || this.#held.slice(0, at).trim() !== '';
    return mark === THOUGHT && !this.#thought && /[`'"]$/.test(this.#held.slice(0, at));
  }

  #tell(length: number): void {
    let text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    // The empty lines between thoughts and answer are neither.
    if (!this.#thought && !this.#answered) text = text.trimStart();
    if (text === '') return;
    if (this.#thought && this.#unmarked !== undefined) this.#unmarked += text;
    this.#answered ||= !this.#thought;
    this.#say({ text, thought: this.#thought });
  }
}

/** Characters at the end of a text with which one of the marks may begin. */
export function longestBeginning(text: string, marks: readonly string[]): number {
  const longest = Math.max(0, ...marks.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (marks.some((mark) => mark.startsWith(text.slice(-length)))) return length;
  return 0;
}
