import type { TimeRange } from '../../search/text/time-words.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { ConceptScores } from '../../search/concept-scores.ts';
import type { ScoreBuffers } from '../../search/score-pool.ts';
import { selectBest } from '../../search/select-best.ts';
import { createNeighbourWeights, type NeighbourWeights, Neighbourhood } from './neighbourhood.ts';
import type { Weights } from './weights.ts';

/** Times of a query. */
interface QueryTimes {
  /** Time ranges named in the query. */
  times: readonly TimeRange[];
  /** Milliseconds since the Unix epoch. */
  now: number;
}

/** A ranked passage with the reasons for its rank. */
export interface RankedPassage {
  number: number;
  score: number;
  /** Share of the query, weighted by its words, that is covered: 0 to 1. */
  coverage: number;
  /** Words of the query that the passage contains, and words found only in its neighbours. */
  own: string[];
  beside: string[];
  /** How well it matches a requested time, 0 to 1. */
  timely: number;
  /** Score of its conversation. */
  thread: number;
}

const DAY_MS = 86_400_000;
/** Half-life in days of the small bonus for recent passages. */
const HALF_LIFE_DAYS = 30;
/** Number of words from which a passage counts fully. */
const FULL_LENGTH_WORDS = 6;

/** Ranks passages by concepts that are added in steps, so that a step does not sum up the scores of earlier ones again. */
export class PassageRanking {
  readonly #index: MemoryIndex;
  readonly #query: QueryTimes;
  readonly #weights: Weights;
  readonly #neighbourWeights: NeighbourWeights;
  readonly #concepts: ConceptScores[] = [];
  /** Sums of the scores of each passage's own words. */
  readonly #totals: ScoreBuffers;
  #scoredCount = 0;

