import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxBodyBytes, toTooLarge } from '#shared/http/body-limits.ts';
import { type ResponseHead, responseHead } from '#shared/link/http.ts';
import { KEPT_BODY, type Receipt, type SplicedCall } from '#shared/link/splice.ts';
import type { Mux } from '#shared/link/mux.ts';
import { STREAM_WINDOW, type Stream } from '#shared/link/stream.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import type { InHand } from '../capabilities/asking.ts';
import type { Exchange, GoodAnswer } from '../capabilities/good-answer.ts';
import { HOP_BY_HOP } from '../capabilities/hop-by-hop.ts';
import { sendError } from './http-errors.ts';
import { keep } from './socket-link.ts';

/** How much of a rejected body is still read, and for how long, so that the caller receives the response instead of a broken pipe. */
const DISCARD_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 10_000;
const MAX_HEAD_BYTES = 256 * 1024;

/** The exchange's connection to its host. */
export interface ExchangeHost {
  isAttached(): boolean;
  /** Called when a response has been sent past the host. */
  spliced(receipt: Receipt): void;
  /** The whole request body, if it was read already. */
  body?: Buffer | undefined;
  /** Pending upstream response of a cached decision. */
  inHand?: InHand | undefined;
}

/** Exchanges in progress, by stream number. */
export class Exchanges {
  readonly #exchanges = new WeakMap<Mux, Map<number, Exchange>>();

  /** The result removes the exchange. */
  add(mux: Mux, stream: number, exchange: Exchange): () => void {
    const found = this.#exchanges.get(mux) ?? new Map<number, Exchange>();
    this.#exchanges.set(mux, found.set(stream, exchange));
    return () => void found.delete(stream);
  }

  /** A host finds only exchanges that were sent to it. */
  find(mux: Mux, stream: number): Exchange | undefined {
    return this.#exchanges.get(mux)?.get(stream);
  }
}

/**
 * One HTTP exchange over a stream to the host (shared/link/http.ts). Forwards bytes as they arrive, buffering no more than the stream's
 * credit, and keeps a small body until it is answered. A response that bypasses the host (shared/link/splice.ts) continues if the host is
 * gone. If the caller disconnects, the stream is reset; if a host fails midway, the connection is destroyed, so that the response does not
 * look complete.
 */
