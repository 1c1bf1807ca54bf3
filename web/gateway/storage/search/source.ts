import type { QueryWord } from '../../core/retrieval/search-query.ts';
import type { DocColumns } from './layout.ts';

/** A term that fits a word of the query: how many documents have it, and which. */
export interface FoundTerm {
  count: number;
  postings: Uint8Array;
}

/** Documents that can be searched: a segment, or those that are not in one yet. Documents have numbers from 0 on. */
export interface Source {
  readonly size: number;
  /** Terms of all its documents. */
  readonly length: number;
  /** `session`: by number in `SessionNames`. */
  readonly columns: DocColumns;
  /** How many of them are dead. */
  readonly deadCount: number;
  isDead(doc: number): boolean;
  /** For each word the terms that fit; of very many only the commonest. */
  lookup(words: readonly QueryWord[]): Promise<FoundTerm[][]>;
  idOf(doc: number): Promise<string>;
}

/** Numbers for the keys of sessions, the same in all sources. */
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

/** Terms that are looked at for one word: an unfinished one of two letters may begin thousands. */
export const MOST_TERMS = 48;

/** The commonest of the terms, in their order. */
export function commonest<T extends { count: number }>(terms: T[]): T[] {
  if (terms.length <= MOST_TERMS) return terms;
  const least = terms.map(({ count }) => count).sort((a, b) => b - a)[MOST_TERMS - 1] ?? 0;
  return terms.filter(({ count }) => count >= least).slice(0, MOST_TERMS);
}
