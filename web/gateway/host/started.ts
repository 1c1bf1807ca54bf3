import type { WorkerLender } from '#shared/ports/host.ts';
import { unlessAborted } from '#shared/turns.ts';

/** Milliseconds. A page that is frozen lends nothing: the next one is asked. */
const START_MS = 10_000;

/** The way to what a page lends; undefined where the page is gone, frozen, or cannot start it. */
export async function started(lender: WorkerLender, signal: AbortSignal): Promise<MessagePort | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), START_MS);
  try {
    return await unlessAborted(Promise.race([lender.start().catch(() => undefined), late.promise]), signal);
  } finally {
    clearTimeout(timer);
  }
}
