import { locale } from '#app/i18n/locale.ts';

let collator: Intl.Collator | undefined;

/** Compares pages by title for sorting: in the locale's order, ignoring case, and with 2 before 10. */
export function compareTitles(a: { title: string }, b: { title: string }): number {
  collator ??= new Intl.Collator(locale, { numeric: true });
  return collator.compare(a.title, b.title);
}
