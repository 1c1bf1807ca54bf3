import { BM25, computeIdf, computeNorm, scoreTerm } from '../../../web/gateway/knowledge/search/bm25.ts';

/** BM25 over words as they are written, without stems, synonyms or stop words: what a search starts from. */
export class PlainBm25 {
  readonly #documents: { id: string; counts: Map<string, number>; length: number }[];
  readonly #frequencies = new Map<string, number>();
  readonly #meanLength: number;

  constructor(documents: readonly { id: string; text: string }[]) {
    this.#documents = documents.map(({ id, text }) => {
      const words = splitWords(text);
      const counts = new Map<string, number>();
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const word of counts.keys()) this.#frequencies.set(word, (this.#frequencies.get(word) ?? 0) + 1);
      return { id, counts, length: words.length };
    });
    this.#meanLength = this.#documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  }

  /** Ids of the best documents, best first. */
  search(query: string, limit: number): string[] {
    const words = [...new Set(splitWords(query))];
    return this.#documents
      .map(({ id, counts, length }) => {
        const norm = computeNorm(BM25, length, this.#meanLength);
        const score = words.reduce((sum, word) => {
          const times = counts.get(word);
          if (times === undefined) return sum;
          return sum + scoreTerm(computeIdf(this.#documents.length, this.#frequencies.get(word) ?? 0), times, norm, BM25);
        }, 0);
        return { id, score };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ id }) => id);
  }
}

/** Words in lower case; in Japanese those of the segmenter. */
const splitWords = (text: string): string[] =>
  [...segmenter.segment(text.toLowerCase())].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
