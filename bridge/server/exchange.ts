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

/** What of a refused body is still read, so that the caller gets to see the answer instead of a broken pipe, and for how long. */
const DISCARD_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 10_000;
const MAX_HEAD_BYTES = 256 * 1024;

/** What an exchange wants to know of its host. */
export interface ExchangeHost {
  isAttached(): boolean;
  /** An answer has gone to the caller past the host. */
  spliced(receipt: Receipt): void;
  /** All of the request's body, where it has been read already. */
  body?: Buffer | undefined;
  /** What was asked for by a decision that stood. */
  inHand?: InHand | undefined;
}

/** The exchanges under way, by the number of their stream. */
export class Exchanges {
  readonly #exchanges = new WeakMap<Mux, Map<number, Exchange>>();

  /** The result removes it. */
  add(mux: Mux, stream: number, exchange: Exchange): () => void {
    const found = this.#exchanges.get(mux) ?? new Map<number, Exchange>();
    this.#exchanges.set(mux, found.set(stream, exchange));
    return () => void found.delete(stream);
  }

  /** A host finds only what it has been asked itself. */
  find(mux: Mux, stream: number): Exchange | undefined {
    return this.#exchanges.get(mux)?.get(stream);
  }
}

/**
 * One HTTP exchange over a stream to the host (shared/link/http.ts): bytes both ways as they come, no more of them held than the stream's
 * credit, and a small body until it is answered. An answer that goes past the host (shared/link/splice.ts) goes on where its host is gone. A
 * caller that hangs up resets the stream; a host that fails midway cuts the answer, so that it cannot pass for a whole one.
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
  /** The host's head has come. */
  let headed = false;
  /** The answer goes past the host; `held` while it does. */
  let committed = false;
  let held: GoodAnswer | undefined;
  const listeners = new Set<() => void>();

  /** Whoever else would have answered need not any more. */
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
    // Also where the host answered without reading the whole request: it wants no more of it.
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
      // What went wrong is the host's to tell, behind what has been sent.
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
    // What the host has to add comes behind the answer; an answer of its own comes too late.
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
      // A header that HTTP cannot carry. What is thrown from here would close the whole link.
      stream.reset(CLOSE.protocolError, 'invalid response header');
      return fail(502, 'The gateway sent an invalid response');
    }
    // Not at once: a body that came along shares the packet.
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

/** Reads on what nobody wants, within limits; then the connection is cut. */
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
