import type { Page } from '#shared/canvas/fields.ts';
import { FONT_FAMILY, LINE_HEIGHT } from '#shared/canvas/marks.ts';

interface Written {
  readonly at: { readonly x: number; readonly y: number };
  readonly page: Page;
  readonly size: number;
  readonly color: string;
  readonly signal: AbortSignal;
}

/** Lets somebody type where the text will stand. Enter or leaving ends it, Shift+Enter begins a line, Escape gives up (an empty text). */
export function writeText(parent: HTMLElement, { at, page, size, color, signal }: Written, done: (text: string) => void): void {
  const field = parent.appendChild(document.createElement('textarea'));
  const scale = parent.clientWidth > 0 ? parent.clientWidth / page.width : 1;
  field.className = 'perch-writing';
  field.setAttribute('aria-label', 'Text. Enter ends it, Shift and Enter begins a line.');
  field.dir = 'auto';
  field.rows = 1;
  field.style.left = `${(at.x - page.x) * scale}px`;
  field.style.top = `${(at.y - page.y) * scale}px`;
  field.style.font = `${size * scale}px/${LINE_HEIGHT} ${FONT_FAMILY}`;
  field.style.color = color;
  let over = false;
  const end = (text: string): void => {
    if (over) return;
    over = true;
    field.remove();
    done(text);
  };
  field.addEventListener('keydown', (event) => {
    event.stopPropagation();
    // Enter that ends the composing of a character is no end.
    if (event.isComposing) return;
    if (event.key === 'Escape') end('');
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    end(field.value.trim());
  });
  field.addEventListener('blur', () => end(field.value.trim()));
  signal.addEventListener('abort', () => field.remove(), { once: true });
  // The press that began it would take the focus away again.
  requestAnimationFrame(() => field.focus());
}
