import type { Clock } from '#shared/async/clock.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { sleep } from '#shared/async/watchdog.ts';

/** Maximum waits before the second and the third attempt, in milliseconds; the actual wait is random within that. */
const MAX_BACKOFFS_MS = [600, 1800];
/** If a server asks for a longer wait, there is no retry; the error reports the wait. */
const MAX_RETRY_AFTER_MS = 60_000;

interface RetryOptions {
  clock: Clock;
  /** Aborts the wait. */
  signal: AbortSignal;
  /** From 0 to 1; scales the waits. */
  random?: () => number;
}

/** Waits until the attempt after `attempt` (from 0) is due. Throws `error` if there is none, or the signal's reason. */
async function waitForRetry(error: unknown, attempt: number, { clock, signal, random = Math.random }: RetryOptions): Promise<void> {
  signal.throwIfAborted();
  const maxBackoff = MAX_BACKOFFS_MS[attempt];
  if (maxBackoff === undefined || !(error instanceof ProviderError) || !error.retryable || error.silent) throw error;
  const retryAfter = error.retryAfterMs ?? 0;
  if (retryAfter > MAX_RETRY_AFTER_MS) throw error;
  await sleep(clock, Math.max(retryAfter, Math.round(random() * maxBackoff)), signal);
}

/** Calls `work` up to three times if it fails with a retryable error. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      await waitForRetry(error, attempt, options);
    }
  }
}

/** Yields the events of `start`, which is called up to three times, but not again once an event was shown. */
export async function* retryStream(start: () => AsyncIterable<ModelEvent>, options: RetryOptions): AsyncGenerator<ModelEvent> {
  for (let attempt = 0; ; attempt++) {
    let hasBegun = false;
    try {
      for await (const item of start()) {
        hasBegun ||= item.type !== 'calling';
        yield item;
      }
      return;
    } catch (error) {
      if (hasBegun) throw error;
      await waitForRetry(error, attempt, options);
    }
  }
}
