import { CLOSE } from '../rpc/frames.ts';
import { z } from '../rpc/zod.ts';
import type { Opening } from './hello.ts';
import type { Mux } from './mux.ts';
import { STREAM_WINDOW, type Stream } from './stream.ts';

// One HTTP exchange on one stream: method and path travel in the opening's headers as `:method` and `:path` (`:url` for the way out),
// the body as bulk data, then `end`. Back comes one text message with the head, then the body the same way.

export const responseHead = z.object({ status: z.number().int().min(100).max(599), headers: z.record(z.string(), z.string()) });
export type ResponseHead = z.infer<typeof responseHead>;

const NO_BODY = new Set([101, 204, 205, 304]);

/** The stream's incoming bytes as a web stream; credit goes back as the reader takes them. */
function bodyOf(stream: Stream): { readable: ReadableStream<Uint8Array<ArrayBuffer>>; push(chunk: Uint8Array): void; end(): void; fail(error: Error): void } {
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  let owed = 0;
  let done = false;
  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start: (given) => void (controller = given),
      pull() {
        if (owed > 0) stream.release(owed);
        owed = 0;
      },
      cancel() {
        done = true;
        stream.reset(CLOSE.goingAway, 'the reader left');
      },
    },
    { highWaterMark: STREAM_WINDOW / 2, size: (chunk) => chunk.byteLength },
  );
  return {
    readable,
    push(chunk) {
      if (done) return;
      controller.enqueue(chunk.slice());
      if ((controller.desiredSize ?? 0) > 0) stream.release(chunk.byteLength);
      else owed += chunk.byteLength;
    },
    end() {
      if (!done) controller.close();
      done = true;
    },
    fail(error) {
      if (!done) controller.error(error);
      done = true;
    },
  };
}

/** Sends a web stream as the body; waits while the stream's credit is used up. Rejects when the source fails or `signal` aborts. */
async function pump(body: ReadableStream<Uint8Array>, stream: Stream, drained: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw signal.reason;
      if (done) return;
      stream.send(value, { fin: false, bulk: true });
      if (stream.buffered > STREAM_WINDOW) await drained();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}

/** Calls waiters when the stream has handed on all it had, or is gone. */
function drainGate(): { wait(): Promise<void>; open(): void } {
  let waiters: (() => void)[] = [];
  return {
    wait: () => new Promise((resolve) => waiters.push(resolve)),
    open: () => {
      const waiting = waiters;
      waiters = [];
      for (const resume of waiting) resume();
    },
  };
}

/**
 * Answers one exchange with a fetch handler. The request's signal aborts when the caller hangs up. A handler that throws is a 500 without
 * details; a body that fails midway resets the stream.
 */
export function serveHttp(stream: Stream, opened: Opening, base: string, handler: (request: Request) => Promise<Response>): void {
  const { ':method': method = 'GET', ':path': path = '/', ':url': url, ...headers } = opened.headers;
  const abort = new AbortController();
  const gate = drainGate();
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = bodyOf(stream);
  stream.receive({
    data(chunk) {
      if (hasBody) body.push(chunk);
      else stream.release(chunk.byteLength);
    },
    end: () => body.end(),
    reset(_code, reason) {
      abort.abort(new DOMException(reason || 'the caller hung up', 'AbortError'));
      body.fail(new Error(reason));
      gate.open();
    },
    drain: gate.open,
  });
  const respond = async (): Promise<void> => {
    const init: RequestInit & { duplex?: 'half' } = { method, headers, signal: abort.signal };
    if (hasBody) Object.assign(init, { body: body.readable, duplex: 'half' });
    const response = await handler(new Request(url ?? new URL(path, base), init));
    const head: ResponseHead = { status: response.status, headers: Object.fromEntries(response.headers) };
    stream.send(JSON.stringify(head));
    if (response.body && !NO_BODY.has(response.status)) await pump(response.body, stream, gate.wait, abort.signal);
    stream.end();
  };
  respond().catch((error: unknown) => stream.reset(CLOSE.internal, error instanceof Error ? error.message : 'the handler failed'));
}

export interface OutgoingRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array | ReadableStream<Uint8Array>;
  signal: AbortSignal;
}

/** Asks the other side to do an exchange: `kind` names what answers there. Rejects with a `TypeError`, as `fetch` does, when no answer comes. */
export function fetchOver(mux: Mux, opened: Partial<Opening> & { kind: string }, { body, signal }: OutgoingRequest): Promise<Response> {
  signal.throwIfAborted();
  const stream = mux.open(opened);
  const incoming = bodyOf(stream);
  const gate = drainGate();
  return new Promise<Response>((resolve, reject) => {
    let head: ResponseHead | undefined;
    const onabort = (): void => {
      stream.reset(CLOSE.goingAway, 'aborted');
      settle(signal.reason);
    };
    const settle = (error: unknown): void => {
      signal.removeEventListener('abort', onabort);
      gate.open();
      const failure = error instanceof Error ? error : new TypeError(String(error));
      if (head) incoming.fail(failure);
      else reject(failure);
    };
    signal.addEventListener('abort', onabort, { once: true });
    stream.receive({
      data(chunk, _fin, text) {
        if (head) return incoming.push(chunk);
        stream.release(chunk.byteLength);
        if (!text) return stream.reset(CLOSE.protocolError, 'a body came before its head');
        head = responseHead.parse(JSON.parse(new TextDecoder().decode(chunk)));
        resolve(new Response(NO_BODY.has(head.status) ? null : incoming.readable, head));
      },
      end() {
        signal.removeEventListener('abort', onabort);
        if (head) incoming.end();
        else settle(new TypeError('the exchange ended without an answer'));
      },
      reset: (_code, reason) => settle(new TypeError(reason || 'the connection broke off')),
      drain: gate.open,
    });
    if (typeof body === 'string' || body instanceof Uint8Array) {
      stream.send(typeof body === 'string' ? new TextEncoder().encode(body) : body, { fin: false, bulk: true });
      stream.end();
    } else if (body) {
      pump(body, stream, gate.wait, signal).then(
        () => stream.end(),
        (error: unknown) => {
          stream.reset(CLOSE.goingAway, 'the body failed');
          settle(error);
        },
      );
    } else stream.end();
  });
}
