import { FUNCTION_WORDS } from './text/function-words.ts';
import { forEachTerm, fold } from './text/terms.ts';

/** Minimum length of a prefix search. */
const MIN_PREFIX_CHARS = 2;
/** Maximum number of words in a query; further ones are ignored. */
const MAX_WORDS = 16;
const QUOTED = /["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)/gu;
/** A single character of a script indexed as pairs: usually the beginning of a term rather than one. */
const SINGLE = /^[\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]$/u;
/** A word of a script that separates words. */
const SPACED_WORD =
  /^(?:(?![\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}\p{M}])+$/u;

/** A word of a query. A match begins with `root` and satisfies `fits`. */
export interface QueryWord {
  readonly root: string;
  fits(term: string): boolean;
  /** Terms that follow this word in a message containing the phrase. */
  readonly next?: readonly string[];
}

/** A parsed query: messages must contain all `words`, and all `phrases` in their folded text. */
export interface SearchQuery {
  words: QueryWord[];
  /** Folded, with single spaces. */
  phrases: string[];
}

/** Parses user input: words, of which the last may be incomplete, and quoted phrases. English words also match their other forms. */
export function parseQuery(text: string): SearchQuery {
  const phrases: string[] = [];
  const exact = new Map<string, QueryWord & { next: string[] }>();
  const rest = text.replace(QUOTED, (_, quoted: string) => {
    const phrase = foldLine(quoted);
    if (phrase !== '') phrases.push(phrase);
    let before: string | undefined;
    forEachTerm(phrase, (term) => {
      // In a message, a single character may be the start of a pair, and segmented scripts may be split differently.
      if (before !== undefined && SPACED_WORD.test(before) && SPACED_WORD.test(term)) exact.get(before)?.next.push(term);
      if (!exact.has(term))
        exact.set(term, { ...(SINGLE.test(term) ? createPrefixWord(term) : { root: term, fits: (found) => found === term }), next: [] });
      before = term;
    });
    return ' ';
  });
  const terms: string[] = [];
  let runEnd = -1;
  forEachTerm(rest, (term, start, end) => {
    // The last character of a run is a separate term; the pair before already contains it.
    if (!(SINGLE.test(term) && start < runEnd)) terms.push(term);
    runEnd = end;
  });
  const last = /[\p{L}\p{N}\p{M}]$/u.test(rest) ? terms.at(-1) : undefined;
  // Function words are searched only if there are no others, or within quotes.
  const meaningful = terms.filter((term) => !FUNCTION_WORDS.has(term) || term === last);
  const selected = new Set(meaningful.length > 0 || exact.size > 0 ? meaningful : terms);
  const words = [...selected].map((term) => toQueryWord(term, term === last));
  return { words: [...exact.values(), ...words].slice(0, MAX_WORDS), phrases };
}

/**
 * Removes the most common English endings, so that `models`, `adding` and `stored` match `model`, `add` and `store`. Searching chats is
 * literal: a full stemmer would show `general` for `generous`.
 */
export function stem(word: string): string {
  // Longer strings are not words: keys and the like.
  if (!/^[a-z]{4,40}$/.test(word)) return word;
  let root = word;
  if (/(ss|sh|ch|x|z)es$/.test(root)) root = root.slice(0, -2);
  else if (/[^aeiou]ies$/.test(root)) root = `${root.slice(0, -3)}y`;
  else if (/[^su]s$/.test(root)) root = root.slice(0, -1);
  const cut = /^(.*[aeiouy].*)(ing|ed)$/.exec(root)?.[1];
  if (cut !== undefined && cut.length >= 3) root = cut.length > 3 && /([^aeiouylsz])\1$/.test(cut) ? cut.slice(0, -1) : cut;
  if (root.length > 5 && root.endsWith('ly')) root = root.slice(0, -2);
  // `store` and `stor(ed)` must match.
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
}

function toQueryWord(term: string, unfinished: boolean): QueryWord {
  if (SINGLE.test(term)) return createPrefixWord(term);
  const form = stem(term);
  const isPrefix = unfinished && term.length >= MIN_PREFIX_CHARS;
  // `memories` and `memory` share `memor`; for shorter words the remainder would match too much.
  const root = form.replace(/(?<=...)y$/, '');
  // `ties` does not begin with `ty`.
  if (!term.startsWith(root)) return { root: term, fits: (found) => found === term || (isPrefix && found.startsWith(term)) };
  return { root, fits: (found) => found.startsWith(root) && ((isPrefix && found.startsWith(term)) || stem(found) === form) };
}

const createPrefixWord = (term: string): QueryWord => ({ root: term, fits: (found) => found.startsWith(term) });

/** Folds a text for phrase comparison; white space becomes single spaces. */
const foldLine = (text: string): string => fold(text).replace(/\s+/gu, ' ').trim();

/** Whether a text contains every word and phrase. */
export function matchesText({ words, phrases }: SearchQuery, text: string): boolean {
  // Phrases first: they are cheaper to check and fail more often.
  if (!hasPhrases(phrases, text)) return false;
  const missing = new Set(words);
  forEachTerm(text, (term) => {
    for (const word of missing) if (word.fits(term)) missing.delete(word);
  });
  return missing.size === 0;
}

/** Whether a text contains every phrase, as whole words in scripts that separate words. */
export function hasPhrases(phrases: readonly string[], text: string): boolean {
  if (phrases.length === 0) return true;
  const line = foldLine(text);
  return phrases.every((phrase) => {
    let index = line.indexOf(phrase);
    while (index !== -1 && (isWithin(line, index) || isWithin(line, index + phrase.length))) index = line.indexOf(phrase, index + 1);
    return index !== -1;
  });
}

/** Whether a position is inside a word. */
function isWithin(line: string, index: number): boolean {
  const [before] = [...line.slice(Math.max(0, index - 2), index)].slice(-1);
  const [after] = line.slice(index, index + 2);
  return before !== undefined && after !== undefined && SPACED_WORD.test(before) && SPACED_WORD.test(after);
}
