import type { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Opening } from '#shared/link/hello.ts';
import type { ResponseHead } from '#shared/link/http.ts';
import { forward, type Forward, FORWARD_HEADER } from '#shared/link/splice.ts';
import { STREAM_WINDOW, type Stream } from '#shared/link/stream.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { ask, type Asking, outgoing } from './asking.ts';
import { edited } from './edited.ts';
import { reachOf, refuseEgress } from './egress-guard.ts';
import { type Exchange, type GoodAnswer, isSuccess } from './good-answer.ts';
import { HeldAnswer } from './held-answer.ts';
import { unreached } from './unreached.ts';
import { WholeAnswer } from './whole-answer.ts';

/** Maximum size of an outgoing request. It is sent whole with its length, since some servers do not support chunked bodies. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Callers whose requests a host may have answered directly (shared/link/splice.ts). */
export interface Callers {
  find(exchange: number): Exchange | undefined;
  /** False once the host is gone: its requests continue without it. */
  isAttached(): boolean;
  /** Records the host's decision; the result activates it, if it may be reused. */
  standing(wish: Forward, headers: Record<string, string>): () => void;
}

/**
 * Sends requests for a host in a browser, which is limited to 6 connections per server and by CORS. One HTTP exchange per stream, with its URL
 * in `:url` (shared/link/http.ts). Does not follow redirects. A rejected or failed exchange resets the stream with the reason. `via` identifies
 * this gateway in its requests.
 *
 * Uses undici's `request` instead of `fetch`, whose web streams cost more than everything else (tests/bench/NOTES.md).
 */
export function serveEgress(stream: Stream, opening: Opening, via: string): void {
  serve(stream, opening, { via });
}

/** Like egress, but a valid response goes to the caller named in `:forward`, and the host only receives the result. */
export function serveForward(stream: Stream, opening: Opening, via: string, callers: Callers): void {
  const wish = forward.parse(JSON.parse(opening.headers[FORWARD_HEADER] ?? 'null'));
  const exchange = callers.find(wish.to);
  if (!exchange?.waits) return stream.reset(CLOSE.goingAway, 'the caller is no longer waiting');
  const keep = callers.standing(wish, opening.headers);
  serve(stream, opening, { via, forwarding: { wish, exchange, keep, isAttached: callers.isAttached } });
}

interface Forwarding extends Pick<Callers, 'isAttached'> {
  wish: Forward;
  exchange: Exchange;
  /** Called when the response is valid. */
  keep: () => void;
}

function serve(stream: Stream, opening: Opening, { via, forwarding }: { via: string; forwarding?: Forwarding }): void {
  const url = opening.headers[':url'];
  const reach = reachOf(opening.headers[':named-by']);
  const refusal = url === undefined ? 'the address (:url) is missing' : refuseEgress(url, reach);
  if (url === undefined || refusal !== undefined) return stream.reset(CLOSE.policy, refusal);
  const gone = new AbortController();
  let parts: Uint8Array[] = [];
  let size = 0;
  let answer: Readable | undefined;
  let good: GoodAnswer | undefined;
  const leave = (): void => {
    gone.abort();
    answer?.destroy();
  };
  const unwatch = forwarding?.exchange.onover(leave);
  const begun: Outgoing['begun'] = (given) => {
    unwatch?.();
    if ('pipe' in given && 'leave' in given) good = given;
    else answer = given;
  };
  stream.receive({
    data(chunk) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) return stream.reset(CLOSE.tooBig, `Requests are limited to ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
      parts.push(chunk.slice());
      stream.release(chunk.byteLength);
    },
    end() {
      const edits = forwarding?.wish.edits;
      const body = edits ? edited(forwarding?.exchange.body(), edits) : Buffer.concat(parts);
      parts = [];
      if (!body) return stream.reset(CLOSE.policy, 'the request body is missing');
      goOut(stream, { asking: { url, reach, ...outgoing(opening.headers, via), body, signal: gone.signal }, forwarding, begun })
        .catch((error: unknown) => stream.reset(CLOSE.internal, unreached(error, new URL(url).host)))
        .finally(unwatch);
    },
    reset() {
      if (good && forwarding?.isAttached() === false) return;
      good?.leave();
      leave();
    },
    drain: () => answer?.resume(),
  });
}

interface Outgoing {
  asking: Asking;
  forwarding: Forwarding | undefined;
  begun: (answer: Readable | GoodAnswer) => void;
}

async function goOut(stream: Stream, { asking, forwarding, begun }: Outgoing): Promise<void> {
  const inHand = forwarding?.exchange.inHand(asking.url);
  if (inHand) asking.signal.addEventListener('abort', inHand.leave, { once: true });
  const { head, body: decoded, read } = await (inHand?.asked ?? ask(asking));
  let first = read ?? [];
  if (forwarding && !read && isSuccess(head)) {
    const { wish, exchange, keep } = forwarding;
    const answer = await (wish.stream ? HeldAnswer.begin(decoded, wish) : WholeAnswer.begin(decoded, wish.wire));
    if (stream.closed) return void decoded.destroy();
    if (!Array.isArray(answer)) {
      answer.onover = (end) => {
        stream.unhurried = end.how === 'done';
        stream.send(JSON.stringify(end));
        stream.end();
      };
      begun(answer);
      stream.unhurried = !wish.stream;
      stream.send(JSON.stringify({ status: head.status, headers: {}, held: true } satisfies ResponseHead));
      if (exchange.commit(answer, wish.call)) return keep();
      answer.leave();
      return stream.reset(CLOSE.goingAway, 'the caller is no longer waiting');
    }
    first = answer;
  }
  begun(decoded);
  stream.send(JSON.stringify(head), { bulk: true });
  for (const chunk of first) stream.send(chunk, { fin: false, bulk: true });
  if (decoded.readableEnded) return stream.end();
  // Let received data be sent first, since the reset would drop it.
  if (decoded.destroyed) await immediate();
  if (decoded.destroyed) throw decoded.errored ?? new Error('the response was cut off');
  decoded.on('data', (chunk: Buffer) => {
    stream.send(chunk, { fin: false, bulk: true });
    if (stream.buffered > STREAM_WINDOW) decoded.pause();
  });
  decoded.resume();
  await new Promise<void>((resolve, reject) => {
    decoded.once('end', resolve);
    decoded.once('error', reject);
  });
  stream.end();
}
