import { findConflict } from '../../wiki/contradiction/contradiction.ts';
import { splitWords } from '../../search/text/analyze.ts';
import { detectWordsLanguage, isMeaningful } from '../../search/text/extract-terms.ts';
import { findValue, getSubjectNames } from './find-value.ts';
import { CUE, getTerms, toPlainStatement } from './statement-text.ts';

const IS_NEWER = new RegExp(`${CUE.source}|^(?:correction|korrektur|corrección|rectification|correzione|correção|correctie)\\b`, 'iu');

const MIN_SUBJECT_TERMS = 2;

/** Maximum number of words in which a statement and its update differ. */
const MAX_CHANGED_WORDS = 3;

/**
 * Whether a later statement replaces an earlier one: it contradicts it (English), or says the same with another value and a word such as
 * "now" or "correction" (languages with spaces). Prefers precision: two statements that can both be true are kept.
 */
export function isUpdate(earlier: string, later: string): boolean {
  const [old, fresh] = [toPlainStatement(earlier), toPlainStatement(later)];
  if (old === fresh || old === '' || fresh === '') return false;
  const [oldValue, freshValue] = [findValue(old), findValue(fresh)];
  if (oldValue !== undefined && freshValue !== undefined && toKey(oldValue) === toKey(freshValue)) return false;
  // Statements about different people or things contradict no one.
  const names =
    getSubjectNames(old).every((name) => getTerms(fresh).has(name)) && getSubjectNames(fresh).every((name) => getTerms(old).has(name));
  if (!names) return false;
  if (findConflict(old, fresh)) return true;
  return IS_NEWER.test(later) && (isSameButForValue(old, fresh) || hasSameSubject(old, fresh));
}

const toKey = (text: string): string => [...getTerms(text)].sort().join(' ');

/** Whether two texts have the same words, in any order, except for the values that they state. */
function hasSameSubject(old: string, fresh: string): boolean {
  const [oldValue, freshValue] = [findValue(old), findValue(fresh)];
  if (oldValue === undefined || freshValue === undefined) return false;
  const withoutValue = (text: string, value: string): string[] => [...getTerms(text)].filter((term) => !getTerms(value).has(term)).sort();
  const [a, b] = [withoutValue(old, oldValue), withoutValue(fresh, freshValue)];
  return a.length >= MIN_SUBJECT_TERMS && a.join(' ') === b.join(' ');
}

/** Whether two texts have the same words except for one short passage. */
function isSameButForValue(old: string, fresh: string): boolean {
  const words = [splitWords(old), splitWords(fresh)] as const;
  const [a, b] = words.map((all) => all.map(({ folded }) => folded));
  if (!a || !b) return false;
  const minLength = Math.min(a.length, b.length);
  let start = 0;
  while (start < minLength && a[start] === b[start]) start++;
  let end = 0;
  while (end < minLength - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [changedOld, changedFresh] = [a.length - start - end, b.length - start - end];
  const isShort = [changedOld, changedFresh].every((changed) => changed >= 1 && changed <= MAX_CHANGED_WORDS);
  if (!isShort || start + end < Math.max(a.length, b.length) / 2) return false;
  const language = detectWordsLanguage(words[0]);
  return words[0].slice(0, start).some((each) => isMeaningful(each, language));
}
