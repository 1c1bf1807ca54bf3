import { computeWidth } from './terminal-output.ts';

/** Longer words are printed before they are complete. */
const MAX_WORD_CHARS = 60;
/** Characters of scripts without spaces, and emoji: a line may break after any of them. */
const UNSPACED_SCRIPTS = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]|[\ud800-\udfff]/;

/**
 * Breaks lines between words in streamed text, where a terminal would break within words. Holds back a word until it is complete. Leaves
 * fenced code unchanged, since it is meant to be copied, and everything if the width is infinite.
 */
export class WordWrap {
  readonly #width: () => number;
  #column = 0;
  #blanks = '';
  #word = '';
  #isCode = false;

  /** `width`: returns the current width in columns; Infinity disables wrapping. */
  constructor(width: () => number) {
    this.#width = width;
  }

  /** Returns the text to print now. */
  add(piece: string): string {
    const width = this.#width();
    if (width === Infinity) return piece;
    let out = '';
    for (const part of piece.match(/\n|[ \t]+|[^ \t\n]+/g) ?? []) {
      if (part === '\n') {
        out += `${this.#placeWord(width)}\n`;
        this.#column = 0;
        this.#blanks = '';
      } else if (/^[ \t]/.test(part)) {
        out += this.#placeWord(width);
        this.#blanks += part;
      } else {
        this.#word += part;
        if (this.#word.length > MAX_WORD_CHARS || UNSPACED_SCRIPTS.test(this.#word)) out += this.#placeWord(width);
      }
    }
    return out;
  }

  /** Returns the held-back text before it is complete. */
  rest(): string {
    return this.#placeWord(this.#width());
  }

  /** Places the held-back word on this line or the next. */
  #placeWord(width: number): string {
    const word = this.#word;
    if (word === '') return '';
    const blanks = this.#blanks;
    this.#word = this.#blanks = '';
    if (this.#column === 0 && word.startsWith('```')) this.#isCode = !this.#isCode;
    const columns = computeWidth(word);
    const isBroken = !this.#isCode && blanks !== '' && this.#column > 0 && this.#column + blanks.length + columns > width;
    this.#column = isBroken ? columns : this.#column + blanks.length + columns;
    // The terminal breaks words longer than a line.
    if (this.#column > width) this.#column = ((this.#column - 1) % width) + 1;
    return `${isBroken ? '\n' : blanks}${word}`;
  }
}
