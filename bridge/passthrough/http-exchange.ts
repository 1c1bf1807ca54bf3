import type { IncomingMessage, ServerResponse } from 'node:http';
import { getMaxBodyBytes, formatBodyTooLarge } from '#shared/http/body-limits.ts';
import { type ResponseHead, responseHead } from '#shared/link/stream-http.ts';
import { MAX_STORED_BODY_BYTES, type UsageReceipt, type SplicedCall } from '#shared/link/splice.ts';
import type { Mux } from '#shared/link/mux.ts';
import { STREAM_WINDOW_BYTES, type Stream } from '#shared/link/stream.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import type { PendingResponse } from './upstream-request.ts';
import type { PassthroughExchange, ValidatedResponse } from './validated-response.ts';
import { HOP_BY_HOP_HEADERS } from '../capabilities/hop-by-hop.ts';
import { sendError } from '../server/http-errors.ts';
import { copyChunk } from '../server/socket-link.ts';

/** How much of a rejected body is still read, and for how long, so that the caller receives the response instead of a broken pipe. */
const MAX_DISCARD_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 10_000;
const MAX_HEADER_BYTES = 256 * 1024;

/** The exchange's connection to its host. */
interface ExchangeHost {
  isAttached(): boolean;
  /** Called when a response has been sent past the host. */
  onSpliced(receipt: UsageReceipt): void;
  /** The whole request body, if it was read already. */
  body?: Buffer | undefined;
  /** Pending upstream response of a cached decision. */
  takePendingResponse?: PendingResponse | undefined;
}

/** Exchanges in progress, by stream number. */
export class ExchangeRegistry {
  readonly #exchanges = new WeakMap<Mux, Map<number, PassthroughExchange>>();

  /** The result removes the exchange. */
  add(mux: Mux, stream: number, exchange: PassthroughExchange): () => void {
    const found = this.#exchanges.get(mux) ?? new Map<number, PassthroughExchange>();
    this.#exchanges.set(mux, found.set(stream, exchange));
    return () => void found.delete(stream);
  }

  /** A host finds only exchanges that were sent to it. */
  find(mux: Mux, stream: number): PassthroughExchange | undefined {
    return this.#exchanges.get(mux)?.get(stream);
  }
}

/**
 * One HTTP exchange over a stream to the host (shared/link/stream-http.ts). Forwards bytes as they arrive, buffering no more than the stream's
 * credit, and keeps a small body until it is answered. A response that bypasses the host (shared/link/splice.ts) continues if the host is
 * gone. If the caller disconnects, the stream is reset; if a host fails midway, the connection is destroyed, so that the response does not
 * look complete.
 */
