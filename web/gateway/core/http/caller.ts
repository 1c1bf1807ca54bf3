import { SSE_HEADERS } from '#shared/http/sse.ts';

/** Who waits for an answer, and may hang up. */
export interface Caller {
  /** Fires when the caller hangs up. */
  abort: AbortController;
  /** The answer is over: nobody can hang up any more. */
  settled(): void;
}

/** Does `work` for a caller who may hang up meanwhile, and is answered 499 then. */
export async function forCaller(request: Request, work: (caller: Caller) => Promise<Response>): Promise<Response> {
  const abort = new AbortController();
  const hangUp = (): void => abort.abort(request.signal.reason);
  if (request.signal.aborted) hangUp();
  else request.signal.addEventListener('abort', hangUp, { once: true });
  const settled = (): void => request.signal.removeEventListener('abort', hangUp);
  try {
    return await work({ abort, settled });
  } catch (error) {
    settled();
    // Whoever asked is gone; 499 is what proxies log then.
    if (abort.signal.aborted) return new Response(null, { status: 499 });
    throw error;
  }
}

/** The response to a stream whose first part has come, so that a failure before it has a status of its own. */
export async function streamed(source: AsyncGenerator<string>, caller: Caller): Promise<Response> {
  return new Response(bodyOf(source, caller, await source.next()), { headers: SSE_HEADERS });
}

/** A stream's text or bytes as a body, from `first` on, where that was read already. Who cancels it has hung up. */
export function bodyOf<Piece extends string | Uint8Array>(
  source: AsyncGenerator<Piece>,
  { abort, settled }: Caller,
  first?: IteratorResult<Piece>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = next ?? (await source.next());
      next = undefined;
      if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      settled();
      controller.close();
    },
    cancel(reason) {
      settled();
      abort.abort(reason);
      // Queued behind a read under way, which the signal ends.
      void source.return(undefined).catch(() => {});
    },
  });
}
