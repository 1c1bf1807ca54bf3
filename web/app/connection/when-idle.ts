/** Runs work when the page is idle, after `timeoutMs` at the latest; in browsers without `requestIdleCallback` after a fifth of that. */
export function runWhenIdle(work: () => void, timeoutMs: number): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout: timeoutMs });
  else setTimeout(work, timeoutMs / 5);
}
