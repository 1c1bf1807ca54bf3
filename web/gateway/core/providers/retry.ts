import type { Clock } from '../clock.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { pause } from './watchdog.ts';

/** Maximum waits before the second and the third attempt, in milliseconds; the actual wait is random within that. */
const BACKOFF_MS = [600, 1800];
/** If a server asks for a longer wait, there is no retry; the error reports the wait. */
const MAX_RETRY_AFTER_MS = 60_000;

export interface Retrying {
  clock: Clock;
  /** Aborts the wait. */
  signal: AbortSignal;
  /** From 0 to 1; scales the waits. */
  random?: () => number;
}

/** Waits until the attempt after `attempt` (from 0) is due. Throws `error` if there is none, or the signal's reason. */
async function untilNext(error: unknown, attempt: number, { clock, signal, random = Math.random }: Retrying): Promise<void> {
  signal.throwIfAborted();
  const longest = BACKOFF_MS[attempt];
  if (longest === undefined || !(error instanceof ProviderError) || !error.retryable || error.silent) throw error;
  const asked = error.retryAfterMs ?? 0;
  if (asked > MAX_RETRY_AFTER_MS) throw error;
  await pause(clock, Math.max(asked, Math.round(random() * longest)), signal);
}

/** Calls `work` up to three times if it fails with a retryable error. */
export async function retried<T>(work: () => Promise<T>, retrying: Retrying): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      await untilNext(error, attempt, retrying);
    }
  }
}

/** Yields the events of `start`, which is called up to three times, but not again once an event was shown. */
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
