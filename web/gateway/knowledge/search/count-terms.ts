import { splitWords, toTerm } from './text/analyze.ts';
import { detectWordsLanguage, isMeaningful } from './text/extract-terms.ts';
import type { Language } from './text/languages.ts';

/** A field of a document. `weight`, a whole number, multiplies its term counts. */
export interface DocumentField {
  text: string;
  weight?: number;
}

/** The terms of a document with their frequency, its number of meaningful words, and its language. */
interface TermCounts {
  counts: Map<string, number>;
  length: number;
  language: Language;
}

/** Analyses a document, as `TermIndex` expects it. `known`: its language, which is detected if undefined. */
export function countTerms(fields: readonly DocumentField[], known?: Language): TermCounts {
  const parts = fields.map(({ text, weight = 1 }) => ({ words: splitWords(text), weight }));
  const language = known ?? detectWordsLanguage(parts.flatMap(({ words }) => words));
  const counts = new Map<string, number>();
  let length = 0;
  for (const { words, weight } of parts) {
    for (const word of words) {
      const term = toTerm(word, language);
      counts.set(term, (counts.get(term) ?? 0) + weight);
      if (isMeaningful(word, language)) length += weight;
    }
  }
  return { counts, length, language };
}
