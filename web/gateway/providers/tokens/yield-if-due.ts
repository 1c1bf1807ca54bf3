import { yieldToEventLoop } from '#shared/async/time-slicer.ts';

/** Milliseconds between yields to other tasks: on a busy machine, the same count takes ten times as long. */
const MAX_SLICE_MS = 8;
/** Time of the last yield, shared by all counts: thousands of short texts in a row take as long as one long text. */
let lastYieldAt = 0;

/** Called between slices: yields to other tasks if the last yield was long ago. Rejects only with the reason of `signal`. */
export async function yieldIfDue(signal: AbortSignal): Promise<void> {
  if (performance.now() - lastYieldAt < MAX_SLICE_MS) return;
  await yieldToEventLoop(signal);
  lastYieldAt = performance.now();
}
