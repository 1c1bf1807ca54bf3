import { breathe } from '../documents/breath.ts';

/** Milliseconds after which others have their turn: a busy machine takes ten times as long for the same count. */
const TURN_MS = 8;
/** When others last had theirs. One for all counts: thousands of short texts, one after another, are as long as one. */
let since = 0;

/** Between two pieces of counting: lets others have their turn where they have waited for long. Rejects only with the reason of `signal`. */
export async function letOthers(signal: AbortSignal): Promise<void> {
  if (performance.now() - since < TURN_MS) return;
  await breathe(signal);
  since = performance.now();
}
