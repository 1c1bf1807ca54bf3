import { m } from '#lib/i18n/pages.ts';
import { money } from '#lib/i18n/money.ts';
import { compact, number } from './measures.ts';
import type { UsageSums } from './types.ts';

export interface Measure {
  id: 'tokens' | 'cost' | 'calls';
  /** As a choice among others. */
  within(): string;
  /** Names of charts. */
  byDay(): string;
  byProvider(): string;
  byModel(): string;
  byKey(): string;
  ofDays(count: number): string;
  of(sums: UsageSums): number;
  /** Exactly, and where there is little room. */
  words(value: number): string;
  short(value: number): string;
}

/** What charts can show of a day, a provider or a model. */
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
    words: number,
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
    words: money,
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
    words: number,
    short: compact,
  },
];

/** The heads of a table of sums behind the first, and the cells of a row. */
export const sumHeads = (): string[] => [m.usage_calls(), m.usage_tokens_in(), m.usage_tokens_out(), m.usage_tokens(), m.usage_cost()];
export const sumCells = ({ calls, inputTokens, outputTokens, totalTokens, cost }: UsageSums): string[] => [
  ...[calls, inputTokens, outputTokens, totalTokens].map(number),
  money(cost),
];
