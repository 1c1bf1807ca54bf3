import { m } from '../i18n/messages.ts';

/** Class of a reference in the text. */
export const REFERENCE_CLASS = 'footnote-ref';

/**
 * Makes a reference such as `[2]` behave like a link. It has no address, since several texts of a page may have footnotes of the same
 * number.
 */
export function makeFootnoteLink(reference: HTMLElement): void {
  const number = /\d+/.exec(reference.textContent)?.[0] ?? '';
  reference.dataset['note'] = number;
  reference.role = 'link';
  reference.tabIndex = 0;
  reference.ariaLabel = m.reply_footnote({ number });
}

/** Shows the footnote whose reference was pressed, or the first reference to a footnote, within one text. */
export function scrollToFootnote(event: MouseEvent | KeyboardEvent): void {
  const text = event.currentTarget;
  const pressed = event.target instanceof Element ? event.target.closest<HTMLElement>(`.${REFERENCE_CLASS}, .footnote-back`) : null;
  if (!pressed || !(text instanceof HTMLElement)) return;
  const number = CSS.escape(pressed.dataset['note'] ?? '');
  const selector = pressed.matches('.footnote-back') ? `.${REFERENCE_CLASS}` : 'li';
  const target = text.querySelector<HTMLElement>(`${selector}[data-note="${number}"]`);
  if (!target) return;
  event.preventDefault();
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}
