import { TimeSlicer } from '#shared/async/time-slicer.ts';

/** Shared by all counts: thousands of short texts in a row take as long as one long text. */
const slicer = new TimeSlicer();

/** Called between slices: yields to other tasks if the last yield was long ago. Rejects only with the reason of `signal`. */
export async function yieldIfDue(signal: AbortSignal): Promise<void> {
  if (!slicer.isDue) return;
  await slicer.pause();
  signal.throwIfAborted();
}
