import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ResponseHead, responseHead } from '#shared/link/http.ts';
import type { Receipt, Splice } from '#shared/link/splice.ts';
import { STREAM_WINDOW, type Stream } from '#shared/link/stream.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import type { HeldAnswer } from '../capabilities/held-answer.ts';
import { HOP_BY_HOP } from '../capabilities/hop-by-hop.ts';
import { sendError } from './http-errors.ts';
import { keep } from './socket-link.ts';

/** Bytes of a request's body (decisions, "HTTP"). */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;
/** What of a refused body is still read, so that the caller gets to see the answer instead of a broken pipe, and for how long. */
const DISCARD_BYTES = 64 * 1024 * 1024;
const DISCARD_MS = 10_000;
const MAX_HEAD_BYTES = 256 * 1024;

export const TOO_LARGE = 'a request body may have 20 MB';

/** What an exchange wants to know of its host. */
export interface ExchangeHost {
  isAttached(): boolean;
  /** The answer that is held for the host under the number of its egress stream. */
  take(stream: number): HeldAnswer | undefined;
  /** A held answer has gone to the caller. */
  spliced(receipt: Receipt): void;
}

/**
 * One HTTP exchange over a stream to the host (shared/link/http.ts): bytes both ways as they come, no more of them held than the stream's
 * credit. A held answer (shared/link/splice.ts) goes to the caller from here, and on where its host is gone. A caller that hangs up resets the stream; a host that fails midway cuts the answer, so that it cannot pass for a whole one.
 */
export function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  stream: Stream,
  { isAttached, take, spliced }: ExchangeHost,
): void {
  let received = 0;
  let ended = false;
  let headParts: Uint8Array[] = [];
  let held: HeldAnswer | undefined;

  const fail = (status: number, message: string, headers: Record<string, string> = {}): void => {
    ended = true;
    if (response.headersSent) return void response.destroy();
    sendError(response, status, message, headers);
    discard(request);
  };

  request.on('data', (chunk: Buffer) => {
    if (ended) return;
    received += chunk.byteLength;
    if (received > MAX_BODY_BYTES) {
      stream.reset(CLOSE.tooBig, TOO_LARGE);
      return fail(413, TOO_LARGE);
    }
    stream.send(chunk, { fin: false, bulk: true });
    if (stream.buffered > STREAM_WINDOW) request.pause();
  });
  request.on('end', () => stream.end());
  request.on('error', () => {});
  response.on('error', () => {});
  response.on('close', () => {
    // Also where the host answered without reading the whole request: it wants no more of it.
    if (!ended || !request.complete) stream.reset(CLOSE.goingAway, 'the caller hung up');
    ended = true;
    held?.leave();
  });

  const finish = (): void => {
    ended = true;
    response.end();
    if (!request.complete) discard(request);
  };

  const pass = (answer: HeldAnswer, { call }: Splice): void => {
    held = answer;
    answer.pipe(response, ({ how, usage, chars }) => {
      held = undefined;
      spliced({ call, endedAt: Date.now(), how, chars, ...(usage ? { usage } : {}) });
      if (ended) return;
      if (how === 'done') finish();
      // What went wrong is the host's to tell, behind what has been sent.
      else if (how === 'left' || !isAttached()) fail(502, 'the gateway is gone');
    });
  };

  const writeHead = (chunk: Uint8Array, fin: boolean, text: boolean): void => {
    headParts.push(chunk.slice());
    const size = headParts.reduce((sum, part) => sum + part.byteLength, 0);
    if (text && !fin && size <= MAX_HEAD_BYTES) return;
    const head = text && size <= MAX_HEAD_BYTES ? parseHead(Buffer.concat(headParts)) : undefined;
    headParts = [];
    if (!head) {
      stream.reset(CLOSE.protocolError, 'the answer has no valid head');
      return fail(502, 'the gateway gave no valid answer');
    }
    const answer = head.splice && take(head.splice.from);
    if (head.splice && !answer) {
      stream.reset(CLOSE.protocolError, 'there is no such answer');
      return fail(502, 'the gateway gave no valid answer');
    }
    const headers = Object.entries(head.headers).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));
    try {
      response.writeHead(head.status, Object.fromEntries(headers));
    } catch {
      // A header that HTTP cannot carry. What is thrown from here would close the whole link.
      answer?.leave();
      stream.reset(CLOSE.protocolError, 'the answer has a header that cannot be sent');
      return fail(502, 'the gateway gave no valid answer');
    }
    if (answer && head.splice) return pass(answer, head.splice);
    // Not at once: a body that came along shares the packet.
    process.nextTick(() => response.flushHeaders());
  };

  stream.receive({
    data(chunk, fin, text) {
      const bytes = chunk.byteLength;
      if (ended) return stream.release(bytes);
      if (response.headersSent) return void response.write(keep(chunk), () => stream.release(bytes));
      stream.release(bytes);
      writeHead(chunk, fin, text);
    },
    end() {
      if (ended) return;
      if (!response.headersSent) return fail(502, 'the gateway gave no answer');
      if (!held) finish();
    },
    reset(code, reason) {
      if (ended || (held && !isAttached())) return;
      if (!isAttached() || code === CLOSE.handingOver) return fail(503, 'the gateway is restarting', { 'retry-after': '1' });
      if (code === CLOSE.noGateway) return fail(503, reason || 'the gateway is busy', { 'retry-after': '1' });
      fail(500, 'the gateway failed to answer');
    },
    drain: () => request.resume(),
  });
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
