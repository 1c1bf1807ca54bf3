import { BM25 } from './bm25.ts';
import { createIntegers, growColumn } from './columns/grow-column.ts';
import { scoreConcept } from './concept-scores.ts';
import { extractConcepts, type ConceptWeights } from './concepts.ts';
import { countTerms, type DocumentField } from './count-terms.ts';
import { ScorePool } from './score-pool.ts';
import { TermLists } from './term-lists.ts';
import type { TermIndex, TermPostings } from './term-index.ts';
import type { Language } from './text/languages.ts';

/** Documents are searched in a query's own words, and have no speakers. */
const WEIGHTS: ConceptWeights = { related: 0, family: 0.25, speaker: 0 };

export interface SearchHit<T> {
  doc: T;
  score: number;
  /** Share of the query, weighted by its words, that the document contains in any form: 0 to 1. */
  coverage: number;
}

/**
 * Searches documents of any kind: help articles, wiki pages, tools, recent messages. Works in memory, with the same analysis and ranking
 * as the memory's search, but without what only conversations have.
 */
export class TextIndex<T> implements TermIndex {
  readonly #docs: T[] = [];
  readonly #lists = new TermLists();
  readonly #languages = new Map<Language, number>();
  readonly speakers: ReadonlyMap<string, number> = new Map();
  readonly scratch = new ScorePool();
  lengths = createIntegers(0);
  #totalLength = 0;

  /** Creates an index of `docs`; `fields` returns the text of a document. */
  static create<T>(docs: Iterable<T>, fields: (doc: T) => string | readonly DocumentField[]): TextIndex<T> {
    const index = new TextIndex<T>();
    for (const doc of docs) index.add(doc, fields(doc));
    return index;
  }

  get size(): number {
    return this.#docs.length;
  }

  get end(): number {
    return this.#docs.length;
  }

  get meanLength(): number {
    return Math.max(1, this.#totalLength / Math.max(1, this.size));
  }

  get languages(): readonly Language[] {
    return [...this.#languages].sort(([, a], [, b]) => b - a).map(([language]) => language);
  }

  add(doc: T, fields: string | readonly DocumentField[]): void {
    const { counts, length, language } = countTerms(typeof fields === 'string' ? [{ text: fields }] : fields);
    const number = this.#docs.push(doc) - 1;
    for (const [term, times] of counts) this.#lists.add(term, number, times);
    this.lengths = growColumn(this.lengths, createIntegers, number);
    this.lengths[number] = length;
    this.#totalLength += length;
    this.#languages.set(language, (this.#languages.get(language) ?? 0) + 1);
  }

  getStopWords(language: Language): ReadonlySet<string> {
    return language.functionWords;
  }

  find(term: string): TermPostings | undefined {
    const lists = this.#lists.get(term);
    return lists.length === 0 ? undefined : { count: lists.reduce((sum, { count }) => sum + count, 0), lists };
  }

  findWordFamily(term: string): string[] {
    return this.#lists.findFamily(term);
  }

  /** The best documents for a query, best first; equal scores keep their order of insertion. */
  search(query: string, limit = 10): SearchHit<T>[] {
    const totals = new Map<number, { score: number; matched: number }>();
    let total = 0;
    for (const concept of extractConcepts(query, this, WEIGHTS)) {
      const { worth, scores, touched, buffers } = scoreConcept(this, concept, BM25);
      total += worth;
      for (const number of touched) {
        const sum = totals.get(number) ?? { score: 0, matched: 0 };
        totals.set(number, { score: sum.score + (scores[number] ?? 0), matched: sum.matched + worth });
      }
      if (buffers) this.scratch.give(buffers, touched.length);
    }
    return [...totals]
      .sort(([a, { score: x }], [b, { score: y }]) => y - x || a - b)
      .slice(0, limit)
      .flatMap(([number, { score, matched }]) => {
        const doc = this.#docs[number];
        return doc === undefined ? [] : [{ doc, score, coverage: matched / total }];
      });
  }
}
