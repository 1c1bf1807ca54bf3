import { number } from './format.ts';

/** Dollars; of less than one also the fractions of a cent, which calls often cost. */
export const money = (usd: number): string =>
  number(usd, { style: 'currency', currency: 'USD', ...(usd >= 1 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 5 }) });
