import { breathe } from '../documents/breath.ts';

/** Milliseconds between yields to other tasks: on a busy machine, the same count takes ten times as long. */
const TURN_MS = 8;
/** Time of the last yield, shared by all counts: thousands of short texts in a row take as long as one long text. */
let since = 0;

/** Called between slices: yields to other tasks if the last yield was long ago. Rejects only with the reason of `signal`. */
export async function letOthers(signal: AbortSignal): Promise<void> {
  if (performance.now() - since < TURN_MS) return;
  await breathe(signal);
  since = performance.now();
}
