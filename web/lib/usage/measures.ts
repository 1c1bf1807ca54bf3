import type { UsageSums } from './types.ts';

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat('en');
const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const cents = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 5 });

/** Dollars; of less than one also the fractions of a cent, which calls often cost. */
export const money = (usd: number): string => (usd >= 1 ? dollars : cents).format(usd);
export const number = (value: number): string => whole.format(value);

export interface Measure {
  id: 'tokens' | 'cost' | 'calls';
  label: string;
  of(sums: UsageSums): number;
  /** Exactly, and where there is little room. */
  words(value: number): string;
  short(value: number): string;
}

/** What charts can show of a day, a provider or a model. */
export const MEASURES: readonly Measure[] = [
  { id: 'tokens', label: 'Tokens', of: (sums) => sums.totalTokens, words: number, short: (value) => compact.format(value) },
  { id: 'cost', label: 'Cost', of: (sums) => sums.cost, words: money, short: money },
  { id: 'calls', label: 'Calls', of: (sums) => sums.calls, words: number, short: (value) => compact.format(value) },
];

/** The heads of a table of sums behind the first, and the cells of a row. */
export const SUM_HEADS = ['Calls', 'Tokens in', 'Tokens out', 'Tokens', 'Cost'];
export const sumCells = ({ calls, inputTokens, outputTokens, totalTokens, cost }: UsageSums): string[] => [
  ...[calls, inputTokens, outputTokens, totalTokens].map(number),
  money(cost),
];
