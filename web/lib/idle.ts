/** Calls back when the page is idle, after `mostMs` at the latest. In browsers without `requestIdleCallback`, after a fifth of that. */
export function whenIdle(work: () => void, mostMs: number): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout: mostMs });
  else setTimeout(work, mostMs / 5);
}
