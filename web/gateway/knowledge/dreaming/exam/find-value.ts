import { splitWords } from '../../search/text/analyze.ts';
import { detectWordsLanguage, extractTerms, isMeaningful } from '../../search/text/extract-terms.ts';

const NUMBERED = /\p{N}/u;
const TOKEN = /[\p{L}\p{N}]+(?:[-'’.:/][\p{L}\p{N}]+)*/gu;

/**
 * The value that a sentence states, as text: its last number or date, else the last name but the first, else its last meaningful word.
 * Undefined in scripts without spaces, whose words are not certain.
 */
export function findValue(sentence: string): string | undefined {
  const words = splitWords(sentence);
  if (words.some(({ paired }) => paired)) return undefined;
  const language = detectWordsLanguage(words);
  const tokens = [...sentence.matchAll(TOKEN)].map(({ 0: text, index }) => ({
    start: index,
    end: index + text.length,
    isNumber: NUMBERED.test(text),
    isName: /^\p{Lu}/u.test(text),
    isMeaningful: splitWords(text).some((word) => isMeaningful(word, language)),
  }));
  // Adjacent names and numbers belong together: "9 June", "Dr Moreau".
  const groups = tokens.reduce<(typeof tokens)[]>((all, token) => {
    const last = all.at(-1);
    const before = last?.at(-1);
    const isNamed = (each: (typeof tokens)[number]): boolean => each.isNumber || (each.isName && each.isMeaningful);
    if (last && before && isNamed(before) && isNamed(token) && sentence.slice(before.end, token.start).trim() === '') last.push(token);
    else all.push([token]);
    return all;
  }, []);
  const names = groups.filter((group) => group.some(({ isName, isMeaningful: isWord }) => isName && isWord));
  const value =
    groups.findLast((group) => group.some(({ isNumber }) => isNumber)) ??
    (names.length > 1 ? names.at(-1) : undefined) ??
    groups.findLast((group) => group.some(({ isMeaningful: isWord }) => isWord));
  return value && sentence.slice(value[0]?.start ?? 0, value.at(-1)?.end ?? 0);
}

/** Terms of the names in a sentence: its capitalized words, the first word included, except for function words. */
function getNameTerms(sentence: string): string[] {
  const language = detectWordsLanguage(splitWords(sentence));
  return [...sentence.matchAll(TOKEN)].flatMap(({ 0: token }) => {
    const isName = /^\p{Lu}/u.test(token) && splitWords(token).some((word) => isMeaningful(word, language));
    return isName ? extractTerms(token, language) : [];
  });
}

/** Terms of the names in a sentence that are not part of its value. */
export function getSubjectNames(sentence: string): string[] {
  const value = new Set(extractTerms(findValue(sentence) ?? ''));
  return getNameTerms(sentence).filter((term) => !value.has(term));
}
