import { toTerm, type Word, splitWords } from './text/analyze.ts';
import { detectLanguage, ENGLISH, type Language } from './text/languages.ts';
import type { TermIndex } from './term-index.ts';

/** A concept in a query, and the terms that express it. */
export interface Concept {
  /** Word of the query; null for concepts that are not a word of it. */
  word: string | null;
  terms: { term: string; weight: number }[];
  weight: number;
}

/** Weights of a synonym, of a word of the same family, and of a speaker's name. */
export interface ConceptWeights {
  readonly related: number;
  readonly family: number;
  readonly speaker: number;
}

/** Term of a speaker's name. Its prefix cannot occur in a word. */
export const toSpeakerTerm = (name: string): string => `@${name}`;

/** Extracts the concepts of a query from its words. */
export function extractConcepts(query: string, index: TermIndex, w: ConceptWeights): Concept[] {
  const words = splitWords(query);
  const languages = selectLanguages(words, index);
  const stop = languages[0] ? index.getStopWords(languages[0]) : new Set<string>();
  const concepts = new Map<string, Concept>();
  const relations = languages[0] === ENGLISH ? index.relations : undefined;
  const relate = (own: Map<string, number>, key: string): void => {
    for (const [each, weight] of relations?.getRelatedTerms(key) ?? []) if (!own.has(each)) own.set(each, weight * w.related);
  };
  const expressions = relations?.findExpressions(words.map((word) => toTerm(word, ENGLISH))) ?? [];
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
  return [...concepts.values()];
}

const toTerms = (own: ReadonlyMap<string, number>): Concept['terms'] => [...own].map(([term, weight]) => ({ term, weight }));

/** The query's own language first, if it is clear and the index has it; otherwise all languages of the index. */
function selectLanguages(words: readonly Word[], index: TermIndex): Language[] {
  const topLanguages = index.languages.slice(0, 4);
  const own = detectLanguage(words.map(({ folded }) => folded));
  return own && topLanguages.includes(own) ? [own, ...topLanguages.filter((each) => each !== own)] : topLanguages;
}
