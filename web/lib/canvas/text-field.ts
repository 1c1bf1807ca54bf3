import { FONT_FAMILY, LINE_HEIGHT } from '#shared/canvas/marks.ts';

/** Position of a text on its parent. */
export interface TextPosition {
  /** CSS lengths. */
  readonly left: string;
  readonly top: string;
  readonly width?: string;
  /** How high its letters are, in CSS pixels of the page. */
  readonly size: number;
  /** Degrees, clockwise. */
  readonly rotation?: number;
}

interface TextFieldOptions extends TextPosition {
  readonly color: string;
  /** Text that is already there. */
  readonly text?: string;
  /** Label of the field. `byTouch`: Enter begins a new line. */
  readonly label?: (byTouch: boolean) => string;
  readonly signal: AbortSignal;
}

/** In English. */
export const DEFAULT_FIELD_LABEL = (byTouch: boolean): string =>
  byTouch ? 'Text. Press Enter for a new line, tap outside to finish.' : 'Text. Press Enter to finish, Shift+Enter for a new line.';

/**
 * Opens a field at the position of the text. Enter, Escape and blur end it and keep the text; Shift+Enter begins a new line. Touch
 * keyboards have no such Shift: there Enter begins a new line, and Mod+Enter or blur ends it. Returns a function that moves the field.
 */
export function openTextField(
  parent: HTMLElement,
  { color, text = '', label = DEFAULT_FIELD_LABEL, signal, ...place }: TextFieldOptions,
  done: (text: string) => void,
): (position: TextPosition) => void {
  const field = parent.appendChild(document.createElement('textarea'));
  field.className = 'perch-writing';
  const byTouch = matchMedia('(pointer: coarse)').matches;
  field.setAttribute('aria-label', label(byTouch));
  field.dir = 'auto';
  field.rows = 1;
  field.value = text;
  field.style.color = color;
  const put = ({ left, top, width = '', size, rotation = 0 }: TextPosition): void => {
    Object.assign(field.style, { left, top, width, font: `${size}px/${LINE_HEIGHT} ${FONT_FAMILY}`, rotate: `${rotation}deg` });
  };
  put(place);
  let isClosed = false;
  let settled = false;
  const end = (): void => {
    if (isClosed) return;
    isClosed = true;
    field.remove();
    done(field.value.trim());
  };
  field.addEventListener('keydown', (event) => {
    event.stopPropagation();
    // Enter that ends the composing of a character is no end.
    if (event.isComposing || event.keyCode === 229) return;
    const mod = event.ctrlKey || event.metaKey;
    const enters = event.key === 'Enter' && !event.shiftKey && (!byTouch || mod);
    if (!enters && event.key !== 'Escape') return;
    event.preventDefault();
    end();
  });
  field.addEventListener('blur', () => settled && end());
  const forget = (): void => {
    isClosed = true;
    field.remove();
  };
  signal.addEventListener('abort', forget, { once: true });
  field.focus();
  field.select();
  // The press that began it may take the focus away again: by a finger, mouse events come after.
  requestAnimationFrame(() => {
    settled = true;
    if (!isClosed) field.focus();
  });
  return put;
}
