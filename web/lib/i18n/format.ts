import { locale } from './locale.ts';

const made = new Map<string, unknown>();

/** Caches formatters: creating one takes longer than using it. */
function once<T>(kind: string, options: object, make: () => T): T {
  const key = kind + JSON.stringify(options);
  const known = made.get(key) ?? make();
  made.set(key, known);
  return known as T;
}

/** A number as the page's locale writes it. */
export const number = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  once('number', options, () => new Intl.NumberFormat(locale, options)).format(value);

/** A day, a time or both. `at`: milliseconds since 1970. */
export const dateTime = (at: number | Date, options: Intl.DateTimeFormatOptions): string =>
  once('dateTime', options, () => new Intl.DateTimeFormat(locale, options)).format(at);

/** `-1, 'day'`: yesterday, or one day ago, by `numeric`. */
export const relativeTime = (value: number, unit: Intl.RelativeTimeFormatUnit, options: Intl.RelativeTimeFormatOptions = {}): string =>
  once('relative', options, () => new Intl.RelativeTimeFormat(locale, options)).format(value, unit);

/** One, two and three. */
export const list = (words: readonly string[], options: Intl.ListFormatOptions = {}): string =>
  once('list', options, () => new Intl.ListFormat(locale, options)).format(words);
