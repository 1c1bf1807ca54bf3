import { formatNumber } from './format.ts';
import { getDirection, locale } from './locale.ts';

const isRtlLocale = getDirection(locale) === 'rtl';

/** Formats US dollars; amounts below one with fractions of a cent, which calls often cost. */
export function formatMoney(usd: number): string {
  const formatted = formatNumber(usd, {
    style: 'currency',
    currency: 'USD',
    ...(usd >= 1 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 5 }),
  });
  // Isolated, since right-to-left text would separate the letters and the sign of `US$`.
  return isRtlLocale ? `\u2066${formatted}\u2069` : formatted;
}
