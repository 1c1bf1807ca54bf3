import { BM25, computeIdf, computeNorm, scoreTerm } from '../../knowledge/search/bm25.ts';
import { TYPICAL_LENGTHS } from './segment-layout.ts';
import { decodePostings } from './postings.ts';
import type { MatchedTerm, SearchSource } from './search-source.ts';

/** Bonus for a message of today relative to a very old one; it halves each month. */
const RECENCY_BONUS = 0.5;
const HALF_LIFE_DAYS = 30;
/** By role: tool results are seldom what somebody searches for. */
const ROLE_WEIGHTS = [1, 1, 0.8, 0.5];
const DAY_SECONDS = 86_400;

/** Parameters of one search, the same for all sources. */
interface ScoringParams {
  /** Weight of each word. */
  weights: readonly number[];
  /** Whether documents need all of the words, or any. */
  need: 'all' | 'any';
  /** By length code. */
  norms: Float64Array;
  /** By age in days. */
  ages: Float64Array;
  /** Seconds since 1970. */
  now: number;
}

/** `found`: matching terms by source and word. `now`: in milliseconds. */
export function createScoringParams(
  sources: readonly SearchSource[],
  termsBySource: readonly MatchedTerm[][][],
  need: 'all' | 'any',
  now: number,
): ScoringParams {
  const docs = sources.reduce((sum, { size }) => sum + size, 0);
  const length = sources.reduce((sum, source) => sum + source.length, 0);
  const mean = Math.max(1, length / Math.max(1, docs));
  const weights = (termsBySource[0] ?? []).map((_, word) => {
    const frequency = termsBySource.reduce((sum, words) => sum + (words[word] ?? []).reduce((all, { count }) => all + count, 0), 0);
    return computeIdf(docs, Math.min(docs, frequency));
  });
  return {
    weights,
    need,
    norms: Float64Array.from(TYPICAL_LENGTHS, (each) => computeNorm(BM25, each, mean)),
    ages: Float64Array.from({ length: 1000 }, (_, days) => 1 + RECENCY_BONUS * 2 ** (-days / HALF_LIFE_DAYS)),
    now: now / 1000,
  };
}

/** Number of occurrences up to which scores are precomputed. */
const MAX_TABLED_COUNT = 8;

/** Score of a word in a document, by number of occurrences and the code of the document's length. */
class WordScore {
  readonly #weight: number;
  readonly #norms: Float64Array;
  readonly #table: Float64Array;

  constructor(weight: number, norms: Float64Array) {
    this.#weight = weight;
    this.#norms = norms;
    this.#table = Float64Array.from({ length: 64 * MAX_TABLED_COUNT }, (_, index) => this.#compute((index >> 6) + 1, index & 63));
  }

  get(times: number, length: number): number {
    return times <= MAX_TABLED_COUNT ? (this.#table[((times - 1) << 6) | length] ?? 0) : this.#compute(times, length);
  }

  #compute(times: number, length: number): number {
    return scoreTerm(this.#weight, times, this.#norms[length] ?? 1, BM25);
  }
}

// Reused between searches: a million documents need nine megabytes.
let marks = new Uint8Array(0);
let scores = new Float32Array(0);
let touchedDocs = new Uint32Array(0);

/** Calls back with each living document of a source that matches, and its score. Synchronous: does not yield to other tasks. */
export function forEachMatch(
  source: SearchSource,
  termsByWord: readonly MatchedTerm[][],
  scoring: ScoringParams,
  onMatch: (doc: number, score: number) => void,
): void {
  const { weights, need, norms } = scoring;
  if (need === 'all' && termsByWord.some((terms) => terms.length === 0)) return;
  const { code } = source.columns;
  const notifyMatch = createMatchFilter(source, scoring, onMatch);
  const [only] = termsByWord;
  if (only && termsByWord.length === 1 && only.length === 1) {
    // The common case of a single word needs no sums.
    const gain = new WordScore(weights[0] ?? 0, norms);
    const { docs, times, count } = decodePostings(only[0]?.postings ?? NO_POSTINGS);
    for (let i = 0; i < count; i++) {
      const doc = docs[i] ?? 0;
      notifyMatch(doc, gain.get(times[i] ?? 1, (code[doc] ?? 0) & 63));
    }
    return;
  }
  if (marks.length < source.size) {
    [marks, scores, touchedDocs] = [new Uint8Array(source.size), new Float32Array(source.size), new Uint32Array(source.size)];
  }
  const order = termsByWord.map((terms, word) => ({ terms, word, count: terms.reduce((sum, { count }) => sum + count, 0) }));
  // The rarest word first: documents without it are skipped for the others.
  order.sort((a, b) => a.count - b.count);
  const all = need === 'all';
  let touches = 0;
  order.forEach(({ terms, word }, turn) => {
    const gain = new WordScore(weights[word] ?? 0, norms);
    for (const { postings } of terms) {
      const { docs, times, count } = decodePostings(postings);
      for (let i = 0; i < count; i++) {
        const doc = docs[i] ?? 0;
        const mark = marks[doc] ?? 0;
        if (mark < turn && all) continue;
        if (mark === 0) touchedDocs[touches++] = doc;
        marks[doc] = turn + 1;
        scores[doc] = (scores[doc] ?? 0) + gain.get(times[i] ?? 1, (code[doc] ?? 0) & 63);
      }
    }
  });
  for (let i = 0; i < touches; i++) {
    const doc = touchedDocs[i] ?? 0;
    const had = marks[doc] ?? 0;
    const score = scores[doc] ?? 0;
    marks[doc] = 0;
    scores[doc] = 0;
    if (!all || had === order.length) notifyMatch(doc, score);
  }
}

const NO_POSTINGS = new Uint8Array(0);

/** Wraps `onMatch`: skips dead documents, and adjusts the score by age and role. */
function createMatchFilter(
  source: SearchSource,
  { ages, now }: ScoringParams,
  onMatch: (doc: number, score: number) => void,
): typeof onMatch {
  const { code, time } = source.columns;
  const dead = source.deadCount > 0;
  const oldest = ages.length - 1;
  return (doc, score) => {
    if (dead && source.isDead(doc)) return;
    const age = Math.min(oldest, Math.max(0, Math.floor((now - (time[doc] ?? 0)) / DAY_SECONDS)));
    onMatch(doc, score * (ages[age] ?? 1) * (ROLE_WEIGHTS[(code[doc] ?? 0) >> 6] ?? 1));
  };
}
