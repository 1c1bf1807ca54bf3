import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { raceAbort } from '#shared/async/mutex.ts';

/** In milliseconds. A frozen page does not respond: the next one is asked. */
const START_TIMEOUT_MS = 10_000;

/** A port to a worker started by a page; undefined if the page is gone, frozen, or cannot start it. */
export async function startPageWorker(factory: PageWorkerProvider, signal: AbortSignal): Promise<MessagePort | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), START_TIMEOUT_MS);
  try {
    return await raceAbort(Promise.race([factory.start().catch(() => undefined), timeout.promise]), signal);
  } finally {
    clearTimeout(timer);
  }
}
