import type { Tokenizer } from 'marked';

/** Punctuation and symbols of Chinese, Japanese and Korean text, full-width forms included. */
const CJK_PUNCTUATION = String.raw`[\u3001-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30fb\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee]`;
/** Letters and marks of these scripts. */
const CJK = String.raw`(?:${CJK_PUNCTUATION}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}ー々〆])`;

const PUNCTUATION = String.raw`(?!~|${CJK_PUNCTUATION})[\p{P}\p{S}]`;
const PUNCTUATION_OR_SPACE = String.raw`(?!~|${CJK_PUNCTUATION})[\s\p{P}\p{S}]`;
const LETTER = String.raw`(?:[^\s\p{P}\p{S}]|~|${CJK_PUNCTUATION})`;

/**
 * Matches the positions where a run of `sign` may end an emphasis. The groups are marked's: 1 and 2 only end one, 3 and 4 only begin one, 5
 * and 6 may do either.
 */
const createClosingPattern = (skip: string, sign: string, run: string): RegExp =>
  new RegExp(
    [
      skip,
      `(?!${sign})${PUNCTUATION}(${run})(?=\\s|$)`,
      `${LETTER}(${run})(?!${sign})(?=${PUNCTUATION_OR_SPACE}|$)`,
      `(?!${sign})(?:\\s|${PUNCTUATION}(?!${run}${CJK}))(${run})(?=${LETTER})`,
      `\\s(${run})(?!${sign})(?=${PUNCTUATION})`,
      `(?!${sign})${PUNCTUATION}(${run})(?!${sign})(?=${PUNCTUATION}|${CJK})`,
      `${LETTER}(${run})(?=${LETTER})`,
    ].join('|'),
    'gu',
  );

/**
 * CommonMark's rules for `*` and `~` treat a mark such as `。` or `「` as punctuation, so that `**「x」**の` is not emphasis: these scripts have
 * no spaces between words. Here such marks count as letters, and such letters may be next to punctuation. As in
 * https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md.
 */
const EMPHASIS_RULES = {
  emStrongLDelim: new RegExp(String.raw`^(?:\*+(?:((?!\*)${PUNCTUATION})|([^\s*]))?)|^_+(?:((?!_)[\p{P}\p{S}])|([^\s_]))?`, 'u'),
  emStrongRDelimAst: createClosingPattern(String.raw`^[^_*]*?__[^_*]*?\*[^_*]*?(?=__)|[^*]+(?=[^*])`, String.raw`\*`, String.raw`\*+`),
  delLDelim: new RegExp(`^~~?(?:((?!~)${PUNCTUATION})|[^\\s~])`, 'u'),
  delRDelim: createClosingPattern('^[^~]+(?=[^~])', '~', '~~?'),
  punctuation: new RegExp(String.raw`^(?![*_])(?:${PUNCTUATION_OR_SPACE}|${CJK})`, 'u'),
};

type Rules = Tokenizer['rules'];

/** Rules of a parser, with emphasis next to Chinese, Japanese and Korean text. */
export const withCjkEmphasis = (rules: Rules): Rules =>
  rules.inline.emStrongRDelimAst === EMPHASIS_RULES.emStrongRDelimAst
    ? rules
    : { ...rules, inline: { ...rules.inline, ...EMPHASIS_RULES } };

const URL_END = new RegExp(`${CJK_PUNCTUATION}|[“”‘’]`, 'u');

/** Length of an address in running text up to the first mark of these scripts, since there is no space after it. */
export function cjkUrlLength(address: string): number {
  const end = address.search(URL_END);
  return end === -1 ? address.length : end;
}
