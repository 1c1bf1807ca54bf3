import { faIcon, type FaIconName } from './fa-icons.ts';
import type { IconOptions } from './glyph.ts';

type OnClick = ((event: MouseEvent) => void) | undefined;

/** A button with an icon. */
export interface IconButtonOptions extends Omit<IconOptions, 'label'> {
  /** Describes the action: shown on hover and read by screen readers. */
  tooltip: string;
  onClick?: OnClick;
}

type IconButtonArguments = [options: IconButtonOptions] | [color: string | undefined, onClick: OnClick, tooltip: string];

/** Minimum size of a touch target in CSS pixels (WCAG 2.2, 2.5.8). */
const MIN_TARGET_PX = 24;

/**
 * A button with a Font Awesome icon: `faIconButton('trash', 'red', onClick, 'Delete')`, or with options by name. It takes its look from the page. In a form, it does
 * not submit.
 * @throws RangeError for an unknown name, or a size that is not a positive number; TypeError without a tooltip.
 */
export function faIconButton(name: FaIconName, ...args: IconButtonArguments): HTMLButtonElement {
  const [first, second, third] = args;
  const { tooltip, onClick, ...look } = typeof first === 'object' ? first : { color: first, onClick: second, tooltip: third };
  if (typeof tooltip !== 'string' || tooltip.trim() === '')
    throw new TypeError('An icon button needs a tooltip: it is the name of the button.');
  const button = document.createElement('button');
  button.type = 'button';
  button.title = tooltip;
  button.setAttribute('aria-label', tooltip);
  Object.assign(button.style, {
    ...{ display: 'inline-flex', alignItems: 'center', justifyContent: 'center' },
    ...{ minWidth: `${MIN_TARGET_PX}px`, minHeight: `${MIN_TARGET_PX}px` },
  });
  button.append(faIcon(name, look));
  if (onClick) button.addEventListener('click', onClick);
  return button;
}
