import type { ScorePool } from './score-pool.ts';
import type { Language } from './text/languages.ts';

/** Documents that have a term, in ascending order, and its frequency in each. Only the first `count` entries are valid. */
export interface Postings {
  readonly docs: Uint32Array;
  readonly times: Uint8Array | Uint16Array;
  readonly count: number;
}

/** Postings of a term. */
export interface TermPostings {
  /** Number of existing documents that have the term. */
  count: number;
  lists: readonly Postings[];
}

/** How English words relate: see `text/related-terms.ts`. */
export interface WordRelations {
  getRelatedTerms(term: string): ReadonlyMap<string, number>;
  findExpressions(stems: readonly string[]): { term: string; at: number; length: number }[];
}

/** An index of texts in memory, by their terms: what concepts are looked up in. Documents are numbered from 0. */
export interface TermIndex {
  /** Number of documents. */
  readonly size: number;
  /** Upper bound (exclusive) of document numbers. */
  readonly end: number;
  /** Number of meaningful words by document number; negative for removed documents. */
  readonly lengths: Int32Array;
  readonly meanLength: number;
  /** Languages of the documents, most frequent first. */
  readonly languages: readonly Language[];
  /** Words of a language that are not searched beside others. */
  getStopWords(language: Language): ReadonlySet<string>;
  /** Folded names of speakers, with the number of documents of each. */
  readonly speakers: ReadonlyMap<string, number>;
  /** Absent if queries are only matched in their own words. */
  readonly relations?: WordRelations;
  /** Reusable buffers for scores. */
  readonly scratch: ScorePool;
  /** Undefined if no document has the term. */
  find(term: string): TermPostings | undefined;
  /** Terms that may belong to the same word family, such as parts of German compounds and forms that a stemmer keeps apart. */
  findWordFamily(term: string): string[];
}
