import { eachTerm, fold } from './terms.ts';
import { stem } from './tokenize.ts';

/** Words that say nothing beside others: they are looked for only where a query has no other ones, or within quotes. */
const FILLERS = new Set(
  'a an and are as at be but by can did do does for from had has have how i if in is it its me my of on or s so t that the their there this to was we were what when where which who will with you your'.split(
    ' ',
  ),
);
/** One letter begins too many words. */
const LEAST_PREFIX = 2;
/** More words than anybody types: those beyond are not looked for. */
const MOST_WORDS = 16;
const QUOTED = /["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)/gu;
/** A single character of a script whose terms are pairs: it begins terms, but is seldom one. */
const SINGLE = /^[\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]$/u;
/** A word that is written apart from others. */
const NEIGHBOUR =
  /^(?:(?![\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}\p{M}])+$/u;

/** A word of a query: what it finds begins with `root`, and `fits`. */
export interface QueryWord {
  readonly root: string;
  fits(term: string): boolean;
  /** In a message that has it all, each of these terms follows it somewhere. */
  readonly next?: readonly string[];
}

/** A query, read: messages with all of `words` whose folded text has all of `phrases`. */
export interface SearchQuery {
  words: QueryWord[];
  /** Folded, with single spaces. */
  phrases: string[];
}

/** Reads what somebody typed: words, the last one perhaps unfinished, and "phrases". English words are found in their other forms too. */
export function readQuery(text: string): SearchQuery {
  const phrases: string[] = [];
  const exact = new Map<string, QueryWord & { next: string[] }>();
  const rest = text.replace(QUOTED, (_, quoted: string) => {
    const phrase = foldedLine(quoted);
    if (phrase !== '') phrases.push(phrase);
    let before: string | undefined;
    eachTerm(phrase, (term) => {
      // A single character may go on in the message as a pair, and words of a script that is segmented may be parted otherwise there.
      if (before !== undefined && NEIGHBOUR.test(before) && NEIGHBOUR.test(term)) exact.get(before)?.next.push(term);
      if (!exact.has(term))
        exact.set(term, { ...(SINGLE.test(term) ? prefix(term) : { root: term, fits: (found) => found === term }), next: [] });
      before = term;
    });
    return ' ';
  });
  const terms: string[] = [];
  let runEnd = -1;
  eachTerm(rest, (term, start, end) => {
    // The last character of a run is there for itself; the pair before has it already.
    if (!(SINGLE.test(term) && start < runEnd)) terms.push(term);
    runEnd = end;
  });
  const last = /[\p{L}\p{N}\p{M}]$/u.test(rest) ? terms.at(-1) : undefined;
  const telling = terms.filter((term) => !FILLERS.has(term) || term === last);
  const kept = new Set(telling.length > 0 || exact.size > 0 ? telling : terms);
  const words = [...kept].map((term) => wordOf(term, term === last));
  return { words: [...exact.values(), ...words].slice(0, MOST_WORDS), phrases };
}

function wordOf(term: string, unfinished: boolean): QueryWord {
  if (SINGLE.test(term)) return prefix(term);
  const form = stem(term);
  const begins = unfinished && term.length >= LEAST_PREFIX;
  // `memories` and `memory` have `memor` in common; of shorter words too much begins with what is left.
  const root = form.replace(/(?<=...)y$/, '');
  // `ties` does not begin with `ty`.
  if (!term.startsWith(root)) return { root: term, fits: (found) => found === term || (begins && found.startsWith(term)) };
  return { root, fits: (found) => found.startsWith(root) && ((begins && found.startsWith(term)) || stem(found) === form) };
}

const prefix = (term: string): QueryWord => ({ root: term, fits: (found) => found.startsWith(term) });

/** As phrases are compared: folded, white space as single spaces. */
export const foldedLine = (text: string): string => fold(text).replace(/\s+/gu, ' ').trim();

/** Whether a text has every word and phrase. */
export function matchesText({ words, phrases }: SearchQuery, text: string): boolean {
  // Cheaper, and what fails the oftener.
  if (!hasPhrases(phrases, text)) return false;
  const missing = new Set(words);
  eachTerm(text, (term) => {
    for (const word of missing) if (word.fits(term)) missing.delete(word);
  });
  return missing.size === 0;
}

/** Whether a text has every phrase, as whole words where words are written apart. */
export function hasPhrases(phrases: readonly string[], text: string): boolean {
  if (phrases.length === 0) return true;
  const line = foldedLine(text);
  return phrases.every((phrase) => {
    let at = line.indexOf(phrase);
    while (at !== -1 && (isWithin(line, at) || isWithin(line, at + phrase.length))) at = line.indexOf(phrase, at + 1);
    return at !== -1;
  });
}

/** Whether a word goes on at a place. */
function isWithin(line: string, at: number): boolean {
  const [before] = [...line.slice(Math.max(0, at - 2), at)].slice(-1);
  const [after] = line.slice(at, at + 2);
  return before !== undefined && after !== undefined && NEIGHBOUR.test(before) && NEIGHBOUR.test(after);
}
