/** Calls back when the page is idle, after `mostMs` at the latest. In browsers without `requestIdleCallback`, after a fifth of that. */
export function runWhenIdle(work: () => void, mostMs: number): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout: mostMs });
  else setTimeout(work, mostMs / 5);
}