  /** Call `close` when done. */
  constructor(index: MemoryIndex, query: QueryTimes, weights: Weights) {
    [this.#index, this.#query, this.#weights] = [index, query, weights];
    this.#neighbourWeights = createNeighbourWeights(weights);
    this.#totals = index.scratch.take(index.end);
  }

  add(concepts: readonly ConceptScores[]): void {
    const { scores: totals, touched: scored } = this.#totals;
    let count = this.#scoredCount;
    for (const concept of concepts) {
      const { touched, scores } = concept;
      this.#concepts.push(concept);
      for (let i = 0; i < touched.length; i++) {
        const number = touched[i] ?? 0;
        const total = totals[number] ?? 0;
        if (total === 0) scored[count++] = number;
        totals[number] = total + (scores[number] ?? 0);
      }
    }
    this.#scoredCount = count;
  }

  /**
   * The best passages for the concepts so far, best first. All are scored by their own words; the best `candidates` of them are scored
   * again together with their neighbours.
   */
  getBest({ limit, candidates }: { limit: number; candidates: number }): RankedPassage[] {
    const { scores: totals, touched } = this.#totals;
    const best = selectBest(touched.subarray(0, this.#scoredCount), totals, candidates);
    const around = new Neighbourhood(this.#index, best, this.#neighbourWeights);
    try {
      const { sums, covered } = this.#sumConcepts(around);
      const totalWorth = this.#concepts.reduce((sum, { concept, worth }) => sum + (concept.word === null ? 0 : worth), 0);
      const threadScores = computeThreadScores(this.#index, this.#concepts, around);
      const [scores, positions] = [new Float64Array(around.count), new Uint32Array(around.count)];
      for (let position = 0; position < around.count; position++) {
        const coverage = totalWorth === 0 ? 0 : Math.min(1, (covered[position] ?? 0) / totalWorth);
        const number = around.getNumber(position);
        const base = (sums[position] ?? 0) + this.#weights.thread * (threadScores[position] ?? 0);
        scores[position] = this.#scorePassage(number, base, coverage);
        positions[position] = position;
      }
      return [...positions]
        .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || around.getNumber(a) - around.getNumber(b))
        .slice(0, limit)
        .map((position) => {
          const number = around.getNumber(position);
          return {
            number,
            score: scores[position] ?? 0,
            coverage: totalWorth === 0 ? 0 : Math.min(1, (covered[position] ?? 0) / totalWorth),
            ...this.#explain(around, position),
            timely: this.#computeTimely(number),
            thread: threadScores[position] ?? 0,
          };
        });
    } finally {
      around.close();
    }
  }

  /** Frees the buffers. */
  close(): void {
    this.#index.scratch.give(this.#totals, this.#scoredCount);
  }

  /** Sums of the concepts' scores by position, neighbours included, and the part that words of the query account for. */
  #sumConcepts(around: Neighbourhood): { sums: Float64Array; covered: Float64Array } {
    const [sums, covered] = [new Float64Array(around.count), new Float64Array(around.count)];
    for (const { concept, worth, scores, touched } of this.#concepts) {
      if (touched.length === 0) continue;
      const best = around.computeBest(scores);
      for (let position = 0; position < around.count; position++) {
        const score = best[position] ?? 0;
        sums[position] = (sums[position] ?? 0) + score;
        if (concept.word !== null && score !== 0) covered[position] = (covered[position] ?? 0) + Math.min(worth, score);
      }
    }
    return { sums, covered };
  }

  /** `base`: score of the passage's words, its neighbours' and its thread's. */
  #scorePassage(number: number, base: number, coverage: number): number {
    const [index, w] = [this.#index, this.#weights];
    const at = index.at(number);
    let score = base;
    score *= 1 - w.coverage + w.coverage * coverage;
    score *= w.empty + (1 - w.empty) * Math.min(1, (index.lengths[number] ?? 0) / FULL_LENGTH_WORDS);
    if (index.asks(number)) score *= w.asks;
    score *= 1 + w.time * this.#computeTimely(number);
    if (at !== null) score *= 1 + w.fresh * 0.5 ** (Math.max(0, this.#query.now - at) / DAY_MS / HALF_LIFE_DAYS);
    return score;
  }

  #computeTimely(number: number): number {
    const { times } = this.#query;
    return times.length === 0 ? 0 : computeTimeMatch(times, this.#index.at(number), this.#index.getTimes(number));
  }

  #explain(around: Neighbourhood, position: number): Pick<RankedPassage, 'own' | 'beside'> {
    const [own, beside]: [string[], string[]] = [[], []];
    for (const { concept, scores } of this.#concepts) {
      if (concept.word === null) continue;
      if ((scores[around.getNumber(position)] ?? 0) > 0) own.push(concept.word);
      else if (around.hasNeighbourWithScore(position, scores)) beside.push(concept.word);
    }
    return { own, beside };
  }
}

/** Scores of the conversations that the passages of a neighbourhood belong to, by the position of the passage. */
function computeThreadScores(index: MemoryIndex, concepts: readonly ConceptScores[], around: Neighbourhood): Float32Array {
  const { threadNumbers } = index;
  const threadScores = new Float32Array(around.count);
  const addScore = (position: number, sum: number, worth: number): void => {
    if (sum > 0) threadScores[position] = (threadScores[position] ?? 0) + (worth * sum) / (sum + 2 * worth);
  };
  // Each memory is a thread of its own: the score of such a thread is that of its only passage.
  const alone: number[] = [];
  /** Positions of the first and of further passages of a thread. */
  const threads = new Map<number, { first: number; others: number[] }>();
  for (let position = 0; position < around.count; position++) {
    const thread = threadNumbers[around.getNumber(position)] ?? 0;
    const known = threads.get(thread);
    if (!around.hasNeighbours(position)) alone.push(position);
    else if (known) known.others.push(position);
    else threads.set(thread, { first: position, others: [] });
  }
  const sums = threads.size > 0 ? new Float32Array(index.threadCount) : undefined;
  const isNeeded = new Uint8Array(sums ? index.threadCount : 0);
  for (const thread of threads.keys()) isNeeded[thread] = 1;
  for (const { touched, scores, worth } of concepts) {
    for (const position of alone) addScore(position, scores[around.getNumber(position)] ?? 0, worth);
    if (!sums) continue;
    for (let i = 0; i < touched.length; i++) {
      const number = touched[i] ?? 0;
      const thread = threadNumbers[number] ?? 0;
      if (isNeeded[thread] === 1) sums[thread] = (sums[thread] ?? 0) + (scores[number] ?? 0);
    }
    for (const [thread, { first }] of threads) {
      addScore(first, sums[thread] ?? 0, worth);
      sums[thread] = 0;
    }
  }
  for (const { first, others } of threads.values()) for (const position of others) threadScores[position] = threadScores[first] ?? 0;
  return threadScores;
}

/** 1 if a passage has, or mentions, one of the requested times; decreases with the distance relative to the length of the range. */
function computeTimeMatch(requested: readonly TimeRange[], at: number | null, mentioned: readonly TimeRange[]): number {
  let best = 0;
  for (const { from, to } of requested) {
    const slack = Math.max(3 * DAY_MS, (to - from) / 2);
    const computeCloseness = (begin: number, end: number): number =>
      end > from && begin < to ? 1 : Math.exp(-Math.max(from - end, begin - to) / slack);
    if (at !== null) best = Math.max(best, 0.9 * computeCloseness(at, at + 1));
    for (const range of mentioned) best = Math.max(best, computeCloseness(range.from, range.to));
  }
  return best;
}
