import { tick } from 'svelte';

/** After a row of `list` was removed, focuses the first button of the next row, or the text of the empty list. */
export async function focusNext(list: HTMLElement | undefined): Promise<void> {
  await tick();
  const next = list?.querySelector('button');
  if (next || !list) return next?.focus();
  list.tabIndex = -1;
  list.addEventListener('blur', () => list.removeAttribute('tabindex'), { once: true });
  list.focus();
}
