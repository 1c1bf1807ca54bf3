import type { Clock } from '../clock.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { pause } from './watchdog.ts';

/** The longest waits before the second and the third try, in milliseconds; how long it is within that is chance. */
const BACKOFF_MS = [600, 1800];
/** A server that asks for a longer wait is not waited for: its wish is told instead. */
const MAX_RETRY_AFTER_MS = 60_000;

export interface Retrying {
  clock: Clock;
  /** Ends the waiting at once. */
  signal: AbortSignal;
  /** From 0 to 1, for the length of the waits. */
  random?: () => number;
}

/** Waits until the try after the `attempt`-th one (from 0) is due. Throws `error` where none is, and the signal's reason. */
async function untilNext(error: unknown, attempt: number, { clock, signal, random = Math.random }: Retrying): Promise<void> {
  signal.throwIfAborted();
  const longest = BACKOFF_MS[attempt];
  if (longest === undefined || !(error instanceof ProviderError) || !error.retryable || error.silent) throw error;
  const asked = error.retryAfterMs ?? 0;
  if (asked > MAX_RETRY_AFTER_MS) throw error;
  await pause(clock, Math.max(asked, Math.round(random() * longest)), signal);
}

/** Does `work` up to three times, where it fails in a way that may pass. */
export async function retried<T>(work: () => Promise<T>, retrying: Retrying): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      await untilNext(error, attempt, retrying);
    }
  }
}

/** What `start` yields; started up to three times, but never again once something has come that readers keep. */
export async function* retriedStream(start: () => AsyncIterable<ModelEvent>, retrying: Retrying): AsyncGenerator<ModelEvent> {
  for (let attempt = 0; ; attempt++) {
    let begun = false;
    try {
      for await (const item of start()) {
        begun ||= item.type !== 'calling';
        yield item;
      }
      return;
    } catch (error) {
      if (begun) throw error;
      await untilNext(error, attempt, retrying);
    }
  }
}
