import { locale } from '#lib/i18n/locale.ts';

let order: Intl.Collator | undefined;

/** Sorts pages as people look them up: by the title that they read, without regard to capitals, and 2 before 10. */
export function byTitle(a: { title: string }, b: { title: string }): number {
  order ??= new Intl.Collator(locale, { numeric: true });
  return order.compare(a.title, b.title);
}
