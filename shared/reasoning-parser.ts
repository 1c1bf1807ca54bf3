/** A piece of a model's output: its answer, or its reasoning before it. */
export interface OutputPiece {
  text: string;
  thought: boolean;
}

/** The marks around a model's thoughts. */
export const THINK_OPEN = '<think>';
export const THINK_CLOSE = '</think>';

/**
 * Separates a model's reasoning from its answer, and ends the answer before a stop sequence. Text that may be the beginning of one is held
 * back. Reasoning is marked only before the answer; `<think>` within it is text.
 */
export class ReasoningParser {
  readonly #stops: readonly string[];
  readonly #emit: (piece: OutputPiece) => void;
  /** Reasoning that may turn out to be the answer. */
  #possibleAnswer: string | undefined;
  #pending = '';
  #isReasoning: boolean;
  /** Reasoning has ended, or the answer mentions the mark. */
  #isMarkText = false;
  /** Answer text emitted so far. */
  #hasAnswer = false;
  #isStopped = false;
  #isUnopened = false;

  /** `startsInReasoning`: the prompt ends with the opening mark, so that only the closing one comes. */
  constructor(stops: readonly string[], emit: (piece: OutputPiece) => void, startsInReasoning = false) {
    this.#stops = stops;
    this.#emit = emit;
    this.#isReasoning = startsInReasoning;
    this.#possibleAnswer = startsInReasoning ? '' : undefined;
  }

  /** Whether a stop sequence was found; no more text is emitted. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * The closing mark came without an opening one: the model's next answers begin with reasoning. The text emitted before remains the
   * answer.
   */
  get isUnopened(): boolean {
    return this.#isUnopened;
  }

  add(text: string): void {
    if (this.#isStopped) return;
    this.#pending += text;
    for (;;) {
      const marks = this.#marks();
      const found = marks
        .map((mark) => ({ mark, at: this.#pending.indexOf(mark) }))
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.at - b.at)[0];
      if (!found) {
        this.#emitPending(this.#pending.length - longestBeginning(this.#pending, marks));
        return;
      }
      const { mark, at } = found;
      const isText = this.#isText(mark, at);
      if (mark === THINK_CLOSE && !this.#isReasoning && !isText) {
        this.#isUnopened = true;
        this.#isReasoning = !this.#hasAnswer;
      }
      this.#emitPending(isText ? at + mark.length : at);
      if (isText) this.#isMarkText = true;
      else this.#pending = this.#pending.slice(mark.length);
      if (isText) continue;
      if (mark === THINK_OPEN) this.#isReasoning = true;
      else if (mark === THINK_CLOSE) {
        this.#isReasoning = false;
        this.#isMarkText = true;
        this.#possibleAnswer = undefined;
      } else {
        this.#isStopped = true;
        return;
      }
    }
  }

  /** Ends the text: emits what was held back. */
  end(): void {
    if (this.#isStopped) return;
    this.#emitPending(this.#pending.length);
    if (this.#possibleAnswer?.trim()) this.#emit({ text: this.#possibleAnswer.trimStart(), thought: false });
  }

  #marks(): string[] {
    if (this.#isReasoning) return this.#possibleAnswer === '' ? [THINK_OPEN, THINK_CLOSE] : [THINK_CLOSE];
    return [...(this.#isMarkText ? [] : [THINK_OPEN, THINK_CLOSE]), ...this.#stops];
  }

  /** Whether a mark is part of the answer, such as in a quotation. */
  #isText(mark: string, at: number): boolean {
    if (mark === THINK_OPEN) return this.#hasAnswer || this.#pending.slice(0, at).trim() !== '';
    return mark === THINK_CLOSE && !this.#isReasoning && /[`'"]$/.test(this.#pending.slice(0, at));
  }

  #emitPending(length: number): void {
    let text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    // The empty lines between thoughts and answer are neither.
    if (!this.#isReasoning && !this.#hasAnswer) text = text.trimStart();
    if (text === '') return;
    if (this.#isReasoning && this.#possibleAnswer !== undefined) this.#possibleAnswer += text;
    this.#hasAnswer ||= !this.#isReasoning;
    this.#emit({ text, thought: this.#isReasoning });
  }
}

/** Characters at the end of a text with which one of the marks may begin. */
export function longestBeginning(text: string, marks: readonly string[]): number {
  const longest = Math.max(0, ...marks.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (marks.some((mark) => mark.startsWith(text.slice(-length)))) return length;
  return 0;
}
