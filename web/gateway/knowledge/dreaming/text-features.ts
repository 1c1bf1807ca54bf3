import { extractTerms } from '../search/text/extract-terms.ts';
import { normalizeText } from './signal.ts';

/** Share of common terms from which two texts count as equal. */
const MIN_SIMILARITY = 0.85;

const MIN_TERMS = 3;

const NEGATION =
  /\b(?:not?|never|nor|none|nobody|nothing|without|cannot|no longer|nicht|kein\w*|nie|jamais|pas|nunca|non)\b|n['’]t\b|[不没無ない]/giu;

const NUMBER = /\p{N}+(?:[.,:/-]\p{N}+)*/gu;

/** Features of a text that are compared. */
export interface TextFeatures {
  whole: string;
  terms: ReadonlySet<string>;
  /** Numbers, and the count of negations: texts that differ here differ, however much else they share. */
  values: string;
}

export function extractFeatures(text: string): TextFeatures {
  return { whole: normalizeText(text), terms: new Set(extractTerms(text)), values: extractValues(text) };
}

/** Whether a text denies something; two negations cancel each other. */
export const isDenial = (text: string): boolean => (text.match(NEGATION) ?? []).length % 2 === 1;

const extractValues = (text: string): string => [...(text.match(NUMBER) ?? []).sort(), Number(isDenial(text))].join(' ');

/** Whether two texts have the same numbers, and both or neither deny something. */
export const isSameValue = (a: string, b: string): boolean => extractValues(a) === extractValues(b);

/** Whether `known` has the same content as `text`, in identical or similar words. */
export function isNearDuplicate(known: TextFeatures, text: TextFeatures): boolean {
  if (known.whole === text.whole) return true;
  if (text.terms.size >= MIN_TERMS && ` ${known.whole} `.includes(` ${text.whole} `)) return true;
  if (known.values !== text.values) return false;
  const shared = [...text.terms].filter((term) => known.terms.has(term)).length;
  const all = known.terms.size + text.terms.size - shared;
  return all > 0 && (text.terms.size < MIN_TERMS ? shared === all : shared / all >= MIN_SIMILARITY);
}
