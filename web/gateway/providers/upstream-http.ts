import { toClause } from '#shared/clause.ts';
import { SseOverload, SseTooLarge } from '#shared/http/sse-errors.ts';
import { parseJson as parsed } from '#shared/parse-json.ts';
import type { BodyEdit, ForwardRequest } from '#shared/link/splice.ts';
import { redactTruncatedSecret } from '#shared/redact.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '#shared/async/clock.ts';
import {
  BridgeUnavailableError,
  type Fetch,
  type FetchInit,
  FetchRefusedError,
  type ForwardOptions,
  explainUnreachable,
} from '../ports/fetch.ts';
import { RequestBreaker } from './request-breaker.ts';
import { serializeJsonBody } from './serialize-json-body.ts';
import { createInterruptedError, createOverloadError, createTooLargeError, createIdleError } from './chunk.ts';
import { toStatusError } from './upstream-errors.ts';
import { ProviderError } from './provider.ts';
import { readBodyText } from './upstream-body.ts';
import { abortable, Watchdog } from '#shared/async/watchdog.ts';

/** Options common to all HTTP providers. */
export interface UpstreamOptions {
  id: string;
  /** Display name in errors and lists. */
  name: string;
  /** Including the version path, such as `http://127.0.0.1:11434/v1`. */
  baseUrl: string;
  /** Omitted for servers that need none. */
  apiKey?: string | undefined;
  fetch: Fetch;
  clock: Clock;
  /** Default: `DEFAULT_UPSTREAM_LIMITS`. */
  limits?: (() => UpstreamLimits) | undefined;
  /** Counts its server's failures; default: a new one. */
  breaker?: RequestBreaker | undefined;
}

/** A request whose answer the bridge may send to its caller directly. */
export interface PassthroughOptions {
  forward: ForwardOptions;
  /** Edits that turn the caller's body into this one; undefined if that is not possible. */
  getEdits(body: Record<string, unknown>): BodyEdit[] | undefined;
  /** For how long similar requests may be sent like this body; undefined if they may not. */
  getCachedRoute(body: Record<string, unknown>): ForwardRequest['standing'];
}

/** Vendor-specific HTTP details. */
interface ProviderDialect {
  /** Headers of every request; the key goes here, never into a URL. */
  headers(apiKey: string | undefined): Record<string, string>;
  /** Converts an unsuccessful response to an error. */
  failure?: typeof toStatusError;
}

const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Sends requests to one provider: headers, time-outs, and errors with the provider's name. */
export class UpstreamHttp {
  readonly name: string;
  readonly baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #dialect: ProviderDialect;
  readonly #limits: () => UpstreamLimits;
  readonly #breaker: RequestBreaker;

  constructor(options: UpstreamOptions, dialect: ProviderDialect) {
    this.name = options.name;
    this.baseUrl = options.baseUrl.trim().replace(/\/+$/, '');
    this.#limits = options.limits ?? (() => DEFAULT_UPSTREAM_LIMITS);
    this.#breaker = options.breaker ?? new RequestBreaker(options.name, options.clock, this.#limits);
    this.#apiKey = options.apiKey || undefined;
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#dialect = dialect;
  }

  get idleMs(): number {
    return this.#limits().idleMs;
  }

