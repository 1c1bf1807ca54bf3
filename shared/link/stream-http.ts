import { formatErrorBody } from '../http/error-body.ts';
import { CLOSE_CODES } from '../rpc/frames.ts';
import { z } from '../rpc/zod.ts';
import { DrainGate, IncomingBody, pump } from './stream-body.ts';
import type { Opening } from './hello.ts';
import type { Mux } from './mux.ts';
import { FORWARD_HEADER, createBypassResponse, isSplicedResponse } from './splice.ts';
import { STREAM_WINDOW_BYTES, type Stream } from './stream.ts';

// One HTTP exchange on one stream: method and path travel in the opening's headers as `:method` and `:path` (`:url` for the way out),
// the body as bulk data, then `end`. The response is one text message with the head, then the body in the same way.

export const responseHead = z.object({
  status: z.number().int().min(200).max(599),
  headers: z.record(z.string(), z.string()),
  /** From the bridge: the response bypasses the host (splice.ts). */
  held: z.boolean().optional(),
  /** From the host: data to append to such a response. */
  spliced: z.boolean().optional(),
});
export type ResponseHead = z.infer<typeof responseHead>;

const NO_BODY_STATUSES = new Set([204, 205, 304]);

/**
 * Answers one exchange with a fetch handler. The request's signal aborts when the caller disconnects. An invalid request is a 400, an
 * exception of the handler a 500 without details (it logs them itself); on the way out (`:url`), where these would pass for the upstream's
 * answers, both reset the stream with the reason. So does a body that fails midway.
 */
export function serveHttp(stream: Stream, opening: Opening, base: string, handler: (request: Request) => Promise<Response>): void {
  const { ':method': method = 'GET', ':path': path = '/', ':url': url, ...headers } = opening.headers;
  const disconnect = new AbortController();
  const gate = new DrainGate();
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = new IncomingBody(stream, () => {});
  if (!hasBody) body.discard();
  stream.receive({
    data: (chunk) => body.push(chunk),
    end: () => body.end(),
    reset(code, reason) {
      // The client did not leave: the handler continues only to record usage.
      if (code === CLOSE_CODES.spliced) return gate.open();
      const error = new DOMException(reason || 'the client disconnected', 'AbortError');
      disconnect.abort(error);
      body.fail(error);
      gate.open();
    },
    drain: gate.open,
  });

  const callHandler = async (): Promise<Response> => {
    // Data of the same message as the opening is available after this.
    await undefined;
    const init: RequestInit & { duplex?: 'half' } = { method, headers, signal: disconnect.signal };
    if (hasBody) Object.assign(init, { body: body.consume(), duplex: 'half' });
    if (url !== undefined) return handler(new Request(url, init));
    let request: Request;
    try {
      request = new Request(toRequestUrl(path, base), init);
    } catch {
      body.discard();
      return toErrorResponse(400, 'invalid_request_error', 'The request has an invalid method, path or header.');
    }
    try {
      return await handler(request);
    } catch {
      return toErrorResponse(500, 'api_error', 'The gateway failed to respond.');
    }
  };

  const respond = async (): Promise<void> => {
    const response = await callHandler();
    const head: ResponseHead = { status: response.status, headers: Object.fromEntries(response.headers) };
    if (isSplicedResponse(response)) head.spliced = true;
    // Bulk like its body, which it need not precede in time.
    stream.send(JSON.stringify(head), { bulk: true });
    if (response.body) {
      if (method === 'HEAD' || NO_BODY_STATUSES.has(head.status)) void response.body.cancel().catch(() => {});
      else await pump(response.body, stream, gate, disconnect.signal);
    }
    stream.end();
  };
  respond().catch((error: unknown) => stream.reset(CLOSE_CODES.internal, error instanceof Error ? error.message : 'the body failed'));
}

/** Concatenates strings: resolved as a relative URL, `//elsewhere` would name another host. */
function toRequestUrl(path: string, base: string): URL {
  if (!path.startsWith('/')) throw new TypeError('the path must start with a slash');
  return new URL(new URL(base).origin + path);
}

const toErrorResponse = (status: number, type: string, message: string): Response =>
  Response.json(formatErrorBody(type, message), { status });

/** The other side or the link ended an exchange early. `code`: a close code. */
export class ExchangeReset extends TypeError {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface OutgoingRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array | ReadableStream<Uint8Array>;
  signal: AbortSignal;
}

