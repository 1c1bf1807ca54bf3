/** Dictated text at its place within written text. */
export class DictatedText {
  readonly #before: string;
  readonly #after: string;
  #said = '';

  /** Replaces the selection from `start` to `end`, in UTF-16 units. */
  constructor(text: string, start: number, end: number) {
    this.#before = text.slice(0, start);
    this.#after = text.slice(end);
  }

  /** The text with all words so far, of which `interim` may still change, and where they end. */
  with(interim: string): { text: string; caret: number } {
    const said = [this.#said, interim.trim()].filter(Boolean).join(' ');
    const lead = said && /\S$/.test(this.#before) ? ' ' : '';
    const trail = said && /^[^\s\p{P}]/u.test(this.#after) ? ' ' : '';
    const head = this.#before + lead + said;
    return { text: head + trail + this.#after, caret: head.length };
  }

  /** Adds words that do not change any more. */
  add(words: string): void {
    this.#said = [this.#said, words.trim()].filter(Boolean).join(' ');
  }
}
