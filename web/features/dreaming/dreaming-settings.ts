import type { ScoreComponent, DreamStatus } from './types.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { SCORE_COMPONENTS } from './dreaming-labels.ts';

/** Form values of the settings of dreaming; weights are in hundredths. */
export type DreamingDraft = DreamStatus['limits'] & {
  enabled: boolean;
  cron: string;
  timezone: string;
  scoringWeights: Record<ScoreComponent, number>;
};

export const NUMBER_FIELDS = [
  { name: 'limit', label: () => m.dreaming_limit_limit(), min: 1, max: 1000, step: 1 },
  { name: 'minScore', label: () => m.dreaming_limit_score(), min: 0, max: 1, step: 0.05 },
  { name: 'minRecallCount', label: () => m.dreaming_limit_recalls(), min: 0, max: 1_000_000, step: 1 },
  { name: 'minUniqueQueries', label: () => m.dreaming_limit_questions(), min: 0, max: 1_000_000, step: 1 },
  { name: 'recencyHalfLifeDays', label: () => m.dreaming_limit_half_life(), min: 0.1, max: 36_500, step: 'any' },
  { name: 'maxAgeDays', label: () => m.dreaming_limit_age(), min: 1, max: 36_500, step: 1 },
] as const;

interface NumberRange {
  min: number;
  max: number;
  step: number | 'any';
}

/** Validates a typed number (null for an empty field). Returns the problem; undefined if valid. */
export function validateNumber(value: number | null | undefined, { min, max, step }: NumberRange): string | undefined {
  const fits = typeof value === 'number' && value >= min && value <= max && (step !== 1 || Number.isInteger(value));
  if (fits) return undefined;
  const range = { min: formatNumber(min), max: formatNumber(max) };
  return step === 1 ? m.dreaming_give_whole(range) : m.dreaming_give_number(range);
}

export const WEIGHT_RANGE: NumberRange = { min: 0, max: 100, step: 'any' };
export const validateWeight = (value: number | null | undefined): string | undefined => validateNumber(value, WEIGHT_RANGE);

export const sumWeights = (weights: DreamingDraft['scoringWeights']): number =>
  SCORE_COMPONENTS.reduce((sum, { name }) => sum + (weights[name] ?? 0), 0);

/** Whether any setting is invalid, in which case none can be saved. */
export const hasInvalidField = (draft: DreamingDraft): boolean =>
  NUMBER_FIELDS.some((each) => validateNumber(draft[each.name], each) !== undefined) ||
  SCORE_COMPONENTS.some(({ name }) => validateWeight(draft.scoringWeights[name]) !== undefined) ||
  sumWeights(draft.scoringWeights) <= 0;

export function toDreamingDraft({ enabled, schedule, limits, weights }: DreamStatus): DreamingDraft {
  const toHundredths = (name: ScoreComponent): number => Math.round(weights[name] * 1000) / 10;
  const { cron, timezone } = schedule;
  return {
    ...{ ...limits, enabled, cron, timezone },
    scoringWeights: {
      frequency: toHundredths('frequency'),
      relevance: toHundredths('relevance'),
      diversity: toHundredths('diversity'),
      recency: toHundredths('recency'),
      consolidation: toHundredths('consolidation'),
      conceptual: toHundredths('conceptual'),
    },
  };
}

/** Computes changed settings in the form of the configuration: settings that were never set keep their defaults. */
export function getChanges(draft: DreamingDraft, before: DreamingDraft): Record<string, unknown> {
  const oldValues = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(draft).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(oldValues.get(name)));
  return Object.fromEntries(
    changed.map(([name, value]) => [
      name,
      name === 'scoringWeights'
        ? Object.fromEntries(SCORE_COMPONENTS.map((each) => [each.name, draft.scoringWeights[each.name] / 100]))
        : value,
    ]),
  );
}

/** Applies remote changes to fields of the draft that were not edited in the meantime. */
export function mergeRemoteChanges(draft: DreamingDraft, before: DreamingDraft, next: DreamingDraft): DreamingDraft {
  const typed = Object.keys(getChanges(draft, before));
  return { ...next, ...Object.fromEntries(Object.entries(draft).filter(([name]) => typed.includes(name))) };
}

/** Resets one setting of the draft to its value before it was edited. */
export const resetField = (name: string, draft: DreamingDraft, before: DreamingDraft): DreamingDraft => ({
  ...draft,
  ...Object.fromEntries(Object.entries(before).filter(([each]) => each === name)),
});
