import type { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Opening } from '#shared/link/hello.ts';
import type { ResponseHead } from '#shared/link/stream-http.ts';
import { forwardRequest, type ForwardRequest, FORWARD_HEADER } from '#shared/link/splice.ts';
import { STREAM_WINDOW_BYTES, type Stream } from '#shared/link/stream.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { sendUpstream, type UpstreamRequest, toUpstreamHead } from './upstream-request.ts';
import { applyByteEdits } from './apply-edits.ts';
import { getReach, checkEgressUrl } from '../capabilities/egress-guard.ts';
import { type PassthroughExchange, type ValidatedResponse, isSuccess } from './validated-response.ts';
import { StreamingPassthrough } from './streaming-passthrough.ts';
import { describeConnectionError } from '../capabilities/connection-error.ts';
import { BufferedPassthrough } from './buffered-passthrough.ts';

/** Maximum size of an outgoing request. It is sent whole with its length, since some servers do not support chunked bodies. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Callers whose requests a host may have answered directly (shared/link/splice.ts). */
interface ForwardCallers {
  find(exchange: number): PassthroughExchange | undefined;
  /** False once the host is gone: its requests continue without it. */
  isAttached(): boolean;
  /** Records the host's decision; the result activates it, if it may be reused. */
  recordDecision(request: ForwardRequest, headers: Record<string, string>): () => void;
}

/**
 * Sends requests for a host in a browser, which is limited to 6 connections per server and by CORS. One HTTP exchange per stream, with its URL
 * in `:url` (shared/link/stream-http.ts). Does not follow redirects. A rejected or failed exchange resets the stream with the reason. `via` identifies
 * this gateway in its requests.
 *
 * Uses undici's `request` instead of `fetch`, whose web streams cost more than everything else (tests/bench/NOTES.md).
 */
export function serveEgress(stream: Stream, opening: Opening, via: string): void {
  serveExchange(stream, opening, { via });
}

/** Like egress, but a valid response goes to the caller named in `:forward`, and the host only receives the result. */
export function serveForward(stream: Stream, opening: Opening, via: string, callers: ForwardCallers): void {
  const request = forwardRequest.parse(JSON.parse(opening.headers[FORWARD_HEADER] ?? 'null'));
  const exchange = callers.find(request.to);
  if (!exchange?.isWaiting) return stream.reset(CLOSE_CODES.goingAway, 'the caller is no longer waiting');
  const activate = callers.recordDecision(request, opening.headers);
  serveExchange(stream, opening, { via, forwarding: { request, exchange, keep: activate, isAttached: callers.isAttached } });
}

interface ForwardContext extends Pick<ForwardCallers, 'isAttached'> {
  request: ForwardRequest;
  exchange: PassthroughExchange;
  /** Called when the response is valid. */
  keep: () => void;
}

function serveExchange(stream: Stream, opening: Opening, { via, forwarding }: { via: string; forwarding?: ForwardContext }): void {
  const url = opening.headers[':url'];
  const reach = getReach(opening.headers[':named-by']);
  const refusal = url === undefined ? 'the address (:url) is missing' : checkEgressUrl(url, reach);
  if (url === undefined || refusal !== undefined) return stream.reset(CLOSE_CODES.policy, refusal);
  const aborter = new AbortController();
  let chunks: Uint8Array[] = [];
  let size = 0;
  let upstreamBody: Readable | undefined;
  let validated: ValidatedResponse | undefined;
  const cancel = (): void => {
    aborter.abort();
    upstreamBody?.destroy();
  };
  const unwatch = forwarding?.exchange.onClose(cancel);
  const onStarted: UpstreamCall['onStarted'] = (started) => {
    unwatch?.();
    if ('pipe' in started && 'cancel' in started) validated = started;
    else upstreamBody = started;
  };
  stream.receive({
    data(chunk) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) return stream.reset(CLOSE_CODES.tooBig, `Requests are limited to ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
      chunks.push(chunk.slice());
      stream.release(chunk.byteLength);
    },
    end() {
      const edits = forwarding?.request.edits;
      const body = edits ? applyByteEdits(forwarding?.exchange.body(), edits) : Buffer.concat(chunks);
      chunks = [];
      if (!body) return stream.reset(CLOSE_CODES.policy, 'the request body is missing');
      relayExchange(stream, {
        upstream: { url, reach, ...toUpstreamHead(opening.headers, via), body, signal: aborter.signal },
        forwarding,
        onStarted,
      })
        .catch((error: unknown) => stream.reset(CLOSE_CODES.internal, describeConnectionError(error, new URL(url).host)))
        .finally(unwatch);
    },
    reset() {
      if (validated && forwarding?.isAttached() === false) return;
      validated?.cancel();
      cancel();
    },
    drain: () => upstreamBody?.resume(),
  });
}

interface UpstreamCall {
  upstream: UpstreamRequest;
  forwarding: ForwardContext | undefined;
  onStarted: (answer: Readable | ValidatedResponse) => void;
}

async function relayExchange(stream: Stream, { upstream, forwarding, onStarted }: UpstreamCall): Promise<void> {
  const pending = forwarding?.exchange.takePendingResponse(upstream.url);
  if (pending) upstream.signal.addEventListener('abort', pending.cancel, { once: true });
  const { head, body: decoded, read } = await (pending?.response ?? sendUpstream(upstream));
  let first = read ?? [];
  if (forwarding && !read && isSuccess(head)) {
    const { request, exchange, keep: activate } = forwarding;
    const answer = await (request.stream
      ? StreamingPassthrough.validate(decoded, request)
      : BufferedPassthrough.validate(decoded, request.wire));
    if (stream.closed) return void decoded.destroy();
    if (!Array.isArray(answer)) {
      answer.onend = (end) => {
        stream.isLowPriority = end.how === 'done';
        stream.send(JSON.stringify(end));
        stream.end();
      };
      onStarted(answer);
      stream.isLowPriority = !request.stream;
      stream.send(JSON.stringify({ status: head.status, headers: {}, held: true } satisfies ResponseHead));
      if (exchange.commit(answer, request.call)) return activate();
      answer.cancel();
      return stream.reset(CLOSE_CODES.goingAway, 'the caller is no longer waiting');
    }
    first = answer;
  }
  onStarted(decoded);
  stream.send(JSON.stringify(head), { bulk: true });
  for (const chunk of first) stream.send(chunk, { fin: false, bulk: true });
  if (decoded.readableEnded) return stream.end();
  // Let received data be sent first, since the reset would drop it.
  if (decoded.destroyed) await immediate();
  if (decoded.destroyed) throw decoded.errored ?? new Error('the response was cut off');
  decoded.on('data', (chunk: Buffer) => {
    stream.send(chunk, { fin: false, bulk: true });
    if (stream.buffered > STREAM_WINDOW_BYTES) decoded.pause();
  });
  decoded.resume();
  await new Promise<void>((resolve, reject) => {
    decoded.once('end', resolve);
    decoded.once('error', reject);
  });
  stream.end();
}
