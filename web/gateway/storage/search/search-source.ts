import type { QueryWord } from '../../knowledge/search/search-query.ts';
import type { DocColumns } from './segment-layout.ts';

/** A term that matches a word of the query, with the number and the postings of its documents. */
export interface MatchedTerm {
  count: number;
  postings: Uint8Array;
}

/** A set of searchable documents: a segment, or those that are not in one yet. Documents are numbered from 0. */
export interface SearchSource {
  readonly size: number;
  /** Number of terms in all its documents. */
  readonly length: number;
  /** `session`: index in `SessionNumbers`. */
  readonly columns: DocColumns;
  /** Number of dead documents. */
  readonly deadCount: number;
  isDead(doc: number): boolean;
  /** The matching terms for each word; only the most common if there are very many. */
  lookup(words: readonly QueryWord[]): Promise<MatchedTerm[][]>;
  getId(doc: number): Promise<string>;
}

/** Numbers for session keys, shared by all sources. */
export class SessionNumbers {
  readonly keys: string[] = [];
  readonly #numbers = new Map<string, number>();

  getNumber(key: string): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.keys.push(key) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/** Maximum number of terms per word: an unfinished one of two letters may match thousands. */
const MAX_TERMS = 48;

/** The most common of the terms, in their order. */
export function selectMostCommon<T extends { count: number }>(terms: T[]): T[] {
  if (terms.length <= MAX_TERMS) return terms;
  const minCount = terms.map(({ count }) => count).sort((a, b) => b - a)[MAX_TERMS - 1] ?? 0;
  return terms.filter(({ count }) => count >= minCount).slice(0, MAX_TERMS);
}
