/** Rows of lists and of tables. */
const ROWS = 'li, [role="row"]';

/** Moves the focus between rows of a list by arrow keys, to the same control of each; Home and End go to the first and last row. */
export function handleRowNavigation(event: KeyboardEvent): void {
  const list = event.currentTarget;
  const at = event.target;
  if (!(list instanceof HTMLElement) || !(at instanceof HTMLElement) || event.altKey || event.ctrlKey || event.metaKey) return;
  // Fields and selects handle arrow keys themselves.
  if (event.defaultPrevented || at.matches('input, textarea, select')) return;
  const rows = [...list.querySelectorAll<HTMLElement>(ROWS)].filter((row) => !row.parentElement?.closest(ROWS));
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
