import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import type { ErrorBody } from '#shared/http/error-body.ts';
import { RESPONSES_PATH } from '#shared/http/responses-socket.ts';
import { SseScanner } from '#shared/http/sse.ts';
import type { Link } from '#shared/link/link.ts';
import { parseJson } from '#shared/parse-json.ts';
import { CLOSE_CODES, hasTooManyTokens } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { badRequest, HttpError } from '../http-error.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { LocalResponses, type SocketTurn } from './local-responses.ts';

/** Maximum age of a connection, as in the Open Responses specification. */
const MAX_AGE_MS = 60 * 60_000;
/** Maximum number of messages waiting for their turn. */
const MAX_WAITING = 16;
/** Unsent bytes above which no more events are read. */
const PAUSE_ABOVE = 1024 * 1024;

const EXPIRED = new HttpError(400, 'invalid_request_error', 'The connection has reached its limit of 60 minutes. Open a new one.', {
  code: 'websocket_connection_limit_reached',
});

const envelope = z.looseObject({
  type: z.string(),
  stream_id: z.string().max(200).nullish(),
  generate: z.boolean().nullish(),
  background: z.boolean().nullish(),
  previous_response_id: z.unknown().optional(),
});

interface Ending {
  code: number;
  reason: string;
  /** Sent before the close. */
  error?: HttpError;
}

interface ResponsesSocketDeps {
  /** Answers `POST /v1/responses`. Never rejects. */
  answer(request: Request, turn: SocketTurn): Promise<Response>;
  /** Headers of the client's upgrade request that apply to each of its requests. */
  headers: Readonly<Record<string, string>>;
  clock: Clock;
  onclose(): void;
}

/**
 * A WebSocket at `/v1/responses` (https://www.openresponses.org/specification, "WebSocket transport"). Each `response.create` is answered
 * with the events that HTTP would stream, one message each. Turns run one after the other. A disconnect ends the current one.
 */
class ResponsesSocket {
  readonly #link: Link<string>;
  readonly #deps: ResponsesSocketDeps;
  readonly #localResponses = new LocalResponses();
  readonly #disconnected = new AbortController();
  #queue: string[] = [];
  #isBusy = false;
  /** How the connection ends once no turn is in progress. */
  #ending: Ending | undefined;
  #drained = Promise.withResolvers<void>();

  constructor(link: Link<string>, deps: ResponsesSocketDeps) {
    this.#link = link;
    this.#deps = deps;
  }

