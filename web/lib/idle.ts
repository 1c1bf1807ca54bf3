/** Calls back when the page has nothing better to do, after `mostMs` at the latest. Not all browsers know of idle times: there it is a fifth of that. */
export function whenIdle(work: () => void, mostMs: number): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout: mostMs });
  else setTimeout(work, mostMs / 5);
}
