import type { WorkerLender } from '#shared/ports/host.ts';
import { unlessAborted } from '#shared/turns.ts';

/** In milliseconds. A frozen page does not respond: the next one is asked. */
const START_MS = 10_000;

/** A port to a worker started by a page; undefined if the page is gone, frozen, or cannot start it. */
export async function started(lender: WorkerLender, signal: AbortSignal): Promise<MessagePort | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), START_MS);
  try {
    return await unlessAborted(Promise.race([lender.start().catch(() => undefined), late.promise]), signal);
  } finally {
    clearTimeout(timer);
  }
}
