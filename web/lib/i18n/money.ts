import { number } from './format.ts';
import { directionOf, locale } from './locale.ts';

// From right to left the letters and the sign of `US$` would come apart.
const currencyDisplay = directionOf(locale) === 'rtl' ? 'narrowSymbol' : 'symbol';

/** Dollars; of less than one also the fractions of a cent, which calls often cost. */
export const money = (usd: number): string =>
  number(usd, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay,
    ...(usd >= 1 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 5 }),
  });
