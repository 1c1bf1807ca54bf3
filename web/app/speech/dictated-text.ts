/** Inserts dictated text into written text. */
export class DictatedText {
  readonly #before: string;
  readonly #after: string;
  #dictated = '';

  /** Replaces the selection from `start` to `end`, in UTF-16 units. */
  constructor(text: string, start: number, end: number) {
    this.#before = text.slice(0, start);
    this.#after = text.slice(end);
  }

  /** The text with all words so far, including `interim` ones that may still change, and the position after them. */
  withInterim(interim: string): { text: string; caret: number } {
    const spoken = [this.#dictated, interim.trim()].filter(Boolean).join(' ');
    const lead = spoken && /\S$/.test(this.#before) ? ' ' : '';
    const trail = spoken && /^[^\s\p{P}]/u.test(this.#after) ? ' ' : '';
    const head = this.#before + lead + spoken;
    return { text: head + trail + this.#after, caret: head.length };
  }

  /** Adds final words. */
  add(words: string): void {
    this.#dictated = [this.#dictated, words.trim()].filter(Boolean).join(' ');
  }
}
