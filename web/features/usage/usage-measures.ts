import { m } from '#app/i18n/messages.ts';
import { formatMoney } from '#app/i18n/format-money.ts';
import { formatCompact, computeHitRate, formatInteger, formatPercent, formatTokens } from '#app/i18n/usage-format.ts';
import type { UsageSums } from './types.ts';

export interface Measure {
  id: 'tokens' | 'cost' | 'calls' | 'cached';
  /** Label of the option. */
  getOptionLabel(): string;
  /** Titles of charts. */
  byDay(): string;
  byProvider(): string;
  byModel(): string;
  byKey(): string;
  getDayTitle(count: number): string;
  getValue(sums: UsageSums): number;
  /** Formats a value exactly. */
  formatLong(sums: UsageSums): string;
  /** Formats a value in short form. */
  formatShort(value: number): string;
  /** End of the scale; the greatest value by default. */
  max?: number;
}

/** Measures that charts can show for a day, a provider or a model. */
export const MEASURES: readonly Measure[] = [
  {
    id: 'tokens',
    getOptionLabel: () => m.usage_show_tokens(),
    byDay: () => m.usage_tokens_by_day(),
    byProvider: () => m.usage_tokens_by_provider(),
    byModel: () => m.usage_tokens_by_model(),
    byKey: () => m.usage_tokens_by_key(),
    getDayTitle: (count) => m.usage_tokens_of_days({ count }),
    getValue: (sums) => sums.totalTokens,
    formatLong: (sums) => formatTokens(sums.totalTokens, sums),
    formatShort: formatCompact,
  },
  {
    id: 'cost',
    getOptionLabel: () => m.usage_show_cost(),
    byDay: () => m.usage_cost_by_day(),
    byProvider: () => m.usage_cost_by_provider(),
    byModel: () => m.usage_cost_by_model(),
    byKey: () => m.usage_cost_by_key(),
    getDayTitle: (count) => m.usage_cost_of_days({ count }),
    getValue: (sums) => sums.cost,
    formatLong: (sums) => formatMoney(sums.cost),
    formatShort: formatMoney,
  },
  {
    id: 'calls',
    getOptionLabel: () => m.usage_show_calls(),
    byDay: () => m.usage_calls_by_day(),
    byProvider: () => m.usage_calls_by_provider(),
    byModel: () => m.usage_calls_by_model(),
    byKey: () => m.usage_calls_by_key(),
    getDayTitle: (count) => m.usage_calls_of_days({ count }),
    getValue: (sums) => sums.calls,
    formatLong: (sums) => formatInteger(sums.calls),
    formatShort: formatCompact,
  },
  {
    id: 'cached',
    getOptionLabel: () => m.usage_show_cached(),
    byDay: () => m.usage_cached_by_day(),
    byProvider: () => m.usage_cached_by_provider(),
    byModel: () => m.usage_cached_by_model(),
    byKey: () => m.usage_cached_by_key(),
    getDayTitle: (count) => m.usage_cached_of_days({ count }),
    getValue: (sums) => computeHitRate(sums) ?? 0,
    formatLong: (sums) => formatPercent(computeHitRate(sums)),
    formatShort: formatPercent,
    max: 1,
  },
];

/** Headers of the value columns in a table of sums. */
export const getSumHeads = (): string[] => [
  ...[m.usage_calls(), m.usage_tokens_in(), m.usage_cached(), m.usage_tokens_out(), m.usage_tokens(), m.usage_cost()],
];
/** Cells of a row in a table of sums. */
export const getSumCells = (sums: UsageSums): string[] => [
  ...[formatInteger(sums.calls), formatTokens(sums.inputTokens, sums), formatPercent(computeHitRate(sums))],
  ...[formatTokens(sums.outputTokens, sums), formatTokens(sums.totalTokens, sums), formatMoney(sums.cost)],
];
