import { tick } from 'svelte';

/** After a row of `list` has gone: the focus goes to the next row's first button; where there is none, to the words that say so. */
export async function focusNext(list: HTMLElement | undefined): Promise<void> {
  await tick();
  const next = list?.querySelector('button');
  if (next || !list) return next?.focus();
  list.tabIndex = -1;
  list.addEventListener('blur', () => list.removeAttribute('tabindex'), { once: true });
  list.focus();
}
