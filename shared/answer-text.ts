/** A piece of what a model says: its answer, or what it thinks before. */
export interface Piece {
  text: string;
  thought: boolean;
}

const [THINK, THOUGHT] = ['<think>', '</think>'];

/** Tells a model's thoughts from its answer, and ends that before a text at which it is to stop. What may be the beginning of such a text is held back. */
export class AnswerText {
  readonly #stops: readonly string[];
  readonly #say: (piece: Piece) => void;
  #held = '';
  #thought = false;
  /** Said so far, of the answer itself. */
  #answered = false;
  #stopped = false;

  constructor(stops: readonly string[], say: (piece: Piece) => void) {
    this.#stops = stops;
    this.#say = say;
  }

  /** It is to stop: nothing is said any more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  add(text: string): void {
    if (this.#stopped) return;
    this.#held += text;
    for (;;) {
      const marks = [this.#thought ? THOUGHT : THINK, ...(this.#thought ? [] : this.#stops)];
      const found = marks
        .map((mark) => ({ mark, at: this.#held.indexOf(mark) }))
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.at - b.at)[0];
      if (!found) {
        this.#tell(this.#held.length - longestBeginning(this.#held, marks));
        return;
      }
      const { mark, at } = found;
      this.#tell(at);
      this.#held = this.#held.slice(mark.length);
      if (mark === THINK || mark === THOUGHT) this.#thought = !this.#thought;
      else {
        this.#stopped = true;
        return;
      }
    }
  }

  /** Nothing more comes: what was held back is said. */
  end(): void {
    if (!this.#stopped) this.#tell(this.#held.length);
  }

  #tell(length: number): void {
    let text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    // The empty lines between thoughts and answer are neither.
    if (!this.#thought && !this.#answered) text = text.trimStart();
    if (text === '') return;
    this.#answered ||= !this.#thought;
    this.#say({ text, thought: this.#thought });
  }
}

/** Characters at the end of a text with which one of the marks may begin. */
function longestBeginning(text: string, marks: readonly string[]): number {
  const longest = Math.max(...marks.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (marks.some((mark) => mark.startsWith(text.slice(-length)))) return length;
  return 0;
}
