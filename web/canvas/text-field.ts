import { FONT_FAMILY, LINE_HEIGHT } from '#shared/canvas/marks.ts';

/** Position of a text on its parent. */
interface TextPosition {
  /** CSS lengths. */
  readonly left: string;
  readonly top: string;
  readonly width?: string;
  /** Font size in CSS pixels of the page. */
  readonly size: number;
  /** Degrees, clockwise. */
  readonly rotation?: number;
}

interface TextFieldOptions extends TextPosition {
  readonly color: string;
  /** Initial text. */
  readonly text?: string;
  /** Label of the field. `byTouch`: Enter begins a new line. */
  readonly label?: (byTouch: boolean) => string;
  readonly signal: AbortSignal;
}

/** Default label of the field, in English. */
export const DEFAULT_FIELD_LABEL = (byTouch: boolean): string =>
  byTouch ? 'Text. Press Enter for a new line, tap outside to finish.' : 'Text. Press Enter to finish, Shift+Enter for a new line.';

/**
 * Opens a field at the position of the text. Enter, Escape and blur end it and keep the text; Shift+Enter begins a new line. Touch
 * keyboards have no such Shift: there Enter begins a new line, and Mod+Enter or blur ends it. Returns a function that moves the field.
 */
export function openTextField(
  parent: HTMLElement,
  { color, text = '', label = DEFAULT_FIELD_LABEL, signal, ...initialPosition }: TextFieldOptions,
  onDone: (text: string) => void,
): (position: TextPosition) => void {
  const field = parent.appendChild(document.createElement('textarea'));
  field.className = 'perch-writing';
  const byTouch = matchMedia('(pointer: coarse)').matches;
  field.setAttribute('aria-label', label(byTouch));
  field.dir = 'auto';
  field.rows = 1;
  field.value = text;
  field.style.color = color;
  const setPosition = ({ left, top, width = '', size, rotation = 0 }: TextPosition): void => {
    Object.assign(field.style, { left, top, width, font: `${size}px/${LINE_HEIGHT} ${FONT_FAMILY}`, rotate: `${rotation}deg` });
  };
  setPosition(initialPosition);
  let isClosed = false;
  let isSettled = false;
  const end = (): void => {
    if (isClosed) return;
    isClosed = true;
    field.remove();
    onDone(field.value.trim());
  };
  field.addEventListener('keydown', (event) => {
    event.stopPropagation();
    // Enter that ends a composition does not end the input.
    if (event.isComposing || event.keyCode === 229) return;
    const mod = event.ctrlKey || event.metaKey;
    const isSubmit = event.key === 'Enter' && !event.shiftKey && (!byTouch || mod);
    if (!isSubmit && event.key !== 'Escape') return;
    event.preventDefault();
    end();
  });
  field.addEventListener('blur', () => isSettled && end());
  const discard = (): void => {
    isClosed = true;
    field.remove();
  };
  signal.addEventListener('abort', discard, { once: true });
  field.focus();
  field.select();
  // The press that opened the field may remove its focus again, as mouse events follow a touch.
  requestAnimationFrame(() => {
    isSettled = true;
    if (!isClosed) field.focus();
  });
  return setPosition;
}
