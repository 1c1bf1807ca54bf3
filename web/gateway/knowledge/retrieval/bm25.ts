import { tokenize } from './tokenize.ts';

/** Term saturation and length normalisation, at their usual values. */
const K1 = 1.2;
const B = 0.75;
/** Minimum collection size for weighting: in a very small one every word looks common. */
const MIN_DOCUMENTS = 50;

export interface SearchHit<T> {
  doc: T;
  score: number;
  /** Share of the query, weighted by its terms, that the document contains: 0 to 1. */
  coverage: number;
}

interface IndexedDocument<T> {
  doc: T;
  length: number;
}

/** A field of a document. `weight` multiplies its term counts. */
interface DocumentField {
  text: string;
  weight?: number;
}

/** Ranks documents by Okapi BM25, in memory. Meant for small collections: help articles, memories and recent messages. */
export class Bm25<T> {
  readonly #entries: IndexedDocument<T>[] = [];
  /** Term → document number → count. */
  readonly #postings = new Map<string, Map<number, number>>();
  #totalLength = 0;

  /** Creates an index of `docs`; `fields` returns the text of a document. */
  static create<T>(docs: Iterable<T>, fields: (doc: T) => string | readonly DocumentField[]): Bm25<T> {
    const index = new Bm25<T>();
    for (const doc of docs) index.add(doc, fields(doc));
    return index;
  }

  get size(): number {
    return this.#entries.length;
  }

  add(doc: T, fields: string | readonly DocumentField[]): void {
    const index = this.#entries.length;
    let length = 0;
    for (const { text, weight = 1 } of typeof fields === 'string' ? [{ text: fields }] : fields) {
      for (const term of tokenize(text)) {
        let posting = this.#postings.get(term);
        if (!posting) this.#postings.set(term, (posting = new Map()));
        posting.set(index, (posting.get(index) ?? 0) + weight);
        length += weight;
      }
    }
    this.#entries.push({ doc, length });
    this.#totalLength += length;
  }

  /** The best documents for a query, best first; equal scores keep their order of insertion. */
  search(query: string, limit = 10): SearchHit<T>[] {
    const terms = new Set(tokenize(query));
    const scores = new Map<number, { score: number; matched: number }>();
    const mean = this.#totalLength / Math.max(1, this.#entries.length) || 1;
    let total = 0;
    for (const term of terms) {
      const posting = this.#postings.get(term);
      const weight = this.#idf(posting?.size ?? 0);
      total += weight;
      for (const [index, count] of posting ?? []) {
        const length = this.#entries[index]?.length ?? mean;
        const part = (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / mean));
        const sum = scores.get(index);
        if (sum) {
          sum.score += part;
          sum.matched += weight;
        } else scores.set(index, { score: part, matched: weight });
      }
    }
    return [...scores]
      .sort(([a, { score: x }], [b, { score: y }]) => y - x || a - b)
      .slice(0, limit)
      .flatMap(([index, { score, matched }]) => {
        const entry = this.#entries[index];
        return entry ? [{ doc: entry.doc, score, coverage: matched / total }] : [];
      });
  }

  #idf(documents: number): number {
    return Math.log(1 + (Math.max(MIN_DOCUMENTS, this.#entries.length) - documents + 0.5) / (documents + 0.5));
  }
}