export function serveExchange(
  request: IncomingMessage,
  response: ServerResponse,
  stream: Stream,
  { isAttached, onSpliced, body, takePendingResponse }: ExchangeHost,
): PassthroughExchange {
  let received = 0;
  const maxBytes = getMaxBodyBytes(request.headers['content-type']);
  let bodyChunks: Buffer[] | undefined = body ? [body] : [];
  let receivedBytes = takePendingResponse;
  let ended = false;
  let headParts: Uint8Array[] = [];
  /** Whether the host's response head has arrived. */
  let headed = false;
  /** Whether the response bypasses the host. `passthrough` is set while it is being sent. */
  let committed = false;
  let passthrough: ValidatedResponse | undefined;
  const listeners = new Set<() => void>();

  /** Notifies the other candidates that a response has been chosen. */
  const settle = (): void => {
    bodyChunks = undefined;
    for (const listener of listeners) listener();
    listeners.clear();
  };

  const fail = (status: number, message: string, headers: Record<string, string> = {}): void => {
    ended = true;
    if (response.headersSent) return void response.destroy();
    sendError(response, status, message, headers);
    discardRequest(request);
  };

  request.on('data', (chunk: Buffer) => {
    if (ended) return;
    received += chunk.byteLength;
    if (received > maxBytes) {
      stream.reset(CLOSE_CODES.tooBig, formatBodyTooLarge(maxBytes));
      return fail(413, formatBodyTooLarge(maxBytes));
    }
    if (received > MAX_STORED_BODY_BYTES) bodyChunks = undefined;
    else bodyChunks?.push(chunk);
    stream.send(chunk, { fin: false, bulk: true });
    if (stream.buffered > STREAM_WINDOW_BYTES) request.pause();
  });
  if (body) {
    stream.send(body, { fin: false, bulk: true });
    stream.end();
  } else request.on('end', () => stream.end());
  request.on('error', () => {});
  response.on('error', () => {});
  response.on('close', () => {
    // Also if the host answered without reading the whole request: it needs no more of it.
    if (!ended || !request.complete) stream.reset(CLOSE_CODES.goingAway, 'the caller disconnected');
    ended = true;
    passthrough?.cancel();
    receivedBytes?.cancel();
    settle();
  });

  const finish = (): void => {
    ended = true;
    response.end();
    if (!request.complete) discardRequest(request);
  };

  const isUnanswered = (): boolean => !ended && !headed && !committed;
  const commit = (answer: ValidatedResponse, call: SplicedCall): boolean => {
    if (!isUnanswered()) return false;
    response.writeHead(200, answer.headers);
    committed = true;
    passthrough = answer;
    settle();
    answer.pipe(response, ({ how, usage, chars }) => {
      passthrough = undefined;
      onSpliced({ call, endedAt: Date.now(), how, chars, ...(usage ? { usage } : {}) });
      if (ended) return;
      if (how === 'done') {
        finish();
        stream.isLowPriority = true;
        stream.reset(CLOSE_CODES.spliced, 'answered');
      }
      // On other errors, the host appends an explanation to the partial response.
      else if (how === 'left' || !isAttached()) fail(502, 'The gateway disconnected');
    });
    return true;
  };

  const writeHead = (chunk: Uint8Array, fin: boolean, text: boolean): void => {
    headParts.push(chunk.slice());
    const size = headParts.reduce((sum, part) => sum + part.byteLength, 0);
    if (text && !fin && size <= MAX_HEADER_BYTES) return;
    const head = text && size <= MAX_HEADER_BYTES ? parseHead(Buffer.concat(headParts)) : undefined;
    headParts = [];
    if (!head) {
      stream.reset(CLOSE_CODES.protocolError, 'invalid response head');
      return fail(502, 'The gateway sent an invalid response');
    }
    headed = true;
    // The host's additions follow the response. A response of its own is too late.
    if (committed && head.spliced) return;
    if (committed || head.spliced) {
      passthrough?.cancel();
      stream.reset(CLOSE_CODES.protocolError, 'unexpected response');
      return fail(502, 'The gateway sent an invalid response');
    }
    settle();
    const headers = Object.entries(head.headers).filter(([name]) => !HOP_BY_HOP_HEADERS.has(name.toLowerCase()));
    try {
      response.writeHead(head.status, Object.fromEntries(headers));
    } catch {
      // The headers are invalid for HTTP. An exception here would close the whole link.
      stream.reset(CLOSE_CODES.protocolError, 'invalid response header');
      return fail(502, 'The gateway sent an invalid response');
    }
    // Deferred: a body that has arrived already shares the packet.
    process.nextTick(() => response.flushHeaders());
  };

  stream.receive({
    data(chunk, fin, text) {
      const bytes = chunk.byteLength;
      if (ended) return stream.release(bytes);
      if (headed) return void response.write(copyChunk(chunk), () => stream.release(bytes));
      stream.release(bytes);
      writeHead(chunk, fin, text);
    },
    end() {
      if (ended) return;
      if (!headed) return fail(502, 'The gateway sent no response');
      if (!passthrough) finish();
    },
    reset(code, reason) {
      if (ended || (passthrough && !isAttached())) return;
      if (!isAttached() || code === CLOSE_CODES.handingOver) return fail(503, 'The gateway is restarting', { 'retry-after': '1' });
      if (code === CLOSE_CODES.noGateway) return fail(503, reason || 'The gateway is busy', { 'retry-after': '1' });
      fail(500, 'The gateway failed to answer');
    },
    drain: () => request.resume(),
  });
  return {
    get isWaiting() {
      return isUnanswered();
    },
    body: () => (request.complete && bodyChunks ? Buffer.concat(bodyChunks) : undefined),
    takePendingResponse(url) {
      const pending = receivedBytes;
      if (pending?.url !== url) return undefined;
      receivedBytes = undefined;
      return pending;
    },
    onClose(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    commit,
  };
}

function parseHead(bytes: Buffer): ResponseHead | undefined {
  try {
    return responseHead.parse(JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
}

/** Reads and discards a body within limits, then closes the connection. */
export function discardRequest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let remainingBytes = MAX_DISCARD_BYTES;
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  timer.unref();
  request.on('data', (chunk: Buffer) => {
    remainingBytes -= chunk.byteLength;
    if (remainingBytes < 0) request.destroy();
  });
  request.on('close', () => clearTimeout(timer));
  request.resume();
}
