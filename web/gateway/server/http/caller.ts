import { SSE_HEADERS } from '#shared/http/sse.ts';

/** A client that waits for an answer and may disconnect. */
export interface Caller {
  /** Aborted when the client disconnects. */
  abort: AbortController;
  /** Call this when the answer is complete: from then on, a disconnect has no effect. */
  release(): void;
}

/** Runs `work` for a client. If the client disconnects meanwhile, the response has status 499. */
export async function runForCaller(request: Request, work: (caller: Caller) => Promise<Response>): Promise<Response> {
  const abort = new AbortController();
  const abortCaller = (): void => abort.abort(request.signal.reason);
  if (request.signal.aborted) abortCaller();
  else request.signal.addEventListener('abort', abortCaller, { once: true });
  const removeListener = (): void => request.signal.removeEventListener('abort', abortCaller);
  try {
    return await work({ abort, release: removeListener });
  } catch (error) {
    removeListener();
    // The client disconnected; proxies log that as 499.
    if (abort.signal.aborted) return new Response(null, { status: 499 });
    throw error;
  }
}

/** Streaming response. The first part is awaited, so that an earlier failure gets its own status. */
export async function toStreamResponse(source: AsyncGenerator<string>, caller: Caller): Promise<Response> {
  return new Response(toBodyStream(source, caller, await source.next()), { headers: SSE_HEADERS });
}

/**
 * Converts a stream of text or bytes to a response body, starting with `first` if it has already been read. Canceling the body means that
 * the client disconnected.
 */
export function toBodyStream<Piece extends string | Uint8Array>(
  source: AsyncGenerator<Piece>,
  { abort, release }: Caller,
  first?: IteratorResult<Piece>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = next ?? (await source.next());
      next = undefined;
      if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      release();
      controller.close();
    },
    cancel(reason) {
      release();
      abort.abort(reason);
      // Takes effect after a pending read, which the signal ends.
      void source.return(undefined).catch(() => {});
    },
  });
}
