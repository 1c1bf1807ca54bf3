import type { Pace } from '../../../knowledge/dreaming/pace.ts';

/** Milliseconds of work after which other tasks get a turn. */
const MAX_BLOCK_MS = 8;

/** Yields to other tasks of the worker from time to time. */
export function createPace(): Pace {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < MAX_BLOCK_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  };
}
