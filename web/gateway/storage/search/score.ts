import { LENGTHS } from './layout.ts';
import { openPostings } from './postings.ts';
import type { FoundTerm, Source } from './source.ts';

/** BM25 parameters for term saturation and length normalization, at their usual values. */
const K1 = 1.2;
const B = 0.75;
/** Bonus for a message of today relative to a very old one; it halves each month. */
const RECENT = 0.5;
const HALF_LIFE_DAYS = 30;
/** By role: tool results are seldom what somebody searches for. */
const ROLE_WEIGHTS = [1, 1, 0.8, 0.5];
const DAY = 86_400;

/** Parameters of one search, the same for all sources. */
export interface Scoring {
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
export function scoringOf(sources: readonly Source[], found: readonly FoundTerm[][][], need: 'all' | 'any', now: number): Scoring {
  const docs = sources.reduce((sum, { size }) => sum + size, 0);
  const length = sources.reduce((sum, source) => sum + source.length, 0);
  const mean = Math.max(1, length / Math.max(1, docs));
  const weights = (found[0] ?? []).map((_, word) => {
    const having = found.reduce((sum, words) => sum + (words[word] ?? []).reduce((all, { count }) => all + count, 0), 0);
    return idf(docs, Math.min(docs, having));
  });
  return {
    weights,
    need,
    norms: Float64Array.from(LENGTHS, (each) => K1 * (1 - B + (B * each) / mean)),
    ages: Float64Array.from({ length: 1000 }, (_, days) => 1 + RECENT * 2 ** (-days / HALF_LIFE_DAYS)),
    now: now / 1000,
  };
}

export const idf = (docs: number, having: number): number => Math.log(1 + (docs - having + 0.5) / (having + 0.5));

/** Number of occurrences up to which scores are precomputed. */
const TABLED = 8;

/** Score of a word in a document, by number of occurrences and the code of the document's length. */
class Gain {
  readonly #weight: number;
  readonly #norms: Float64Array;
  readonly #table: Float64Array;

  constructor(weight: number, norms: Float64Array) {
    this.#weight = weight;
    this.#norms = norms;
    this.#table = Float64Array.from({ length: 64 * TABLED }, (_, at) => this.#of((at >> 6) + 1, at & 63));
  }

  of(times: number, length: number): number {
    return times <= TABLED ? (this.#table[((times - 1) << 6) | length] ?? 0) : this.#of(times, length);
  }

  #of(times: number, length: number): number {
    return (this.#weight * times * (K1 + 1)) / (times + (this.#norms[length] ?? 1));
  }
}

// Reused between searches: a million documents need nine megabytes.
let marks = new Uint8Array(0);
let scores = new Float32Array(0);
let touched = new Uint32Array(0);

/** Calls back with each living document of a source that matches, and its score. Synchronous: does not yield to other tasks. */
export function eachMatch(
  source: Source,
  found: readonly FoundTerm[][],
  scoring: Scoring,
  match: (doc: number, score: number) => void,
): void {
  const { weights, need, norms } = scoring;
  if (need === 'all' && found.some((terms) => terms.length === 0)) return;
  const { code } = source.columns;
  const tell = teller(source, scoring, match);
  const [only] = found;
  if (only && found.length === 1 && only.length === 1) {
    // The common case of a single word needs no sums.
    const gain = new Gain(weights[0] ?? 0, norms);
    const { docs, times, count } = openPostings(only[0]?.postings ?? NOTHING);
    for (let i = 0; i < count; i++) {
      const doc = docs[i] ?? 0;
      tell(doc, gain.of(times[i] ?? 1, (code[doc] ?? 0) & 63));
    }
    return;
  }
  if (marks.length < source.size) {
    [marks, scores, touched] = [new Uint8Array(source.size), new Float32Array(source.size), new Uint32Array(source.size)];
  }
  const order = found.map((terms, word) => ({ terms, word, count: terms.reduce((sum, { count }) => sum + count, 0) }));
  // The rarest word first: documents without it are skipped for the others.
  order.sort((a, b) => a.count - b.count);
  const all = need === 'all';
  let touches = 0;
  order.forEach(({ terms, word }, turn) => {
    const gain = new Gain(weights[word] ?? 0, norms);
    for (const { postings } of terms) {
      const { docs, times, count } = openPostings(postings);
      for (let i = 0; i < count; i++) {
        const doc = docs[i] ?? 0;
        const mark = marks[doc] ?? 0;
        if (mark < turn && all) continue;
        if (mark === 0) touched[touches++] = doc;
        marks[doc] = turn + 1;
        scores[doc] = (scores[doc] ?? 0) + gain.of(times[i] ?? 1, (code[doc] ?? 0) & 63);
      }
    }
  });
  for (let i = 0; i < touches; i++) {
    const doc = touched[i] ?? 0;
    const had = marks[doc] ?? 0;
    const score = scores[doc] ?? 0;
    marks[doc] = 0;
    scores[doc] = 0;
    if (!all || had === order.length) tell(doc, score);
  }
}

const NOTHING = new Uint8Array(0);

/** Wraps `match`: skips dead documents, and adjusts the score by age and role. */
function teller(source: Source, { ages, now }: Scoring, match: (doc: number, score: number) => void): typeof match {
  const { code, time } = source.columns;
  const dead = source.deadCount > 0;
  const oldest = ages.length - 1;
  return (doc, score) => {
    if (dead && source.isDead(doc)) return;
    const age = Math.min(oldest, Math.max(0, Math.floor((now - (time[doc] ?? 0)) / DAY)));
    match(doc, score * (ages[age] ?? 1) * (ROLE_WEIGHTS[(code[doc] ?? 0) >> 6] ?? 1));
  };
}
