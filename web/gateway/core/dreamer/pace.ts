import type { Pace } from '../dreaming/pace.ts';

/** Milliseconds of work after which others have their turn. */
const LONGEST_MS = 8;

/** Lets whatever else the worker has to do go first, now and then. */
export function sharedPace(): Pace {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LONGEST_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  };
}
