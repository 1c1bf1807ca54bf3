import { locale } from './locale.ts';

const formatters = new Map<string, unknown>();

/** Caches formatters: creating one takes longer than using it. */
function getFormatter<T>(kind: string, options: object, create: () => T): T {
  const key = kind + JSON.stringify(options);
  const formatter = formatters.get(key) ?? create();
  formatters.set(key, formatter);
  return formatter as T;
}

/** Formats a number in the page's locale. */
export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  getFormatter('number', options, () => new Intl.NumberFormat(locale, options)).format(value);

/** Formats a date, a time or both. `at`: milliseconds since 1970. */
export const formatDateTime = (at: number | Date, options: Intl.DateTimeFormatOptions): string =>
  getFormatter('dateTime', options, () => new Intl.DateTimeFormat(locale, options)).format(at);

/** Formats a relative time: `-1, 'day'` is yesterday, or one day ago, depending on `numeric`. */
export const formatRelativeTime = (
  value: number,
  unit: Intl.RelativeTimeFormatUnit,
  options: Intl.RelativeTimeFormatOptions = {},
): string => getFormatter('relative', options, () => new Intl.RelativeTimeFormat(locale, options)).format(value, unit);

/** Formats a list: `one, two, and three`. */
export const formatList = (words: readonly string[], options: Intl.ListFormatOptions = {}): string =>
  getFormatter('list', options, () => new Intl.ListFormat(locale, options)).format(words);
