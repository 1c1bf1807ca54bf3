import { editsOf } from '#shared/http/body-edits.ts';
import { glance } from '#shared/http/completion-watch.ts';
import { type Forward, isHeld, type SpliceEnd, spliceEnd } from '#shared/link/splice.ts';
import { TRAILER_MS } from './assembled.ts';
import { brokeOff, readChunk, tooLarge, wentSilent } from './chunk.ts';
import type { Forwarded, SpliceTo } from './forwarding.ts';
import { streamFault } from './openai-errors.ts';
import { ProviderError } from './provider.ts';
import { readItems } from './upstream-body.ts';
import type { Passing, UpstreamHttp } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

interface ForwardedRequest {
  signal: AbortSignal;
  /** The caller wants a single response, not a stream. */
  whole: boolean;
  /** Sends the request. Resolves once the upstream has accepted it. */
  send(watchdog: Watchdog): Promise<Response>;
  /** Failure of an answer that the bridge passed on; undefined if it is complete. */
  faultOfEnd(end: SpliceEnd): unknown;
  /** Whether an event is the last one of an answer. */
  isEnd?(data: string): boolean;
}

/** Sends a caller's request. The upstream's response arrives in batches, or the bridge passes it on. */
export async function sendForwarded(http: UpstreamHttp, { signal, whole, send, faultOfEnd, isEnd }: ForwardedRequest): Promise<Forwarded> {
  const watchdog = http.watch(signal, whole);
  try {
    const response = await send(watchdog);
    return {
      ...(isHeld(response) ? { past: { failed: readFailure(http, response, { watchdog, signal, faultOfEnd }) } } : {}),
      batches: readBatches(http, response, { watchdog, signal, isEnd }),
      trailer: () => watchdog.limit(TRAILER_MS),
      told: (error) => (error instanceof ProviderError ? http.explain(error) : error),
    };
  } catch (error) {
    watchdog.stop();
    signal.throwIfAborted();
    throw http.explain(error);
  }
}

/** From here on, the bridge detects silence. */
function readFailure(
  http: UpstreamHttp,
  response: Response,
  { watchdog, signal, faultOfEnd }: Pick<ForwardedRequest, 'signal' | 'faultOfEnd'> & { watchdog: Watchdog },
): Promise<unknown> {
  watchdog.rest();
  const failed = response
    .json()
    .then((end) => faultOfEnd(spliceEnd.parse(end)))
    .catch((error: unknown) => {
      signal.throwIfAborted();
      return error;
    })
    .then((error) => error && http.explain(error))
    .finally(() => watchdog.stop());
  failed.catch(() => {});
  return failed;
}

async function* readBatches(
  http: UpstreamHttp,
  response: Response,
  { watchdog, signal, isEnd }: Pick<ForwardedRequest, 'signal' | 'isEnd'> & { watchdog: Watchdog },
): Forwarded['batches'] {
  try {
    yield* readItems(http.name, response.body, watchdog, isEnd);
  } catch (error) {
    signal.throwIfAborted();
    throw http.explain(error);
  } finally {
    watchdog.stop();
  }
}

/**
 * Instructions for the bridge to pass the answer on. `toStanding`: computes the decision that the bridge may repeat, from the caller's body
 * and the one sent.
 */
export function toPassing(
  { idleMs }: UpstreamHttp,
  { exchange, own, call, stands }: SpliceTo,
  forward: Pick<Forward, 'wire' | 'stream' | 'choices' | 'stripUsage' | 'thinksFirst'>,
  toStanding: (own: Record<string, unknown>, sent: Record<string, unknown>) => Forward['standing'],
): Passing {
  return {
    forward: { ...forward, exchange, call, idleMs, trailerMs: Math.min(TRAILER_MS, idleMs) },
    editsFor: (sent) => own && editsOf(own.text, own.body, sent),
    standingFor: (sent) => (own && stands ? toStanding(own.body, sent) : undefined),
  };
}

/** Failure of an answer that the bridge passed on; undefined if it is complete. `readFault` reads the error from an unexpected event. */
export function faultOfEnd(
  { how, text = '' }: SpliceEnd,
  { name, idleMs }: Pick<UpstreamHttp, 'name' | 'idleMs'>,
  readFault: (provider: string, text: string) => unknown,
): unknown {
  switch (how) {
    case 'done':
      return undefined;
    case 'silent':
      return wentSilent(name, idleMs);
    case 'large':
      return tooLarge(name);
    case 'odd':
      return readFault(name, text);
  }
  return brokeOff(name);
}

/** The error that an event of a chat completion reports. */
export function readChatFault(provider: string, text: string): unknown {
  try {
    readChunk(provider, text, { schema: glance, fault: streamFault });
  } catch (error) {
    return error;
  }
  return brokeOff(provider);
}
