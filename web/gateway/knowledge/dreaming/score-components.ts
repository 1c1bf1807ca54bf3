import { COMPONENTS, type ComponentName } from './dreaming-config.ts';
import { DAY_MS, getLastActive, normalizeText, type ShortTermSignal } from './signal.ts';

const clamp = (value: number): number => (value >= 0 ? Math.min(1, value) : 0);

/** Components of a score, each from 0 to 1. */
export class ScoreComponents implements Readonly<Record<ComponentName, number>> {
  readonly frequency: number;
  readonly relevance: number;
  readonly diversity: number;
  readonly recency: number;
  readonly consolidation: number;
  readonly conceptual: number;

  constructor(values: Record<ComponentName, number>) {
    this.frequency = clamp(values.frequency);
    this.relevance = clamp(values.relevance);
    this.diversity = clamp(values.diversity);
    this.recency = clamp(values.recency);
    this.consolidation = clamp(values.consolidation);
    this.conceptual = clamp(values.conceptual);
  }

  toDict(): Record<ComponentName, number> {
    const { frequency, relevance, diversity, recency, consolidation, conceptual } = this;
    return { frequency, relevance, diversity, recency, consolidation, conceptual };
  }

  /** Weighted mean; the weights must add up to 1. */
  weighed(weights: Readonly<Record<ComponentName, number>>): number {
    return clamp(COMPONENTS.reduce((sum, name) => sum + this[name] * weights[name], 0));
  }
}

/** Score of a number of recalls: 1 from ten on. */
export const computeFrequency = (recalls: number): number => clamp(Math.log(1 + recalls) / Math.log(11));

/** Mean of the relevance scores; 0 without recalls. */
export const computeRelevance = (scores: readonly number[]): number =>
  scores.length === 0 ? 0 : clamp(scores.reduce((sum, score) => sum + score, 0) / scores.length);

export const computeDiversity = (queries: number, days: number): number => clamp(Math.max(queries, days) / 5);

/** Halves with each half-life; times in the future count as new. */
export const computeRecency = (ageDays: number, halfLifeDays: number): number => clamp(0.5 ** (Math.max(0, ageDays) / halfLifeDays));

/** Score of the number of distinct days, and of the span between the first and the last. */
export function computeConsolidation(days: number, spanDays: number): number {
  if (days <= 0) return 0;
  if (days === 1) return 0.2;
  return clamp((0.55 * Math.log(days)) / Math.log(5) + (0.45 * spanDays) / 7);
}

export const computeConceptual = (tags: number): number => clamp(tags / 6);

const computeSpanDays = (days: readonly string[]): number => {
  const times = days.map((day) => Date.parse(day));
  return times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / DAY_MS;
};

/** Distinct queries, ignoring case and spacing. */
export const getQueries = ({ recalls }: ShortTermSignal): Set<string> => new Set(recalls.map(({ query }) => normalizeText(query)));

/** The components of a signal at a time in milliseconds since the Unix epoch. */
export function computeComponents(signal: ShortTermSignal, now: number, halfLifeDays: number): ScoreComponents {
  const recallDays = new Set(signal.recalls.map(({ day }) => day));
  const days = [...new Set([...recallDays, ...signal.consolidationDays])];
  return new ScoreComponents({
    frequency: computeFrequency(signal.recallCount),
    relevance: computeRelevance(signal.recalls.map(({ score }) => score)),
    diversity: computeDiversity(getQueries(signal).size, recallDays.size),
    recency: computeRecency((now - getLastActive(signal)) / DAY_MS, halfLifeDays),
    consolidation: computeConsolidation(days.length, computeSpanDays(days)),
    conceptual: computeConceptual(new Set(signal.tags).size),
  });
}