export function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  stream: Stream,
  { isAttached, spliced, body, inHand }: ExchangeHost,
): Exchange {
  let received = 0;
  const maxBytes = maxBodyBytes(request.headers['content-type']);
  let kept: Buffer[] | undefined = body ? [body] : [];
  let came = inHand;
  let ended = false;
  let headParts: Uint8Array[] = [];
  /** Whether the host's response head has arrived. */
  let headed = false;
  /** Whether the response bypasses the host. `held` is set while it is being sent. */
  let committed = false;
  let held: GoodAnswer | undefined;
  const listeners = new Set<() => void>();

  /** Notifies the other candidates that a response has been chosen. */
  const settle = (): void => {
    kept = undefined;
    for (const listener of listeners) listener();
    listeners.clear();
  };

  const fail = (status: number, message: string, headers: Record<string, string> = {}): void => {
    ended = true;
    if (response.headersSent) return void response.destroy();
    sendError(response, status, message, headers);
    discard(request);
  };

  request.on('data', (chunk: Buffer) => {
    if (ended) return;
    received += chunk.byteLength;
    if (received > maxBytes) {
      stream.reset(CLOSE.tooBig, toTooLarge(maxBytes));
      return fail(413, toTooLarge(maxBytes));
    }
    if (received > KEPT_BODY) kept = undefined;
    else kept?.push(chunk);
    stream.send(chunk, { fin: false, bulk: true });
    if (stream.buffered > STREAM_WINDOW) request.pause();
  });
  if (body) {
    stream.send(body, { fin: false, bulk: true });
    stream.end();
  } else request.on('end', () => stream.end());
  request.on('error', () => {});
  response.on('error', () => {});
  response.on('close', () => {
    // Also if the host answered without reading the whole request: it needs no more of it.
    if (!ended || !request.complete) stream.reset(CLOSE.goingAway, 'the caller disconnected');
    ended = true;
    held?.leave();
    came?.leave();
    settle();
  });

  const finish = (): void => {
    ended = true;
    response.end();
    if (!request.complete) discard(request);
  };

  const waits = (): boolean => !ended && !headed && !committed;
  const commit = (answer: GoodAnswer, call: SplicedCall): boolean => {
    if (!waits()) return false;
    response.writeHead(200, answer.headers);
    committed = true;
    held = answer;
    settle();
    answer.pipe(response, ({ how, usage, chars }) => {
      held = undefined;
      spliced({ call, endedAt: Date.now(), how, chars, ...(usage ? { usage } : {}) });
      if (ended) return;
      if (how === 'done') {
        finish();
        stream.unhurried = true;
        stream.reset(CLOSE.spliced, 'answered');
      }
      // On other errors, the host appends an explanation to the partial response.
      else if (how === 'left' || !isAttached()) fail(502, 'The gateway disconnected');
    });
    return true;
  };

  const writeHead = (chunk: Uint8Array, fin: boolean, text: boolean): void => {
    headParts.push(chunk.slice());
    const size = headParts.reduce((sum, part) => sum + part.byteLength, 0);
    if (text && !fin && size <= MAX_HEAD_BYTES) return;
    const head = text && size <= MAX_HEAD_BYTES ? parseHead(Buffer.concat(headParts)) : undefined;
    headParts = [];
    if (!head) {
      stream.reset(CLOSE.protocolError, 'invalid response head');
      return fail(502, 'The gateway sent an invalid response');
    }
    headed = true;
    // The host's additions follow the response. A response of its own is too late.
    if (committed && head.spliced) return;
    if (committed || head.spliced) {
      held?.leave();
      stream.reset(CLOSE.protocolError, 'unexpected response');
      return fail(502, 'The gateway sent an invalid response');
    }
    settle();
    const headers = Object.entries(head.headers).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));
    try {
      response.writeHead(head.status, Object.fromEntries(headers));
    } catch {
      // The headers are invalid for HTTP. An exception here would close the whole link.
      stream.reset(CLOSE.protocolError, 'invalid response header');
      return fail(502, 'The gateway sent an invalid response');
    }
    // Deferred: a body that has arrived already shares the packet.
    process.nextTick(() => response.flushHeaders());
  };

  stream.receive({
    data(chunk, fin, text) {
      const bytes = chunk.byteLength;
      if (ended) return stream.release(bytes);
      if (headed) return void response.write(keep(chunk), () => stream.release(bytes));
      stream.release(bytes);
      writeHead(chunk, fin, text);
    },
    end() {
      if (ended) return;
      if (!headed) return fail(502, 'The gateway sent no response');
      if (!held) finish();
    },
    reset(code, reason) {
      if (ended || (held && !isAttached())) return;
      if (!isAttached() || code === CLOSE.handingOver) return fail(503, 'The gateway is restarting', { 'retry-after': '1' });
      if (code === CLOSE.noGateway) return fail(503, reason || 'The gateway is busy', { 'retry-after': '1' });
      fail(500, 'The gateway failed to answer');
    },
    drain: () => request.resume(),
  });
  return {
    get waits() {
      return waits();
    },
    body: () => (request.complete && kept ? Buffer.concat(kept) : undefined),
    inHand(url) {
      const given = came;
      if (given?.url !== url) return undefined;
      came = undefined;
      return given;
    },
    onover(listener) {
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
export function discard(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let left = DISCARD_BYTES;
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  timer.unref();
  request.on('data', (chunk: Buffer) => {
    left -= chunk.byteLength;
    if (left < 0) request.destroy();
  });
  request.on('close', () => clearTimeout(timer));
  request.resume();
}
