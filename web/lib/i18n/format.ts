import { locale } from './locale.ts';

const formatters = new Map<string, unknown>();

/** Caches formatters: creating one takes longer than using it. */
function getFormatter<T>(kind: string, options: object, make: () => T): T {
  const key = kind + JSON.stringify(options);
  const formatter = formatters.get(key) ?? make();
  formatters.set(key, formatter);
  return formatter as T;
}

/** A number as the page's locale writes it. */
export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  getFormatter('number', options, () => new Intl.NumberFormat(locale, options)).format(value);

/** A day, a time or both. `at`: milliseconds since 1970. */
export const formatDateTime = (at: number | Date, options: Intl.DateTimeFormatOptions): string =>
  getFormatter('dateTime', options, () => new Intl.DateTimeFormat(locale, options)).format(at);

/** `-1, 'day'`: yesterday, or one day ago, by `numeric`. */
export const formatRelativeTime = (
  value: number,
  unit: Intl.RelativeTimeFormatUnit,
  options: Intl.RelativeTimeFormatOptions = {},
): string => getFormatter('relative', options, () => new Intl.RelativeTimeFormat(locale, options)).format(value, unit);

/** One, two and three. */
export const formatList = (words: readonly string[], options: Intl.ListFormatOptions = {}): string =>
  getFormatter('list', options, () => new Intl.ListFormat(locale, options)).format(words);
