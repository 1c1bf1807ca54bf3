const HIGHLIGHT_MS = 1_800;

/** Scrolls an element to the middle of the view, focuses it, and highlights it for a moment. */
export function highlightElement(element: HTMLElement | undefined): void {
  if (!element) return;
  element.scrollIntoView({ block: 'center' });
  element.tabIndex = -1;
  element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  element.focus({ preventScroll: true });
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  element.animate([{ backgroundColor: 'var(--accent-soft)', borderRadius: '10px' }, { borderRadius: '10px' }], HIGHLIGHT_MS);
}
