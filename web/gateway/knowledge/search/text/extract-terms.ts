import { splitWords, toTerm, type Word } from './analyze.ts';
import { detectLanguage, ENGLISH, type Language } from './languages.ts';

/** The language of a text; English if it is not clear. */
export const detectWordsLanguage = (words: readonly Word[]): Language => detectLanguage(words.map(({ folded }) => folded)) ?? ENGLISH;

/** Whether a word distinguishes documents. */
export const isMeaningful = ({ folded, paired }: Word, { functionWords }: Language): boolean => paired || !functionWords.has(folded);

/** The index terms of a text in the order of its words, without function words. */
export function extractTerms(text: string, language?: Language): string[] {
  const words = splitWords(text);
  const own = language ?? detectWordsLanguage(words);
  return words.filter((word) => isMeaningful(word, own)).map((word) => toTerm(word, own));
}