/**
 * Sends an exchange to the other side: `kind` names its handler. Rejects with a `TypeError`, like `fetch`, if there is no answer, and with
 * the signal's reason if it aborts. Once the answer is complete, the rest of the request's body is not sent.
 */
export async function fetchOverStream(
  mux: Pick<Mux, 'open'>,
  opening: Partial<Opening> & { kind: string },
  request: OutgoingRequest,
): Promise<Response> {
  const { method, body, signal } = request;
  signal.throwIfAborted();
  const headers: Record<string, string> = {
    ...opening.headers,
    ...request.headers,
    ...(method === undefined ? {} : { ':method': method }),
  };
  const stream = mux.open({ ...opening, headers });
  const gate = new DrainGate();
  const requestBodyAbort = new AbortController();
  const responseDeferred = Promise.withResolvers<Response>();
  const head = new HeadReader();
  let respond = (): void => {};

  const stop = (): void => {
    signal.removeEventListener('abort', onabort);
    requestBodyAbort.abort();
    gate.open();
  };
  const incoming = new IncomingBody(stream, () => {
    stream.reset(CLOSE_CODES.goingAway, 'the client disconnected');
    stop();
  });
  const fail = (error: unknown): void => {
    stop();
    incoming.fail(error);
    respond();
    responseDeferred.reject(error);
  };
  const abort = (code: number, reason: string, error: unknown): void => {
    stream.reset(code, reason);
    fail(error);
  };
  const failInvalidHead = (cause: unknown): void =>
    abort(CLOSE_CODES.protocolError, 'the head is invalid', new TypeError('the response is invalid', { cause }));
  const onabort = (): void => abort(CLOSE_CODES.goingAway, 'aborted', signal.reason);

  signal.addEventListener('abort', onabort, { once: true });
  stream.receive({
    data(chunk, fin, text) {
      if (head.complete) return incoming.push(chunk);
      stream.release(chunk.byteLength);
      try {
        const parsedHead = head.read(chunk, fin, text);
        if (!parsedHead) return;
        const hasNoBody = method === 'HEAD' || NO_BODY_STATUSES.has(parsedHead.status);
        if (hasNoBody) incoming.discard();
        const isBypass = parsedHead.held === true && headers[FORWARD_HEADER] !== undefined;
        respond = () => {
          respond = () => {};
          try {
            const body = hasNoBody ? null : incoming.consume();
            responseDeferred.resolve(isBypass ? createBypassResponse(body, parsedHead) : new Response(body, parsedHead));
          } catch (error) {
            failInvalidHead(error);
          }
        };
        // The body may have arrived in the same message.
        queueMicrotask(() => respond());
      } catch (error) {
        failInvalidHead(error);
      }
    },
    end() {
      if (!head.complete)
        return abort(CLOSE_CODES.protocolError, 'the head is missing', new TypeError('the exchange ended without a response'));
      incoming.end();
      stop();
      stream.reset(CLOSE_CODES.normal, 'answered');
    },
    reset: (code, reason) => fail(new ExchangeReset(code, reason || 'the connection was lost')),
    drain: gate.open,
  });

  if (body instanceof ReadableStream) {
    pump(body, stream, gate, requestBodyAbort.signal).then(
      () => stream.end(),
      (error: unknown) => requestBodyAbort.signal.aborted || abort(CLOSE_CODES.goingAway, 'the body failed', error),
    );
  } else {
    if (body !== undefined) stream.send(typeof body === 'string' ? new TextEncoder().encode(body) : body, { fin: false, bulk: true });
    stream.end();
  }
  return responseDeferred.promise;
}

/** The first message of an answer: its head, which may come in several chunks. */
class HeadReader {
  complete = false;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #text = '';

  /** The head when it is complete; throws if it is invalid. */
  read(chunk: Uint8Array, fin: boolean, text: boolean): ResponseHead | undefined {
    if (!text) throw new TypeError('received a body before its head');
    this.#text += this.#decoder.decode(chunk, { stream: !fin });
    if (this.#text.length > STREAM_WINDOW_BYTES) throw new TypeError('the head is too large');
    if (!fin) return undefined;
    this.complete = true;
    return responseHead.parse(JSON.parse(this.#text));
  }
}
