import type { QueryWord } from '../../core/retrieval/search-query.ts';
import type { DocColumns } from './layout.ts';

/** A term that matches a word of the query, with the number and the postings of its documents. */
export interface FoundTerm {
  count: number;
  postings: Uint8Array;
}

/** A set of searchable documents: a segment, or those that are not in one yet. Documents are numbered from 0. */
export interface Source {
  readonly size: number;
  /** Number of terms in all its documents. */
  readonly length: number;
  /** `session`: index in `SessionNames`. */
  readonly columns: DocColumns;
  /** Number of dead documents. */
  readonly deadCount: number;
  isDead(doc: number): boolean;
  /** The matching terms for each word; only the most common if there are very many. */
  lookup(words: readonly QueryWord[]): Promise<FoundTerm[][]>;
  idOf(doc: number): Promise<string>;
}

/** Numbers for session keys, shared by all sources. */
export class SessionNames {
  readonly keys: string[] = [];
  readonly #numbers = new Map<string, number>();

  number(key: string): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.keys.push(key) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/** Maximum number of terms per word: an unfinished one of two letters may match thousands. */
export const MOST_TERMS = 48;

/** The most common of the terms, in their order. */
export function commonest<T extends { count: number }>(terms: T[]): T[] {
  if (terms.length <= MOST_TERMS) return terms;
  const least = terms.map(({ count }) => count).sort((a, b) => b - a)[MOST_TERMS - 1] ?? 0;
  return terms.filter(({ count }) => count >= least).slice(0, MOST_TERMS);
}
