import type { ConceptScores } from '../../search/concept-scores.ts';
import { FEATURES, type Feature } from './features.ts';
import { FIT_BIAS, FIT_WEIGHTS } from './fit-weights.ts';
import { computeValue, type RerankedPassage } from './rerank.ts';

/** Features of the results that tell whether any of them answers the query. */
const OBSERVED = [
  'own',
  'borrowed',
  'exact',
  'rarest',
  'answers',
  'before',
  'after',
  'speaker',
  'stranger',
  'mentions',
  'firstPerson',
  'feedback',
  'asks',
  'short',
  'long',
  'timely',
  'number',
  'denies',
] as const satisfies readonly Feature[];
type Observed = (typeof OBSERVED)[number];

/** Signals of a search: features of its best result, the highest values among its first results, and facts about the query. */
export type FitSignal = `best.${Observed}` | `any.${Observed}` | 'value' | 'lead' | 'unknown' | 'few';
export const FIT_SIGNALS: readonly FitSignal[] = [
  ...OBSERVED.map((feature) => `best.${feature}` as const),
  ...OBSERVED.map((feature) => `any.${feature}` as const),
  /** Value of the best result in the final order, and how much it exceeds the last of the first results. */
  'value',
  'lead',
  /** Share of the query's words, by worth, that no passage has, and whether the query has few words. */
  'unknown',
  'few',
];

/** Number of results whose features count. */
const MAX_OBSERVED = 5;
/** Divides values of the final order, so that they are about as large as features. */
const VALUE_SCALE = 10;

const POSITIONS = OBSERVED.map((feature) => FEATURES.indexOf(feature));
const WEIGHTS = FIT_SIGNALS.map((signal) => FIT_WEIGHTS[signal]);

/** Facts about the words of a query. */
export interface QueryWords {
  count: number;
  /** Share of them, by worth, that no passage has. */
  unknown: number;
}

export function describeWords(concepts: readonly ConceptScores[]): QueryWords {
  const words = concepts.filter(({ concept }) => concept.word !== null);
  const sumWorth = (all: readonly ConceptScores[]): number => all.reduce((sum, { worth }) => sum + worth, 0);
  const total = sumWorth(words);
  return { count: words.length, unknown: total === 0 ? 1 : sumWorth(words.filter(({ touched }) => touched.length === 0)) / total };
}

/** Probability from 0 to 1 that one of the results answers the query. */
export function computeFit(results: readonly RerankedPassage[], words: QueryWords): number {
  const signals = computeFitSignals(results, words);
  let sum = FIT_BIAS;
  for (let i = 0; i < signals.length; i++) sum += (signals[i] ?? 0) * (WEIGHTS[i] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}

/** In the order of `FIT_SIGNALS`. */
export function computeFitSignals(results: readonly RerankedPassage[], words: QueryWords): Float64Array {
  const rows = results.slice(0, MAX_OBSERVED).flatMap(({ features }) => features ?? []);
  const [best, last] = [rows[0], rows.at(-1)];
  const value = best ? computeValue(best) / VALUE_SCALE : 0;
  return Float64Array.from([
    ...POSITIONS.map((position) => best?.[position] ?? 0),
    ...POSITIONS.map((position) => rows.reduce((max, row) => Math.max(max, row[position] ?? 0), 0)),
    value,
    last ? value - computeValue(last) / VALUE_SCALE : 0,
    words.unknown,
    1 / Math.max(1, words.count),
  ]);
}
