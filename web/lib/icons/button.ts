import { faIcon, type FaIconName } from './fa.ts';
import type { IconOptions } from './glyph.ts';

/** An icon that does something. */
export interface IconButtonOptions extends Omit<IconOptions, 'label'> {
  /** What it does: shown on hover, and said by screen readers. */
  tooltip: string;
  onClick?: ((event: MouseEvent) => void) | undefined;
}

/** The least side of what a finger can hit, in CSS pixels (WCAG 2.2, 2.5.8). */
const TARGET = 24;

/**
 * A button with an icon of set A (interface document 2, section 4.3). It takes its look from the page; a button of a form does not submit it.
 * @throws RangeError where there is no such name, or the size is not a positive number; TypeError without a tooltip.
 */
export function faIconButton(name: FaIconName, { tooltip, onClick, ...look }: IconButtonOptions): HTMLButtonElement {
  if (tooltip.trim() === '') throw new TypeError('tooltip: a button that has only an icon needs one, for it is its name');
  const button = document.createElement('button');
  button.type = 'button';
  button.title = tooltip;
  button.setAttribute('aria-label', tooltip);
  Object.assign(button.style, {
    ...{ display: 'inline-flex', alignItems: 'center', justifyContent: 'center' },
    ...{ minWidth: `${TARGET}px`, minHeight: `${TARGET}px` },
  });
  button.append(faIcon(name, look));
  if (onClick) button.addEventListener('click', onClick);
  return button;
}
