/** Dictated text at its place within written text. */
export class DictatedText {
  readonly #before: string;
  readonly #after: string;
  #dictated = '';

  /** Replaces the selection from `start` to `end`, in UTF-16 units. */
  constructor(text: string, start: number, end: number) {
    this.#before = text.slice(0, start);
    this.#after = text.slice(end);
  }

  /** The text with all words so far, of which `interim` may still change, and where they end. */
  withInterim(interim: string): { text: string; caret: number } {
    const spoken = [this.#dictated, interim.trim()].filter(Boolean).join(' ');
    const lead = spoken && /\S$/.test(this.#before) ? ' ' : '';
    const trail = spoken && /^[^\s\p{P}]/u.test(this.#after) ? ' ' : '';
    const head = this.#before + lead + spoken;
    return { text: head + trail + this.#after, caret: head.length };
  }

  /** Adds words that do not change any more. */
  add(added: string): void {
    this.#dictated = [this.#dictated, added.trim()].filter(Boolean).join(' ');
  }
}
