import type { TimeRange } from '../../search/text/time-words.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { ConceptScores } from '../../search/concept-scores.ts';
import { selectBest } from '../../search/select-best.ts';
import type { Weights } from './weights.ts';

/** A query, prepared for ranking. */
export interface RankQuery {
  /** Scores of all passages, by concept. */
  concepts: readonly ConceptScores[];
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
}

/** Number of passages on either side that are considered related. */
const NEIGHBOUR_REACH = 5;
const DAY_MS = 86_400_000;
/** Half-life in days of the small bonus for recent passages. */
const HALF_LIFE_DAYS = 30;
/** Number of words from which a passage counts fully. */
const FULL_LENGTH_WORDS = 6;

/**
 * The best passages for a query, best first. All are scored by their own words; the best `candidates` of them are scored again together
 * with their neighbours.
 */
export function rankPassages(
  index: MemoryIndex,
  query: RankQuery,
  w: Weights,
  { limit, candidates }: { limit: number; candidates: number },
): RankedPassage[] {
  const buffers = index.scratch.take(index.end);
  const { scores: totals, touched: scored } = buffers;
  let count = 0;
  for (const { touched, scores } of query.concepts) {
    for (const number of touched) {
      if (totals[number] === 0) scored[count++] = number;
      totals[number] = (totals[number] ?? 0) + (scores[number] ?? 0);
    }
  }
  const best = selectBest(scored.subarray(0, count), totals, candidates);
  index.scratch.give(buffers, count);
  const threads = computeThreadScores(index, query.concepts);
  const totalWorth = query.concepts.reduce((sum, { concept, worth }) => sum + (concept.word === null ? 0 : worth), 0);
  return withNeighbours(index, best)
    .map((number) => scorePassage(index, number, query, w, { thread: threads[index.threadNumbers[number] ?? 0] ?? 0, totalWorth }))
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, limit);
}

function withNeighbours({ previous, next }: MemoryIndex, numbers: readonly number[]): number[] {
  const found = new Set<number>();
  for (const number of numbers) {
    found.add(number);
    let [earlier, later] = [previous[number] ?? -1, next[number] ?? -1];
    for (let step = 1; step <= NEIGHBOUR_REACH; step++) {
      if (earlier !== -1) found.add(earlier);
      if (later !== -1) found.add(later);
      [earlier, later] = [previous[earlier] ?? -1, next[later] ?? -1];
    }
  }
  return [...found];
}

/** Score of each conversation for the concepts, by thread number. */
function computeThreadScores(index: MemoryIndex, concepts: readonly ConceptScores[]): Float32Array {
  const threadScores = new Float32Array(index.threadCount);
  const { threadNumbers } = index;
  const sums = new Float32Array(index.threadCount);
  for (const { touched, scores, worth } of concepts) {
    for (const number of touched) {
      const thread = threadNumbers[number] ?? 0;
      sums[thread] = (sums[thread] ?? 0) + (scores[number] ?? 0);
    }
    // Each memory is a thread of its own: visiting only those with a score is far cheaper.
    for (const number of touched) {
      const thread = threadNumbers[number] ?? 0;
      const sum = sums[thread] ?? 0;
      if (sum > 0) threadScores[thread] = (threadScores[thread] ?? 0) + (worth * sum) / (sum + 2 * worth);
      sums[thread] = 0;
    }
  }
  return threadScores;
}

function scorePassage(
  index: MemoryIndex,
  number: number,
  { concepts, times, now }: RankQuery,
  w: Weights,
  { thread, totalWorth }: { thread: number; totalWorth: number },
): RankedPassage {
  const [own, beside]: [string[], string[]] = [[], []];
  const neighbours = getNeighbours(index, number, w);
  let [sum, covered] = [0, 0];
  for (const { concept, worth, scores } of concepts) {
    const ownScore = scores[number] ?? 0;
    let score = ownScore;
    for (const neighbour of neighbours) score = Math.max(score, (scores[neighbour.number] ?? 0) * neighbour.weight);
    sum += score;
    if (concept.word === null || score === 0) continue;
    (ownScore > 0 ? own : beside).push(concept.word);
    covered += Math.min(worth, score);
  }
  const at = index.at(number);
  const coverage = totalWorth === 0 ? 0 : Math.min(1, covered / totalWorth);
  const timely = times.length === 0 ? 0 : computeTimeMatch(times, at, index.getTimes(number));
  let score = sum + w.thread * thread;
  score *= 1 - w.coverage + w.coverage * coverage;
  score *= w.empty + (1 - w.empty) * Math.min(1, (index.lengths[number] ?? 0) / FULL_LENGTH_WORDS);
  if (index.asks(number)) score *= w.asks;
  score *= 1 + w.time * timely;
  if (at !== null) score *= 1 + w.fresh * 0.5 ** (Math.max(0, now - at) / DAY_MS / HALF_LIFE_DAYS);
  return { number, score, coverage, own, beside, timely };
}

/** The passages around one, and the weight with which their scores count for it. */
function getNeighbours(index: MemoryIndex, number: number, w: Weights): { number: number; weight: number }[] {
  const { previous, next } = index;
  const neighbours: { number: number; weight: number }[] = [];
  let share = 1;
  let [earlier, later] = [previous[number] ?? -1, next[number] ?? -1];
  for (let step = 1; step <= NEIGHBOUR_REACH; step++) {
    if (earlier !== -1) neighbours.push({ number: earlier, weight: share * (index.asks(earlier) ? w.answer : w.before) });
    if (later !== -1) neighbours.push({ number: later, weight: share * w.after });
    share *= w.far;
    [earlier, later] = [previous[earlier] ?? -1, next[later] ?? -1];
  }
  return neighbours;
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
