import { toTerm, type Word, splitWords } from '../text/analyze.ts';
import { detectLanguage, ENGLISH, type Language } from '../text/languages.ts';
import { findExpressions, getRelatedTerms } from '../text/related-terms.ts';
import type { Weights } from './weights.ts';
import { CAUSE, type MemoryIndex, MONEY, NAME, NUMBER, toSpeakerTerm, TIME } from './memory-index.ts';

/** A concept in a query, and the terms that express it. */
export interface Concept {
  /** Word of the query; null for concepts that are not a word of it. */
  word: string | null;
  terms: { term: string; weight: number }[];
  weight: number;
}

const CONTENT_KINDS: readonly [pattern: RegExp, term: string][] = [
  [/\b(when|what (date|day|year|month|time)|how long|how often)\b/i, TIME],
  [/\b(how (many|much|old|far|tall|big|long)|what (price|cost|number|percentage|size)|cost)\b/i, NUMBER],
  [/\b(who|whose|whom|what('s| is| was) the name|called|named|which)\b/i, NAME],
  [/\b(how much|cost|price|paid?|pay|salary|rent|fee|bill|budget|quote|value|worth)\b/i, MONEY],
  [/\b(why|what (reason|made|caused))\b/i, CAUSE],
];

/** Speakers that "I" and "you" refer to in a user's query to an assistant. */
const SPEAKERS: readonly [pattern: RegExp, speaker: string][] = [
  [/\b(i|me|my|mine|we|our|us)\b/i, 'user'],
  [/\byou(r)?\b/i, 'assistant'],
];

/** Extracts the concepts of a query from its words. */
export function extractConcepts(query: string, index: MemoryIndex, w: Weights): Concept[] {
  const words = splitWords(query);
  const languages = selectLanguages(words, index);
  const stop = languages[0]?.stopWords ?? new Set<string>();
  const concepts = new Map<string, Concept>();
  const english = languages[0] === ENGLISH;
  const relate = (own: Map<string, number>, key: string): void => {
    if (!english) return;
    for (const [each, weight] of getRelatedTerms(key)) if (!own.has(each)) own.set(each, weight * w.related);
  };
  const expressions = english ? findExpressions(words.map((word) => toTerm(word, ENGLISH))) : [];
  for (const { term, at, length } of expressions) {
    const own = new Map([[term, 1]]);
    relate(own, term);
    const foldedWords = words
      .slice(at, at + length)
      .map(({ text }) => text)
      .join(' ');
    concepts.set(term, { word: foldedWords, terms: toTerms(own), weight: 1 });
  }
  const isInExpression = (index: number): boolean => expressions.some(({ at, length }) => index >= at && index < at + length);
  let meaningful = words.filter(({ folded, paired }, index) => (paired || !stop.has(folded)) && !isInExpression(index));
  if (meaningful.length === 0 && concepts.size === 0) meaningful = words;
  for (const word of meaningful) {
    const own = new Map<string, number>();
    for (const language of languages) own.set(toTerm(word, language), 1);
    const [key = ''] = own.keys();
    if (concepts.has(key)) continue;
    relate(own, key);
    for (const each of index.findWordFamily(key)) if (!own.has(each)) own.set(each, w.family);
    let weight = 1;
    if (index.speakers.has(word.folded)) {
      own.set(toSpeakerTerm(word.folded), 1);
      weight = w.speaker;
    }
    concepts.set(key, { word: word.text, terms: toTerms(own), weight });
  }
  for (const [pattern, speaker] of SPEAKERS) {
    const term = toSpeakerTerm(speaker);
    if (index.speakers.has(speaker) && pattern.test(query) && !concepts.has(term)) {
      concepts.set(term, { word: null, terms: [{ term, weight: 1 }], weight: w.speaker });
      break;
    }
  }
  for (const [pattern, term] of CONTENT_KINDS)
    if (pattern.test(query)) concepts.set(term, { word: null, terms: [{ term, weight: 1 }], weight: w.kind });
  return [...concepts.values()];
}

const toTerms = (own: ReadonlyMap<string, number>): Concept['terms'] => [...own].map(([term, weight]) => ({ term, weight }));

/** The query's own language first, if it is clear and the index has it; otherwise all languages of the index. */
function selectLanguages(words: readonly Word[], index: MemoryIndex): Language[] {
  const topLanguages = index.languages.slice(0, 4);
  const own = detectLanguage(words.map(({ folded }) => folded));
  return own && topLanguages.includes(own) ? [own, ...topLanguages.filter((each) => each !== own)] : topLanguages;
}
