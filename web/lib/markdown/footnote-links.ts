import { m } from '#lib/i18n/later.ts';

/** Class of a reference in the text. */
export const NOTE_REFERENCE = 'footnote-ref';

/**
 * Makes a reference such as `[2]` behave like a link. It has no address, since several texts of a page may have footnotes of the same
 * number.
 */
export function makeNoteLink(reference: HTMLElement): void {
  const number = /\d+/.exec(reference.textContent)?.[0] ?? '';
  reference.dataset['note'] = number;
  reference.role = 'link';
  reference.tabIndex = 0;
  reference.ariaLabel = m.reply_footnote({ number });
}

/** Shows the footnote whose reference was pressed, or the first reference to a footnote, within one text. */
export function followFootnote(event: MouseEvent | KeyboardEvent): void {
  const text = event.currentTarget;
  const pressed = event.target instanceof Element ? event.target.closest<HTMLElement>(`.${NOTE_REFERENCE}, .footnote-back`) : null;
  if (!pressed || !(text instanceof HTMLElement)) return;
  const number = CSS.escape(pressed.dataset['note'] ?? '');
  const wanted = pressed.matches('.footnote-back') ? `.${NOTE_REFERENCE}` : 'li';
  const target = text.querySelector<HTMLElement>(`${wanted}[data-note="${number}"]`);
  if (!target) return;
  event.preventDefault();
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}
