import { number } from './format.ts';
import { directionOf, locale } from './locale.ts';

const rtl = directionOf(locale) === 'rtl';

/** Dollars; of less than one also the fractions of a cent, which calls often cost. */
export function money(usd: number): string {
  const written = number(usd, {
    style: 'currency',
    currency: 'USD',
    ...(usd >= 1 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 5 }),
  });
  // From right to left the letters and the sign of `US$` would come apart.
  return rtl ? `\u2066${written}\u2069` : written;
}
