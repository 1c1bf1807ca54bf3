import { afterEach, expect, it, vi } from 'vitest';
import { TimeSlicer, SLICE_SIZE } from './time-slicer.ts';

const NEVER_ABORTED = new AbortController().signal;
afterEach(() => vi.restoreAllMocks());

/** Number of the given pieces of work that were done before another task could run. */
async function countBefore(works: readonly number[]): Promise<number> {
  const breath = new TimeSlicer(NEVER_ABORTED);
  let [done, seen] = [0, -1];
  setImmediate(() => (seen = done));
  for (const work of works) {
    await breath.after(work);
    done++;
    if (seen >= 0) return seen;
  }
  return done;
}

it('lets others have their turn by what was done, and by the time that it took', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  expect(await countBefore(Array.from({ length: 50 }, () => 1))).toBe(50);
  expect(await countBefore(Array.from({ length: 5000 }, () => SLICE_SIZE))).toBeLessThan(5000);
  // Little work, but slow.
  clock.mockImplementation(() => (now += 3));
  expect(await countBefore(Array.from({ length: 5000 }, () => 1))).toBeLessThan(5000);
  await expect(new TimeSlicer(AbortSignal.abort(new Error('enough'))).after(SLICE_SIZE)).rejects.toThrow('enough');
});
