import { extractTerms } from '../../../web/gateway/knowledge/search/text/extract-terms.ts';

/** A turn that a search found, with the turn before it. */
export interface FoundTurn {
  id: string;
  speaker: string;
  text: string;
  before: string;
  /** When it was said, in milliseconds since the Unix epoch. */
  at: number;
}

const MAX_QUOTES = 3;
const MAX_LISTED = 8;
/** Share of the best turn's value from which a turn is quoted as well. */
const MIN_VALUE = 0.3;
const PRESENT = /\b(now|current(ly)?|present|these days|latest|after all|jetzt|inzwischen|aktuelle?)\b|今|現在/iu;
const SEVERAL =
  /\b(how many|list|both|which \w+s|what \w+s|has|have|said|says?|different|agree|change[ds]?|wie viele|welche|alles|überall)\b|いくつ|について/iu;

/**
 * Answers by quoting found turns, without a model: those of the person asked about, by their rank and the words that they or the turn before
 * them share with the question. Of several candidates for the present the newest is quoted; if none of the first shares a word, none.
 */
export function quoteAnswer(question: string, found: readonly FoundTurn[], people: readonly string[]): FoundTurn[] {
  const named = people.filter((name) => question.includes(name));
  const nameTerms = new Set(named.flatMap((name) => extractTerms(name)));
  const asked = new Set(extractTerms(question).filter((term) => !nameTerms.has(term)));
  const count = (text: string): number => new Set(extractTerms(text).filter((term) => asked.has(term))).size;
  const candidates = found
    .filter(({ speaker }) => named.length === 0 || named.includes(speaker))
    .map((turn) => ({ turn, words: count(turn.text) + 0.7 * count(turn.before) }));
  if (candidates.slice(0, MAX_QUOTES).every(({ words }) => words === 0)) return [];
  const valued = candidates
    .map(({ turn, words }, rank) => ({ turn, value: words / Math.max(1, asked.size) + 1 / (1 + rank / 4) }))
    .sort((a, b) => b.value - a.value);
  const good = valued.filter(({ value }) => value >= MIN_VALUE * (valued[0]?.value ?? 0)).map(({ turn }) => turn);
  if (PRESENT.test(question)) return good.slice(0, MAX_QUOTES).sort((a, b) => b.at - a.at);
  return good.slice(0, SEVERAL.test(question) ? MAX_LISTED : MAX_QUOTES);
}
