import type { Component, DreamStatus } from '#lib/dreaming/types.ts';
import { number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';
import { COMPONENTS } from './words.ts';

/** The settings of dreaming as a form has them: weights in hundredths of the whole. */
export type Draft = DreamStatus['limits'] & { enabled: boolean; cron: string; timezone: string; scoringWeights: Record<Component, number> };

export const NUMBERS = [
  { name: 'limit', label: () => m.dreaming_limit_limit(), min: 1, max: 1000, step: 1 },
  { name: 'minScore', label: () => m.dreaming_limit_score(), min: 0, max: 1, step: 0.05 },
  { name: 'minRecallCount', label: () => m.dreaming_limit_recalls(), min: 0, max: 1_000_000, step: 1 },
  { name: 'minUniqueQueries', label: () => m.dreaming_limit_questions(), min: 0, max: 1_000_000, step: 1 },
  { name: 'recencyHalfLifeDays', label: () => m.dreaming_limit_half_life(), min: 0.1, max: 36_500, step: 'any' },
  { name: 'maxAgeDays', label: () => m.dreaming_limit_age(), min: 1, max: 36_500, step: 1 },
] as const;

interface Range {
  min: number;
  max: number;
  step: number | 'any';
}

/** Validates a typed number (null for an empty field). Returns the problem; undefined if valid. */
export function wrongNumber(value: number | null | undefined, { min, max, step }: Range): string | undefined {
  const fits = typeof value === 'number' && value >= min && value <= max && (step !== 1 || Number.isInteger(value));
  if (fits) return undefined;
  const range = { min: number(min), max: number(max) };
  return step === 1 ? m.dreaming_give_whole(range) : m.dreaming_give_number(range);
}

export const WEIGHT: Range = { min: 0, max: 100, step: 'any' };
export const wrongWeight = (value: number | null | undefined): string | undefined => wrongNumber(value, WEIGHT);

export const sumOf = (weights: Draft['scoringWeights']): number => COMPONENTS.reduce((sum, { name }) => sum + (weights[name] ?? 0), 0);

/** Of all settings: nothing of them can be saved while one is wrong. */
export const isWrong = (draft: Draft): boolean =>
  NUMBERS.some((each) => wrongNumber(draft[each.name], each) !== undefined) ||
  COMPONENTS.some(({ name }) => wrongWeight(draft.scoringWeights[name]) !== undefined) ||
  sumOf(draft.scoringWeights) <= 0;

export function draftOf({ enabled, schedule, limits, weights }: DreamStatus): Draft {
  const inHundredths = (name: Component): number => Math.round(weights[name] * 1000) / 10;
  const { cron, timezone } = schedule;
  return {
    ...{ ...limits, enabled, cron, timezone },
    scoringWeights: {
      frequency: inHundredths('frequency'),
      relevance: inHundredths('relevance'),
      diversity: inHundredths('diversity'),
      recency: inHundredths('recency'),
      consolidation: inHundredths('consolidation'),
      conceptual: inHundredths('conceptual'),
    },
  };
}

/** Computes changed settings as the configuration takes them: settings that were never set keep their defaults. */
export function changesOf(draft: Draft, before: Draft): Record<string, unknown> {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(draft).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)));
  return Object.fromEntries(
    changed.map(([name, value]) => [
      name,
      name === 'scoringWeights' ? Object.fromEntries(COMPONENTS.map((each) => [each.name, draft.scoringWeights[each.name] / 100])) : value,
    ]),
  );
}

/** The draft with what was set elsewhere, where nothing else was typed meanwhile. */
export function followed(draft: Draft, before: Draft, next: Draft): Draft {
  const typed = Object.keys(changesOf(draft, before));
  return { ...next, ...Object.fromEntries(Object.entries(draft).filter(([name]) => typed.includes(name))) };
}

/** The draft with one setting as it was before it was typed into. */
export const without = (name: string, draft: Draft, before: Draft): Draft => ({
  ...draft,
  ...Object.fromEntries(Object.entries(before).filter(([each]) => each === name)),
});
