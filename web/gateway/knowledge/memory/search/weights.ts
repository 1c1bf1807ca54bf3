import type { Bm25Params } from '../../search/bm25.ts';
import type { ConceptWeights } from '../../search/concepts.ts';

/**
 * Weights of the ranking signals. Tuned on judged conversations, with half of the questions held out for validation: tests/bench/NOTES.md.
 */
export interface Weights extends Bm25Params, ConceptWeights {
  /**
   * Share of a passage's score given to the next passage, to the one after a question, and to the previous one; each further step is
   * multiplied by `far`.
   */
  before: number;
  answer: number;
  after: number;
  far: number;
  /** Factors for a passage with hardly any content, and for one that only asks. */
  empty: number;
  asks: number;
  /** Weight of the whole conversation's score. */
  thread: number;
  /** Weight of covering the whole query, as opposed to repeating a part of it. */
  coverage: number;
  /** Weight of matching a time named in the query. */
  time: number;
  /** Bonus of a new passage over a very old one. */
  fresh: number;
  /** Weight of matching the kind asked for (a price, a reason). */
  kind: number;
  /** Query expansion: weight, number of passages and number of terms. */
  feedback: number;
  feedbackPassages: number;
  feedbackTerms: number;
}

export const WEIGHTS: Weights = {
  k1: 1,
  b: 0.45,
  before: 0.45,
  answer: 0.8,
  after: 0.35,
  far: 0.6,
  empty: 0.55,
  asks: 0.7,
  thread: 0.25,
  coverage: 0.06,
  time: 1.6,
  fresh: 0.07,
  related: 0.6,
  family: 0.4,
  speaker: 1.4,
  kind: 0.65,
  feedback: 0.2,
  feedbackPassages: 5,
  feedbackTerms: 10,
};
