import { m } from '#lib/i18n/pages.ts';
import { money } from '#lib/i18n/money.ts';
import { compact, computeHitRate, number, percent, tokens } from './measures.ts';
import type { UsageSums } from './types.ts';

export interface Measure {
  id: 'tokens' | 'cost' | 'calls' | 'cached';
  /** As a choice among others. */
  within(): string;
  /** Names of charts. */
  byDay(): string;
  byProvider(): string;
  byModel(): string;
  byKey(): string;
  ofDays(count: number): string;
  of(sums: UsageSums): number;
  /** Exactly. */
  words(sums: UsageSums): string;
  /** Formats a value in short form. */
  short(value: number): string;
  /** The end of the scale, if it is not the greatest value. */
  max?: number;
}

/** Measures that charts can show for a day, a provider or a model. */
export const MEASURES: readonly Measure[] = [
  {
    id: 'tokens',
    within: () => m.usage_show_tokens(),
    byDay: () => m.usage_tokens_by_day(),
    byProvider: () => m.usage_tokens_by_provider(),
    byModel: () => m.usage_tokens_by_model(),
    byKey: () => m.usage_tokens_by_key(),
    ofDays: (count) => m.usage_tokens_of_days({ count }),
    of: (sums) => sums.totalTokens,
    words: (sums) => tokens(sums.totalTokens, sums),
    short: compact,
  },
  {
    id: 'cost',
    within: () => m.usage_show_cost(),
    byDay: () => m.usage_cost_by_day(),
    byProvider: () => m.usage_cost_by_provider(),
    byModel: () => m.usage_cost_by_model(),
    byKey: () => m.usage_cost_by_key(),
    ofDays: (count) => m.usage_cost_of_days({ count }),
    of: (sums) => sums.cost,
    words: (sums) => money(sums.cost),
    short: money,
  },
  {
    id: 'calls',
    within: () => m.usage_show_calls(),
    byDay: () => m.usage_calls_by_day(),
    byProvider: () => m.usage_calls_by_provider(),
    byModel: () => m.usage_calls_by_model(),
    byKey: () => m.usage_calls_by_key(),
    ofDays: (count) => m.usage_calls_of_days({ count }),
    of: (sums) => sums.calls,
    words: (sums) => number(sums.calls),
    short: compact,
  },
  {
    id: 'cached',
    within: () => m.usage_show_cached(),
    byDay: () => m.usage_cached_by_day(),
    byProvider: () => m.usage_cached_by_provider(),
    byModel: () => m.usage_cached_by_model(),
    byKey: () => m.usage_cached_by_key(),
    ofDays: (count) => m.usage_cached_of_days({ count }),
    of: (sums) => computeHitRate(sums) ?? 0,
    words: (sums) => percent(computeHitRate(sums)),
    short: percent,
    max: 1,
  },
];

/** The heads of a table of sums behind the first, and the cells of a row. */
export const sumHeads = (): string[] => [
  ...[m.usage_calls(), m.usage_tokens_in(), m.usage_cached(), m.usage_tokens_out(), m.usage_tokens(), m.usage_cost()],
];
export const sumCells = (sums: UsageSums): string[] => [
  ...[number(sums.calls), tokens(sums.inputTokens, sums), percent(computeHitRate(sums))],
  ...[tokens(sums.outputTokens, sums), tokens(sums.totalTokens, sums), money(sums.cost)],
];
