import { Marked, type MarkedExtension, Tokenizer } from 'marked';
import { mathExtensions } from './math/formula.ts';

/** Quotes, lists and emphasis within each other that are read as such; what is deeper stays as it is written. More would be no use to a reader. */
export const MOST_LEVELS = 30;

/** What holds others is read by recursion, in a time that grows with a power of the levels: a few lines would end the stack, or keep a page busy for minutes. */
class LevelTokenizer extends Tokenizer {
  #level = 0;

  override blockquote = this.#limited(super.blockquote.bind(this));
  override list = this.#limited(super.list.bind(this));
  override emStrong = this.#limited(super.emStrong.bind(this));
  override del = this.#limited(super.del.bind(this));

  #limited<Args extends unknown[], Token>(read: (...args: Args) => Token | undefined): (...args: Args) => Token | undefined {
    return (...args) => {
      if (this.#level >= MOST_LEVELS) return undefined;
      this.#level++;
      try {
        return read(...args);
      } finally {
        this.#level--;
      }
    };
  }
}

/** Markdown as answers are read: GitHub's, with formulas. */
export const reader = (more: MarkedExtension = {}): Marked =>
  new Marked({ gfm: true, breaks: false, extensions: mathExtensions, ...more }).setOptions({ tokenizer: new LevelTokenizer() });
