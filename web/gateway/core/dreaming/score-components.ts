import { COMPONENTS, type ComponentName } from './config.ts';
import { DAY_MS, lastActive, normalized, type ShortTermSignal } from './signal.ts';

const within = (value: number): number => (value >= 0 ? Math.min(1, value) : 0);

/** Components of a score, each from 0 to 1. */
export class ScoreComponents implements Readonly<Record<ComponentName, number>> {
  readonly frequency: number;
  readonly relevance: number;
  readonly diversity: number;
  readonly recency: number;
  readonly consolidation: number;
  readonly conceptual: number;

  constructor(values: Record<ComponentName, number>) {
    this.frequency = within(values.frequency);
    this.relevance = within(values.relevance);
    this.diversity = within(values.diversity);
    this.recency = within(values.recency);
    this.consolidation = within(values.consolidation);
    this.conceptual = within(values.conceptual);
  }

  toDict(): Record<ComponentName, number> {
    const { frequency, relevance, diversity, recency, consolidation, conceptual } = this;
    return { frequency, relevance, diversity, recency, consolidation, conceptual };
  }

  /** Weighted mean; the weights must add up to 1. */
  weighed(weights: Readonly<Record<ComponentName, number>>): number {
    return within(COMPONENTS.reduce((sum, name) => sum + this[name] * weights[name], 0));
  }
}

/** Score of a number of recalls: 1 from ten on. */
export const frequencyOf = (recalls: number): number => within(Math.log(1 + recalls) / Math.log(11));

/** Mean of the relevance scores; 0 without recalls. */
export const relevanceOf = (scores: readonly number[]): number =>
  scores.length === 0 ? 0 : within(scores.reduce((sum, score) => sum + score, 0) / scores.length);

export const diversityOf = (queries: number, days: number): number => within(Math.max(queries, days) / 5);

/** Halves with each half-life; times in the future count as new. */
export const recencyOf = (ageDays: number, halfLifeDays: number): number => within(0.5 ** (Math.max(0, ageDays) / halfLifeDays));

/** Score of the number of distinct days, and of the span between the first and the last. */
export function consolidationOf(days: number, spanDays: number): number {
  if (days <= 0) return 0;
  if (days === 1) return 0.2;
  return within((0.55 * Math.log(days)) / Math.log(5) + (0.45 * spanDays) / 7);
}

export const conceptualOf = (tags: number): number => within(tags / 6);

const spanOf = (days: readonly string[]): number => {
  const times = days.map((day) => Date.parse(day));
  return times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / DAY_MS;
};

/** Distinct queries, ignoring case and spacing. */
export const queriesOf = ({ recalls }: ShortTermSignal): Set<string> => new Set(recalls.map(({ query }) => normalized(query)));

/** The components of a signal at a time in milliseconds since the Unix epoch. */
export function componentsOf(signal: ShortTermSignal, now: number, halfLifeDays: number): ScoreComponents {
  const recallDays = new Set(signal.recalls.map(({ day }) => day));
  const days = [...new Set([...recallDays, ...signal.consolidationDays])];
  return new ScoreComponents({
    frequency: frequencyOf(signal.recallCount),
    relevance: relevanceOf(signal.recalls.map(({ score }) => score)),
    diversity: diversityOf(queriesOf(signal).size, recallDays.size),
    recency: recencyOf((now - lastActive(signal)) / DAY_MS, halfLifeDays),
    consolidation: consolidationOf(days.length, spanOf(days)),
    conceptual: conceptualOf(new Set(signal.tags).size),
  });
}