  start(): void {
    const stopTimer = this.#deps.clock.after(MAX_AGE_MS, () => {
      this.#queue = [];
      this.closeWhenIdle({ code: CLOSE_CODES.normal, reason: 'the connection is 60 minutes old', error: EXPIRED });
    });
    this.#link.receive({
      message: (text) => this.#receive(text),
      close: () => {
        stopTimer();
        this.#queue = [];
        this.#disconnected.abort(new DOMException('the client disconnected', 'AbortError'));
        this.#drained.resolve();
        this.#deps.onclose();
      },
      drain: () => {
        this.#drained.resolve();
        this.#drained = Promise.withResolvers<void>();
      },
    });
  }

  /** Closes the connection once its current turn has ended. */
  closeWhenIdle(ending: Ending): void {
    this.#ending ??= ending;
    this.#closeIfIdle();
  }

  /** Cancels `closeWhenIdle` with the same ending. */
  stay(ending: Ending): void {
    if (this.#ending === ending) this.#ending = undefined;
  }

  #closeIfIdle(): void {
    if (!this.#ending || this.#isBusy) return;
    const { code, reason, error } = this.#ending;
    if (error) this.#sendError(error);
    this.#link.close(code, reason);
  }

  #receive(text: string): void {
    if (!this.#isBusy) return void this.#work(text);
    const chars = this.#queue.reduce((sum, { length }) => sum + length, text.length);
    if (this.#queue.length < MAX_WAITING && chars <= MAX_BODY_BYTES) return void this.#queue.push(text);
    const limit = `At most ${MAX_WAITING} requests with ${MAX_BODY_BYTES / 1024 / 1024} MB together can wait on a connection.`;
    this.#sendError(new HttpError(429, 'rate_limited', limit));
  }

  async #work(first: string): Promise<void> {
    this.#isBusy = true;
    for (let text: string | undefined = first; text !== undefined; text = this.#queue.shift()) await this.#handleTurn(text);
    this.#isBusy = false;
    this.#closeIfIdle();
  }

  async #handleTurn(text: string): Promise<void> {
    let streamId: string | undefined;
    let previousId: string | undefined;
    const fail = (error: Sendable): void => {
      // As specified: a client must not rely on state that a failed turn has used.
      if (previousId !== undefined) this.#localResponses.remove(previousId);
      this.#sendError(error, streamId);
    };
    try {
      const { type, stream_id, generate, background, ...body } = readEvent(text);
      streamId = stream_id ?? undefined;
      previousId = typeof body.previous_response_id === 'string' ? body.previous_response_id : undefined;
      if (type !== 'response.create') throw badRequest(`Unknown event type "${type}". Send \`response.create\`.`, 'type');
      if (background) throw badRequest('`background` is not available over a WebSocket. Use HTTP.', 'background');
      const request = new Request(`http://responses.invalid${RESPONSES_PATH}`, {
        method: 'POST',
        headers: { ...this.#deps.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, stream: true }),
        signal: this.#disconnected.signal,
      });
      const response = await this.#deps.answer(request, { earlier: this.#localResponses, generate: generate ?? true });
      if (response.ok && response.body) {
        if (await this.#passOn(response.body, streamId)) return;
        if (previousId !== undefined) this.#localResponses.remove(previousId);
      } else if (!this.#disconnected.signal.aborted) {
        const retryAfter = response.headers.get('retry-after');
        const { error } = (await response.json()) as ErrorBody;
        fail({ status: response.status, error, headers: retryAfter === null ? {} : { 'retry-after': retryAfter } });
      }
    } catch (error) {
      if (this.#disconnected.signal.aborted) return;
      fail(error instanceof HttpError ? error : new HttpError(500, 'api_error', 'The gateway failed to answer.'));
    }
  }

  /** Sends the events of a response. False if it has failed. */
  async #passOn(body: ReadableStream<Uint8Array>, streamId: string | undefined): Promise<boolean> {
    const scanner = new SseScanner(Infinity);
    const reader = body.getReader();
    let isGood = true;
    for (;;) {
      const { done, value } = await reader.read();
      for (const { event, data } of done ? scanner.end() : scanner.push(value)) {
        this.#link.send(withStreamId(data, streamId));
        if (event === 'response.failed') isGood = false;
      }
      if (done || this.#disconnected.signal.aborted) break;
      if (this.#link.buffered > PAUSE_ABOVE) await this.#drained.promise;
    }
    if (this.#disconnected.signal.aborted) void reader.cancel().catch(() => {});
    return isGood;
  }

  #sendError(sendable: Sendable, streamId?: string): void {
    const { status, headers } = sendable;
    const error = sendable instanceof HttpError ? sendable.body().error : sendable.error;
    const more = Object.keys(headers).length > 0 ? { headers } : {};
    this.#link.send(withStreamId(JSON.stringify({ type: 'error', status, error: { ...error, ...more } }), streamId));
  }
}

type Sendable = HttpError | { status: number; error: ErrorBody['error']; headers: Record<string, string> };

/** Parses a message. Throws a 400 or 413. */
function readEvent(text: string): z.output<typeof envelope> {
  if (hasTooManyTokens(text))
    throw new HttpError(413, 'invalid_request_error', 'A message must not have more than 200,000 structural characters.');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw badRequest('The message is not valid JSON, or it is nested too deeply.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('The message must be a JSON object.');
  return parseHttpParams(envelope, value);
}

/** Repeats the client's name for the turn in an event, which is a JSON object. */
const withStreamId = (event: string, streamId: string | undefined): string =>
  streamId === undefined ? event : `{"stream_id":${JSON.stringify(streamId)},${event.slice(1)}`;

/** All WebSockets at `/v1/responses`. */
export class ResponsesSockets {
  readonly #open = new Set<ResponsesSocket>();
  #isServing: boolean;

  /** `serves`: whether this host is active. */
  constructor(isServing: boolean) {
    this.#isServing = isServing;
  }

  accept(link: Link<string>, deps: Omit<ResponsesSocketDeps, 'onclose'>): void {
    const socket = new ResponsesSocket(link, { ...deps, onclose: () => this.#open.delete(socket) });
    this.#open.add(socket);
    socket.start();
    if (!this.#isServing) socket.closeWhenIdle(HANDED_OVER);
  }

  /** If this host is no longer active, connections, present and future, close once they are idle. */
  setServing(isServing: boolean): void {
    this.#isServing = isServing;
    for (const socket of [...this.#open])
      if (isServing) socket.stay(HANDED_OVER);
      else socket.closeWhenIdle(HANDED_OVER);
  }
}

const HANDED_OVER = { code: CLOSE_CODES.handingOver, reason: 'handed over to another host' };
