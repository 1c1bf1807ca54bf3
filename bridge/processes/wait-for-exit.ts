import { once } from 'node:events';
import type { ManagedProcess } from './managed-process.ts';

/** How long outputs may stay open once all known processes have ended. */
const CLOSE_MS = 500;

/**
 * Waits until a program exits, its time is over or the signal is aborted, and returns which. Its whole tree has ended then, and its output
 * has been read. Rejects if it could not be started.
 */
export async function waitForExit(
  { child, end }: ManagedProcess,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<'exit' | 'abort' | 'time'> {
  const finished = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const closed = once(child, 'close').catch(() => {});
  try {
    const cause = await Promise.race([
      once(child, 'exit', { signal: finished.signal }).then(() => 'exit' as const),
      signal.aborted ? ('abort' as const) : once(signal, 'abort', { signal: finished.signal }).then(() => 'abort' as const),
      new Promise<'time'>((resolve) => (timer = setTimeout(() => resolve('time'), timeoutMs))),
    ]);
    await end();
    await settleWithin(closed, CLOSE_MS);
    return cause;
  } finally {
    clearTimeout(timer);
    finished.abort();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Resolves when a promise settles, or after `ms` milliseconds. */
export function settleWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(done, done);
  });
}
