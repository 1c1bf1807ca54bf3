import { computeBodyEdits } from '#shared/http/body-edits.ts';
import { completionChunk } from '#shared/http/completion-tracker.ts';
import { type ForwardRequest, isBypassResponse, type SpliceEnd, spliceEnd } from '#shared/link/splice.ts';
import { TRAILER_MS } from './assembler.ts';
import { createInterruptedError, createOverloadError, readChunk, createTooLargeError, createIdleError } from './chunk.ts';
import type { ForwardedResponse, SpliceTarget } from './forwarding-provider.ts';
import { readStreamFault } from './upstream-errors.ts';
import { ProviderError } from './provider.ts';
import { readBodyItems } from './upstream-body.ts';
import type { PassthroughOptions, UpstreamHttp } from './upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';

interface ForwardedRequest {
  signal: AbortSignal;
  /** The caller wants a single response, not a stream. */
  isBuffered: boolean;
  /** Sends the request. Resolves once the upstream has accepted it. */
  send(watchdog: Watchdog): Promise<Response>;
  /** Failure of an answer that the bridge passed on; undefined if it is complete. */
  toEndFault(end: SpliceEnd): unknown;
  /** Whether an event is the last one of an answer. */
  isLast?(data: string): boolean;
}

/** Sends a caller's request. The upstream's response arrives in batches, or the bridge passes it on. */
export async function sendForwarded(
  http: UpstreamHttp,
  { signal, isBuffered, send, toEndFault, isLast }: ForwardedRequest,
): Promise<ForwardedResponse> {
  const watchdog = http.createWatchdog(signal, isBuffered);
  try {
    const response = await send(watchdog);
    return {
      ...(isBypassResponse(response) ? { past: { failed: readPassthroughFailure(http, response, { watchdog, signal, toEndFault }) } } : {}),
      batches: readBatches(http, response, { watchdog, signal, isLast }),
      expectTrailer: () => watchdog.setLimit(TRAILER_MS),
      normalizeError: (error) => (error instanceof ProviderError ? http.explain(error) : error),
    };
  } catch (error) {
    watchdog.stop();
    signal.throwIfAborted();
    throw http.explain(error);
  }
}

/** From here on, the bridge detects silence. */
function readPassthroughFailure(
  http: UpstreamHttp,
  response: Response,
  { watchdog, signal, toEndFault }: Pick<ForwardedRequest, 'signal' | 'toEndFault'> & { watchdog: Watchdog },
): Promise<unknown> {
  watchdog.disarm();
  const failure = response
    .json()
    .then((end) => toEndFault(spliceEnd.parse(end)))
    .catch((error: unknown) => {
      signal.throwIfAborted();
      return error;
    })
    .then((error) => error && http.explain(error))
    .finally(() => watchdog.stop());
  failure.catch(() => {});
  return failure;
}

async function* readBatches(
  http: UpstreamHttp,
  response: Response,
  { watchdog, signal, isLast }: Pick<ForwardedRequest, 'signal' | 'isLast'> & { watchdog: Watchdog },
): ForwardedResponse['batches'] {
  try {
    yield* readBodyItems(http.name, response.body, watchdog, isLast);
  } catch (error) {
    signal.throwIfAborted();
    throw http.explain(error);
  } finally {
    watchdog.stop();
  }
}

/**
 * Instructions for the bridge to pass the answer on. `toCachedRoute`: computes the decision that the bridge may repeat, from the caller's body
 * and the one sent.
 */
export function toPassthroughOptions(
  { idleMs }: UpstreamHttp,
  { exchange, receivedBody, call, isCacheable }: SpliceTarget,
  forward: Pick<ForwardRequest, 'wire' | 'stream' | 'choices' | 'stripUsage' | 'thinksFirst'>,
  toCachedRoute: (own: Record<string, unknown>, sent: Record<string, unknown>) => ForwardRequest['standing'],
): PassthroughOptions {
  return {
    forward: { ...forward, exchange, call, idleMs, trailerMs: Math.min(TRAILER_MS, idleMs) },
    getEdits: (sent) => receivedBody && computeBodyEdits(receivedBody.text, receivedBody.body, sent),
    getCachedRoute: (sent) => (receivedBody && isCacheable ? toCachedRoute(receivedBody.body, sent) : undefined),
  };
}

/** Failure of an answer that the bridge passed on; undefined if it is complete. `readEventFault` reads the error from an unexpected event. */
export function getEndFault(
  { how, text = '', overloaded }: SpliceEnd,
  { name, idleMs }: Pick<UpstreamHttp, 'name' | 'idleMs'>,
  readEventFault: (provider: string, text: string) => unknown,
): unknown {
  switch (how) {
    case 'done':
      return undefined;
    case 'silent':
      return createIdleError(name, idleMs);
    case 'large':
      return overloaded ? createOverloadError() : createTooLargeError(name);
    case 'odd':
      return readEventFault(name, text);
  }
  return createInterruptedError(name);
}

/** The error that an event of a chat completion reports. */
export function readChatFault(provider: string, text: string): unknown {
  try {
    readChunk(provider, text, { schema: completionChunk, fault: readStreamFault });
  } catch (error) {
    return error;
  }
  return createInterruptedError(provider);
}
