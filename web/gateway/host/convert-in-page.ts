import { CallsClosed, createPortClient } from '#shared/link/port-calls.ts';
import { portLink } from '#shared/link/link.ts';
import { audioPort, type EncodedFormat } from '#shared/ports/audio-port.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { startPageWorker } from './start-page-worker.ts';

/** In milliseconds. A page that is closed or frozen meanwhile does not respond: the next one is asked. */
const CONVERT_TIMEOUT_MS = 60_000;

/** Converts audio in a worker that the first responsive page starts, and ends the worker. */
export async function convertInPage(
  factories: Iterable<PageWorkerProvider>,
  request: { audio: string; format: EncodedFormat },
  signal: AbortSignal,
  timeoutMs = CONVERT_TIMEOUT_MS,
): Promise<string> {
  for (const factory of factories) {
    const port = await startPageWorker(factory, signal);
    if (!port) continue;
    const calls = createPortClient(portLink<string>(port), audioPort.calls, audioPort.events);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return (await calls.call('audio.convert', request, AbortSignal.any([signal, timeout]))).audio;
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted && !(error instanceof CallsClosed)) throw error;
    } finally {
      calls.close();
      void factory.stop().catch(() => {});
    }
  }
  signal.throwIfAborted();
  throw new RpcError('INTERNAL_ERROR', 'Converting audio needs an open tab. Open Perch in this browser.', {
    details: { reason: 'needs-page' },
  });
}
