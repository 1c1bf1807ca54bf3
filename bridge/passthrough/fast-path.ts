import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { type SpliceFailure, SPLICE_FAILURE_KIND } from '#shared/link/splice.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { sendUpstream, type UpstreamResponse, type PendingResponse } from './upstream-request.ts';
import { type ValidatedResponse, isSuccess } from './validated-response.ts';
import { StreamingPassthrough } from './streaming-passthrough.ts';
import { BufferedPassthrough } from './buffered-passthrough.ts';
import type { ReceiptQueue } from './receipts.ts';
import type { RoutedRequest, RouteCache } from './route-cache.ts';

/** The request to answer. */
interface FastPathCaller {
  requestId: string;
  response: ServerResponse;
}

interface FastPathDeps {
  /** Connection of the host that made the decision. */
  mux: Mux;
  receipts: ReceiptQueue;
  routes: RouteCache;
}

/** Milliseconds after which the upstream request is handed to the host. */
const HANDOVER_MS = 500;

/**
 * Sends a request as a host has decided. Resolves to the pending upstream response if it is slow or invalid, since only the host handles
 * that for this caller; undefined if the request failed.
 */
export async function answerFromRoute(
  route: RoutedRequest,
  caller: FastPathCaller,
  deps: FastPathDeps,
): Promise<PendingResponse | 'answered' | undefined> {
  const { events, upstream, wire } = route;
  const { response } = caller;
  const aborter = new AbortController();
  const cancel = (): void => aborter.abort();
  response.once('close', cancel);
  const responsePromise = sendUpstream({ ...upstream, signal: aborter.signal });
  responsePromise.catch(() => {});
  const timeout = Promise.withResolvers<'late'>();
  const timer = setTimeout(timeout.resolve, HANDOVER_MS, 'late');
  const toPendingResponse = (upstreamResponse: Promise<UpstreamResponse>): PendingResponse => ({
    url: upstream.url,
    response: upstreamResponse,
    cancel,
  });
  try {
    const upstreamResponse = await Promise.race([responsePromise, timeout.promise]);
    // The host decides on timeouts.
    if (upstreamResponse === 'late') return toPendingResponse(responsePromise);
    const validated =
      isSuccess(upstreamResponse.head) &&
      (await (events
        ? StreamingPassthrough.validate(upstreamResponse.body, events)
        : BufferedPassthrough.validate(upstreamResponse.body, wire)));
    if (validated && !Array.isArray(validated)) {
      response.off('close', cancel);
      if (response.destroyed) validated.cancel();
      else sendResponse(validated, route, caller, deps);
      return 'answered';
    }
    deps.routes.invalidate(deps.mux);
    return toPendingResponse(Promise.resolve({ ...upstreamResponse, ...(validated ? { read: validated } : {}) }));
  } catch {
    // The host sends the request again and reports the error.
    deps.routes.invalidate(deps.mux);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function sendResponse(
  answer: ValidatedResponse,
  route: RoutedRequest,
  { requestId, response }: FastPathCaller,
  { mux, receipts, routes }: FastPathDeps,
): void {
  const cancel = (): void => answer.cancel();
  response.on('error', () => {});
  response.once('close', cancel);
  response.writeHead(200, answer.headers);
  answer.pipe(response, ({ how, text, usage, chars, unopened }) => {
    response.off('close', cancel);
    const inputTokens = usage ? 0 : estimateForFamily(JSON.stringify(route.messages), getTokenFamily(route.call.model));
    const call = { ...route.call, id: randomUUID(), requestId, inputTokens };
    receipts.add({ call, endedAt: Date.now(), how, chars, ...(usage ? { usage } : {}) });
    // Route the next request through the host, so that it notices.
    if (unopened) routes.invalidate(mux);
    if (how === 'done') return void response.end();
    if (how === 'left') return;
    routes.invalidate(mux);
    requestFinalText(mux, { call, wire: route.wire, end: { how, ...(text === undefined ? {} : { text }) } }).then(
      (finalText) => response.end(finalText),
      // Destroy the connection, so that the response does not look complete.
      () => response.destroy(),
    );
  });
}

/** Maximum time for a host to provide the final text. */
const FINAL_TEXT_MS = 5_000;

/** Asks the host for the text to append to an event stream that ended badly. Rejects if the host is gone. */
async function requestFinalText(mux: Mux, failure: SpliceFailure): Promise<string> {
  const request = { method: 'POST', body: JSON.stringify(failure), headers: { 'content-type': 'application/json' } };
  const answer = await fetchOverStream(mux, { kind: SPLICE_FAILURE_KIND }, { ...request, signal: AbortSignal.timeout(FINAL_TEXT_MS) });
  if (!answer.ok) throw new Error(`the host responded with ${answer.status}`);
  return answer.text();
}
