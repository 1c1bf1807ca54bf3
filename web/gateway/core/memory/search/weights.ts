/** How much each sign counts. Found by trying on judged conversations, of which half the questions were kept aside for checking: tests/bench/NOTES.md. */
export interface Weights {
  /** Term saturation and length normalisation of BM25. */
  k1: number;
  b: number;
  /** What a passage gives to the one behind it, a question to what follows it, and a passage to the one before; each step further `far` of that. */
  before: number;
  answer: number;
  after: number;
  far: number;
  /** What a passage counts that says next to nothing, and one that only asks. */
  empty: number;
  asks: number;
  /** What the whole conversation gives. */
  thread: number;
  /** What having all of the query is worth beside having a part of it often. */
  coverage: number;
  /** Being of the time that the query names. */
  time: number;
  /** What is new counts so much more than what is very old. */
  fresh: number;
  /** Another word for the same, the name of who spoke, and being of the kind that is asked for (a price, a reason). */
  related: number;
  family: number;
  speaker: number;
  kind: number;
  /** What else the best passages speak of: from how many, how many terms, and what those count. */
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
