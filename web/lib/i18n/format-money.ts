import { formatNumber } from './format.ts';
import { getDirection, locale } from './locale.ts';

const isRtlLocale = getDirection(locale) === 'rtl';

/** Dollars; of less than one also the fractions of a cent, which calls often cost. */
export function formatMoney(usd: number): string {
  const formatted = formatNumber(usd, {
    style: 'currency',
    currency: 'USD',
    ...(usd >= 1 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 5 }),
  });
  // From right to left the letters and the sign of `US$` would come apart.
  return isRtlLocale ? `\u2066${formatted}\u2069` : formatted;
}
