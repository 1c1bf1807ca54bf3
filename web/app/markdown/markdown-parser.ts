import { Marked, type MarkedExtension, type Token, Tokenizer, type TokenizerExtension, type Tokens } from 'marked';
import { cjkUrlLength, withCjkEmphasis } from './cjk-emphasis.ts';
import { footnoteExtensions } from './footnotes.ts';
import { mathExtensions } from './math/formula.ts';

/** Maximum nesting of quotes, lists and emphasis; deeper levels stay as written. */
export const MAX_NESTING = 30;

/** HTML elements that a reply may use, without attributes; other HTML is shown as text and never reaches an HTML parser. */
export const BARE_HTML = new Set(
  'abbr b br dd del details dl dt em i ins kbd mark ol p q s samp small strong sub summary sup u ul li'.split(' '),
);

/**
 * Nested elements are parsed recursively, in a time that grows as a power of the depth: without a limit a few lines could overflow the
 * stack or block a page for minutes.
 */
class LevelTokenizer extends Tokenizer {
  #level = 0;

  override blockquote = this.#withDepthLimit(super.blockquote.bind(this));
  override list = this.#withDepthLimit(super.list.bind(this));
  override emStrong = this.#withDepthLimit((...args: Parameters<Tokenizer['emStrong']>) => {
    this.rules = withCjkEmphasis(this.rules);
    return super.emStrong(...args);
  });
  override del = this.#withDepthLimit((...args: Parameters<Tokenizer['del']>) => {
    this.rules = withCjkEmphasis(this.rules);
    return super.del(...args);
  });

  /** Ends an address before punctuation such as `。`, which follows it without a space. */
  override url(source: string): Tokens.Link | undefined {
    const link = super.url(source);
    const length = link ? cjkUrlLength(link.raw) : 0;
    return link && length < link.raw.length ? super.url(source.slice(0, length)) : link;
  }

  /** Excludes footnotes, such as `[^1]: text`, from link definitions. */
  override def(source: string): Tokens.Def | undefined {
    return /^ {0,3}\[\^/.test(source) ? undefined : super.def(source);
  }

  #withDepthLimit<Args extends unknown[], Token>(tokenize: (...args: Args) => Token | undefined): (...args: Args) => Token | undefined {
    return (...args) => {
      if (this.#level >= MAX_NESTING) return undefined;
      this.#level++;
      try {
        return tokenize(...args);
      } finally {
        this.#level--;
      }
    };
  }
}

/**
 * Treats a hundred emphasis signs in a row as plain text, and so a word of five thousand letters with signs in between. Searching from each
 * sign for its end, or for the rest of an address, takes quadratic time.
 */
const tokenizeSignRun: TokenizerExtension = {
  name: 'signLine',
  level: 'inline',
  tokenizer(source) {
    const raw = /^(?:([*_])\1{99,}|[\w*~@.+-]{5000,})/.exec(source)?.[0];
    return raw === undefined ? undefined : { type: 'text', raw, text: raw };
  },
};

/** Maximum size of a rendered table; the layout of thousands of columns takes seconds. */
const MAX_COLUMNS = 200;
const MAX_CELLS = 10_000;

export const isLargeTable = (token: Token): token is Tokens.Table =>
  token.type === 'table' && (token.header.length > MAX_COLUMNS || token.header.length * (token.rows.length + 1) > MAX_CELLS);

const toSourceText = (raw: string): string => `<pre><code>${raw.trimEnd().replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</code></pre>\n`;

/** Creates a parser for replies: GitHub Flavored Markdown with formulas and footnotes. */
export const markdownParser = (extension: MarkedExtension = {}): Marked =>
  new Marked(
    {
      gfm: true,
      breaks: false,
      extensions: [...mathExtensions, ...footnoteExtensions, tokenizeSignRun],
      renderer: { table: (token) => isLargeTable(token) && toSourceText(token.raw) },
    },
    extension,
  ).setOptions({ tokenizer: new LevelTokenizer() });
