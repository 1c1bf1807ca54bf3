/** Arrow keys go from row to row of a list, to the same control of each; Home and End to the first and the last. */
export function handleRowNavigation(event: KeyboardEvent): void {
  const list = event.currentTarget;
  const at = event.target;
  if (!(list instanceof HTMLElement) || !(at instanceof HTMLElement) || event.altKey || event.ctrlKey || event.metaKey) return;
  // In a field they move the caret, and in a list that can be chosen from they choose.
  if (event.defaultPrevented || at.matches('input, textarea, select')) return;
  const rows = [...list.querySelectorAll<HTMLElement>('li')].filter((row) => row.parentElement?.closest('li') === null);
  const from = rows.findIndex((row) => row.contains(at));
  const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: rows.length - 1 }[event.key];
  const row = to === undefined || from === -1 ? undefined : rows[to];
  if (!row) return;
  const { act } = at.dataset;
  const target =
    (act && row.querySelector<HTMLElement>(`[data-act="${act}"]`)) || row.querySelector<HTMLElement>('button, a[href], summary');
  if (!target) return;
  event.preventDefault();
  target.focus();
}
