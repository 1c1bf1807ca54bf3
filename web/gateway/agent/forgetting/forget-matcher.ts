import { extractTerms } from '../../knowledge/search/text/extract-terms.ts';

/** Decides which texts are about what is to be forgotten. */
export interface ForgetMatcher {
  /** Whether a line contains it. */
  matchesLine(line: string): boolean;
}

/** Minimum number of words of a memory, and share of them in a line, for the line to repeat the memory in other words. */
const MIN_TERMS = 4;
const MIN_SHARE = 0.8;
const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that write no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Ignores case, accents and spacing. */
const foldText = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\s+/g, ' ').trim();

/** Matches lines that contain all words of a query, also as beginnings of longer words. */
export function createQueryMatcher(query: string): ForgetMatcher {
  const words = foldText(query).match(WORD) ?? [];
  return {
    matchesLine(line) {
      if (words.length === 0) return false;
      const folded = foldText(line);
      const lineWords = folded.match(WORD) ?? [];
      return words.every((word) => (UNSPACED.test(word) ? folded.includes(word) : lineWords.some((each) => each.startsWith(word))));
    },
  };
}

/** Matches lines that contain the text of a memory, or a line of it, or most of its words. */
export function createTextMatcher(text: string): ForgetMatcher {
  const lines = text
    .split('\n')
    .map(foldText)
    .filter((line) => line !== '');
  const terms = new Set(extractTerms(text));
  return {
    matchesLine(line) {
      const folded = foldText(line);
      if (folded === '') return false;
      if (lines.some((each) => folded.includes(each))) return true;
      if (terms.size < MIN_TERMS) return false;
      const own = new Set(extractTerms(line));
      return [...terms].filter((term) => own.has(term)).length / terms.size >= MIN_SHARE;
    },
  };
}

export const matchesText = (matcher: ForgetMatcher, text: string): boolean =>
  text.split(/\r\n|\n|\r/).some((line) => matcher.matchesLine(line));
