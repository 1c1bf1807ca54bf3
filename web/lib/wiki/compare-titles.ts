import { locale } from '#lib/i18n/locale.ts';

let collator: Intl.Collator | undefined;

/** Sorts pages as people look them up: by the title that they read, without regard to capitals, and 2 before 10. */
export function compareTitles(a: { title: string }, b: { title: string }): number {
  collator ??= new Intl.Collator(locale, { numeric: true });
  return collator.compare(a.title, b.title);
}
