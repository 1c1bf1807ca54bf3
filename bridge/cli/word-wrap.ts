import { widthOf } from './output.ts';

/** A longer word is not held back until it is whole. */
const LONGEST = 60;
/** What scripts without spaces, and emoji, are written in: a line may break within. */
const UNSPACED = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]|[\ud800-\udfff]/;

/**
 * Breaks lines between words in a text that comes in pieces, where a terminal would break them within. The word that comes is held back until its end is seen. Code between fences is left as it is, for it is copied; so is everything where there is no end of a line.
 */
export class WordWrap {
  readonly #width: () => number;
  #column = 0;
  #blanks = '';
  #word = '';
  #isCode = false;

  /** `width`: columns of a line, as they are now; infinite where nothing is to be broken. */
  constructor(width: () => number) {
    this.#width = width;
  }

  /** What is to be written now. */
  add(piece: string): string {
    const width = this.#width();
    if (width === Infinity) return piece;
    let out = '';
    for (const part of piece.match(/\n|[ \t]+|[^ \t\n]+/g) ?? []) {
      if (part === '\n') {
        out += `${this.#placed(width)}\n`;
        this.#column = 0;
        this.#blanks = '';
      } else if (/^[ \t]/.test(part)) {
        out += this.#placed(width);
        this.#blanks += part;
      } else {
        this.#word += part;
        if (this.#word.length > LONGEST || UNSPACED.test(this.#word)) out += this.#placed(width);
      }
    }
    return out;
  }

  /** What is held back, to be written although its end has not come. */
  rest(): string {
    return this.#placed(this.#width());
  }

  /** The word that was held back, in its place. */
  #placed(width: number): string {
    const word = this.#word;
    if (word === '') return '';
    const blanks = this.#blanks;
    this.#word = this.#blanks = '';
    if (this.#column === 0 && word.startsWith('```')) this.#isCode = !this.#isCode;
    const columns = widthOf(word);
    const isBroken = !this.#isCode && blanks !== '' && this.#column > 0 && this.#column + blanks.length + columns > width;
    this.#column = isBroken ? columns : this.#column + blanks.length + columns;
    // The terminal breaks what is longer than a line.
    if (this.#column > width) this.#column = ((this.#column - 1) % width) + 1;
    return `${isBroken ? '\n' : blanks}${word}`;
  }
}
