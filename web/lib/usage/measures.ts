import { number as written } from '#lib/i18n/format.ts';

/** Dollars; of less than one also the fractions of a cent, which calls often cost. */
export const money = (usd: number): string =>
  written(usd, { style: 'currency', currency: 'USD', ...(usd >= 1 ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 5 }) });
export const number = (value: number): string => written(value);
/** Where there is little room: `1.2M`. */
export const compact = (value: number): string => written(value, { notation: 'compact', maximumFractionDigits: 1 });
