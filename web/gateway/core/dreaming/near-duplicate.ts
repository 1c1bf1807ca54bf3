import { tokenize } from '../retrieval/tokenize.ts';
import { normalized } from './signal.ts';

/** Share of common terms from which two texts count as equal. */
const SAME = 0.85;
const FEW = 3;
const NEGATION =
  /\b(?:not?|never|nor|none|nobody|nothing|without|cannot|no longer|nicht|kein\w*|nie|jamais|pas|nunca|non)\b|n['’]t\b|[不没無ない]/giu;
const NUMBER = /\p{N}+(?:[.,:/-]\p{N}+)*/gu;

/** Features of a text that are compared. */
export interface Said {
  whole: string;
  terms: ReadonlySet<string>;
  /** Numbers, and the count of negations: texts that differ here differ, however much else they share. */
  values: string;
}

export function saidIn(text: string): Said {
  return {
    whole: normalized(text),
    terms: new Set(tokenize(text)),
    values: [...(text.match(NUMBER) ?? []).sort(), (text.match(NEGATION) ?? []).length % 2].join(' '),
  };
}

/** Whether `known` has the same content as `text`, in identical or similar words. */
export function saysTheSame(known: Said, text: Said): boolean {
  if (known.whole === text.whole) return true;
  if (text.terms.size >= FEW && ` ${known.whole} `.includes(` ${text.whole} `)) return true;
  if (known.values !== text.values) return false;
  const shared = [...text.terms].filter((term) => known.terms.has(term)).length;
  const all = known.terms.size + text.terms.size - shared;
  return all > 0 && (text.terms.size < FEW ? shared === all : shared / all >= SAME);
}