  /** A signal that follows the caller's and fires after a silence. `isBuffered`: nothing arrives before the complete answer. */
  createWatchdog(signal: AbortSignal, isBuffered = false): Watchdog {
    const { firstByteMs, wholeMs } = this.#limits();
    return new Watchdog(this.#clock, isBuffered ? wholeMs : firstByteMs, signal, (ms) => createIdleError(this.name, ms));
  }

  /** Runs `work` under a watchdog. Throws the signal's reason, or a `ProviderError`. */
  async withWatchdog<T>(signal: AbortSignal, work: (watchdog: Watchdog) => Promise<T>, isBuffered = false): Promise<T> {
    const watchdog = this.createWatchdog(signal, isBuffered);
    try {
      return await work(watchdog);
    } catch (error) {
      signal.throwIfAborted();
      throw this.explain(error);
    } finally {
      watchdog.stop();
    }
  }

  /**
   * Sends a request and resolves with a successful response. Rejects with `ProviderError`. `path`: relative to the base URL, or a whole
   * URL. A request with a body counts for the breaker, which pauses a server that fails repeatedly.
   */
  async send(
    path: string,
    body: object | undefined,
    watchdog: Watchdog,
    passthrough?: PassthroughOptions,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    if (body === undefined) return this.#send(path, body, watchdog, passthrough, headers);
    const attempt = this.#breaker.begin();
    try {
      const response = await this.#send(path, body, watchdog, passthrough, headers);
      attempt.succeed();
      return response;
    } catch (error) {
      // An aborted caller or a lost bridge proves nothing about the server; a time-out does.
      const isAborted = watchdog.signal.aborted && !(error instanceof ProviderError && error.silent);
      const isBridgeAway = error instanceof ProviderError && error.cause instanceof BridgeUnavailableError;
      attempt.fail(isAborted || isBridgeAway ? undefined : error);
      throw error;
    }
  }

  async #send(
    path: string,
    body: object | undefined,
    watchdog: Watchdog,
    passthrough: PassthroughOptions | undefined,
    extraHeaders: Record<string, string>,
  ): Promise<Response> {
    const { signal } = watchdog;
    const headers = { accept: 'text/event-stream, application/json', ...this.#dialect.headers(this.#apiKey), ...extraHeaders };
    let response: Response;
    try {
      const init =
        body === undefined
          ? { headers, signal }
          : body instanceof FormData
            ? { ...(await createFormInit(body, headers)), signal }
            : { ...(await createPostInit(body, passthrough, signal)), headers: { ...JSON_TYPE, ...headers }, signal };
      response = await abortable(this.#fetch(path.startsWith('/') ? this.baseUrl + path : path, init), signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof RpcError || cause instanceof ProviderError) throw cause;
      if (cause instanceof FetchRefusedError)
        throw new ProviderError(`Couldn’t send the request to ${this.name}: ${cause.message}`, { cause });
      throw new ProviderError(`Couldn’t reach ${this.name} at ${this.baseUrl}: ${explainUnreachable(cause, this.baseUrl)}.`, {
        retryable: true,
        cause,
      });
    }
    watchdog.setLimit(this.idleMs);
    if (response.ok) return response;
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      void response.body?.cancel();
      throw new ProviderError(`${this.name} redirects to another URL. Use that URL as the base URL.`);
    }
    const text = await readBodyText(response.body, watchdog, MAX_ERROR_BODY_BYTES, false);
    const error = (this.#dialect.failure ?? toStatusError)(this.name, response, text, this.#clock.now());
    if (response.status === 404 && path.startsWith('/')) error.message = `${toClause(error.message)}.${this.getVersionHint(path)}`;
    throw error;
  }

  /** A sentence with a base URL to try, preceded by a space, if neither the base URL nor `path` has a version; else empty. */
  getVersionHint(path: string): string {
    return /\/v\d/.test(new URL(this.baseUrl + path).pathname) ? '' : ` The base URL may need /v1 at the end: ${this.baseUrl}/v1`;
  }

  /** The JSON that a URL returns; undefined if it is not JSON. */
  async json(path: string, watchdog: Watchdog, body?: object, headers?: Record<string, string>): Promise<unknown> {
    return parseJson(await readBodyText((await this.send(path, body, watchdog, undefined, headers)).body, watchdog));
  }

  /**
   * Sends a body, and again without the parts that the server rejects: `adapt` returns that version, or undefined if the refusal has
   * another reason. Each version is smaller, so this terminates.
   */
  async sendAdapted(
    path: string,
    body: Record<string, unknown>,
    watchdog: Watchdog,
    adapt: (body: Record<string, unknown>, refusal: string) => Record<string, unknown> | undefined,
    passthrough?: PassthroughOptions,
  ): Promise<Response> {
    for (let current = body; ;) {
      try {
        return await this.send(path, current, watchdog, passthrough);
      } catch (error) {
        const isRejected = error instanceof ProviderError && (error.status === 400 || error.status === 422);
        const adaptedBody = isRejected ? adapt(current, error.message) : undefined;
        if (!adaptedBody) throw error;
        current = adaptedBody;
      }
    }
  }

  /** Converts an error of the transport or format to the provider's. */
  explain(error: unknown): unknown {
    if (error instanceof ProviderError) return this.#redact(error);
    if (error instanceof RpcError) return error;
    if (error instanceof SseTooLarge) return createTooLargeError(this.name, error);
    if (error instanceof SseOverload) return createOverloadError(error);
    return createInterruptedError(this.name, error);
  }

  /** Servers quote keys in their errors, both in responses and in streams. */
  #redact(error: ProviderError): ProviderError {
    if (this.#apiKey) error.message = redactTruncatedSecret(error.message, this.#apiKey);
    return error;
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function createFormInit(form: FormData, headers: Record<string, string>): Promise<Pick<FetchInit, 'method' | 'bytes' | 'headers'>> {
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { method: 'POST', bytes: new Uint8Array(await encoded.arrayBuffer()), headers: { ...headers, 'content-type': type } };
}

async function createPostInit(
  body: object,
  passthrough: PassthroughOptions | undefined,
  signal: AbortSignal,
): Promise<Pick<FetchInit, 'method' | 'body' | 'bytes' | 'forward'>> {
  const sentBody = { ...body };
  const edits = passthrough?.getEdits(sentBody);
  const cachedRoute = edits && passthrough?.getCachedRoute(sentBody);
  return {
    method: 'POST',
    ...(edits ? {} : await serializeJsonBody(body, signal)),
    ...(passthrough
      ? { forward: { ...passthrough.forward, ...(edits ? { edits } : {}), ...(cachedRoute ? { standing: cachedRoute } : {}) } }
      : {}),
  };
}

export function parseJson(text: string): unknown {
  try {
    return parsed(text);
  } catch {
    return undefined;
  }
}
