import { toClause } from '#shared/clause.ts';
import { SseOverload, SseTooLarge } from '#shared/http/sse.ts';
import { parseJson as parsed } from '#shared/parse-json.ts';
import type { Edit, Forward } from '#shared/link/splice.ts';
import { withoutCutSecret } from '#shared/redact.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '../clock.ts';
import { BridgeAway, type Fetch, type FetchInit, FetchRefused, type Forwarding, unreachedBecause } from '../fetch.ts';
import { Breaker } from './breaker.ts';
import { jsonBody } from './json-body.ts';
import { brokeOff, overloaded, tooLarge, wentSilent } from './chunk.ts';
import { statusError } from './openai-errors.ts';
import { ProviderError } from './provider.ts';
import { readText } from './upstream-body.ts';
import { abortable, Watchdog } from './watchdog.ts';

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
  /** Default: `UPSTREAM_LIMITS`. */
  limits?: (() => UpstreamLimits) | undefined;
  /** Counts its server's failures; default: a new one. */
  breaker?: Breaker | undefined;
}

/** A request whose answer the bridge may send to its caller directly. */
export interface Passing {
  forward: Forwarding;
  /** Edits that turn the caller's body into this one; undefined if that is not possible. */
  editsFor(body: Record<string, unknown>): Edit[] | undefined;
  /** For how long similar requests may be sent like this body; undefined if they may not. */
  standingFor(body: Record<string, unknown>): Forward['standing'];
}

/** Vendor-specific HTTP details. */
export interface Dialect {
  /** Headers of every request; the key goes here, never into a URL. */
  headers(apiKey: string | undefined): Record<string, string>;
  /** Converts an unsuccessful response to an error. */
  failure?: typeof statusError;
}

const ERROR_BODY_LIMIT = 64 * 1024;

/** Sends requests to one provider: headers, time-outs, and errors with the provider's name. */
export class UpstreamHttp {
  readonly name: string;
  readonly baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #dialect: Dialect;
  readonly #limits: () => UpstreamLimits;
  readonly #breaker: Breaker;

  constructor(options: UpstreamOptions, dialect: Dialect) {
    this.name = options.name;
    this.baseUrl = options.baseUrl.trim().replace(/\/+$/, '');
    this.#limits = options.limits ?? (() => UPSTREAM_LIMITS);
    this.#breaker = options.breaker ?? new Breaker(options.name, options.clock, this.#limits);
    this.#apiKey = options.apiKey || undefined;
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#dialect = dialect;
  }

  get idleMs(): number {
    return this.#limits().idleMs;
  }

  /** A signal that follows the caller's and fires after a silence. `whole`: nothing arrives before the complete answer. */
  watch(signal: AbortSignal, whole = false): Watchdog {
    const { firstByteMs, wholeMs } = this.#limits();
    return new Watchdog(this.#clock, whole ? wholeMs : firstByteMs, signal, (ms) => wentSilent(this.name, ms));
  }

  /** Runs `work` under a watchdog. Throws the signal's reason, or a `ProviderError`. */
  async watched<T>(signal: AbortSignal, work: (watchdog: Watchdog) => Promise<T>, whole = false): Promise<T> {
    const watchdog = this.watch(signal, whole);
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
    passing?: Passing,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    if (body === undefined) return this.#send(path, body, watchdog, passing, headers);
    const attempt = this.#breaker.enter();
    try {
      const response = await this.#send(path, body, watchdog, passing, headers);
      attempt.answered();
      return response;
    } catch (error) {
      // An aborted caller or a lost bridge proves nothing about the server; a time-out does.
      const left = watchdog.signal.aborted && !(error instanceof ProviderError && error.silent);
      const away = error instanceof ProviderError && error.cause instanceof BridgeAway;
      attempt.failed(left || away ? undefined : error);
      throw error;
    }
  }

  async #send(
    path: string,
    body: object | undefined,
    watchdog: Watchdog,
    passing: Passing | undefined,
    more: Record<string, string>,
  ): Promise<Response> {
    const { signal } = watchdog;
    const headers = { accept: 'text/event-stream, application/json', ...this.#dialect.headers(this.#apiKey), ...more };
    let response: Response;
    try {
      const init =
        body === undefined
          ? { headers, signal }
          : body instanceof FormData
            ? { ...(await postedForm(body, headers)), signal }
            : { ...(await posted(body, passing, signal)), headers: { ...JSON_TYPE, ...headers }, signal };
      response = await abortable(this.#fetch(path.startsWith('/') ? this.baseUrl + path : path, init), signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof RpcError || cause instanceof ProviderError) throw cause;
      if (cause instanceof FetchRefused) throw new ProviderError(`Couldn’t send the request to ${this.name}: ${cause.message}`, { cause });
      throw new ProviderError(`Couldn’t reach ${this.name} at ${this.baseUrl}: ${unreachedBecause(cause, this.baseUrl)}.`, {
        retryable: true,
        cause,
      });
    }
    watchdog.limit(this.idleMs);
    if (response.ok) return response;
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      void response.body?.cancel();
      throw new ProviderError(`${this.name} redirects to another URL. Use that URL as the base URL.`);
    }
    const text = await readText(response.body, watchdog, ERROR_BODY_LIMIT, false);
    const error = (this.#dialect.failure ?? statusError)(this.name, response, text, this.#clock.now());
    if (response.status === 404 && path.startsWith('/')) error.message = `${toClause(error.message)}.${this.missingVersion(path)}`;
    throw error;
  }

  /** A sentence with a base URL to try, preceded by a space, if neither the base URL nor `path` has a version; else empty. */
  missingVersion(path: string): string {
    return /\/v\d/.test(new URL(this.baseUrl + path).pathname) ? '' : ` The base URL may need /v1 at the end: ${this.baseUrl}/v1`;
  }

  /** The JSON that a URL returns; undefined if it is not JSON. */
  async json(path: string, watchdog: Watchdog, body?: object, headers?: Record<string, string>): Promise<unknown> {
    return parseJson(await readText((await this.send(path, body, watchdog, undefined, headers)).body, watchdog));
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
    passing?: Passing,
  ): Promise<Response> {
    for (let current = body; ;) {
      try {
        return await this.send(path, current, watchdog, passing);
      } catch (error) {
        const refused = error instanceof ProviderError && (error.status === 400 || error.status === 422);
        const adapted = refused ? adapt(current, error.message) : undefined;
        if (!adapted) throw error;
        current = adapted;
      }
    }
  }

  /** Converts an error of the transport or format to the provider's. */
  explain(error: unknown): unknown {
    if (error instanceof ProviderError) return this.#redacted(error);
    if (error instanceof RpcError) return error;
    if (error instanceof SseTooLarge) return tooLarge(this.name, error);
    if (error instanceof SseOverload) return overloaded(error);
    return brokeOff(this.name, error);
  }

  /** Servers quote keys in their errors, both in responses and in streams. */
  #redacted(error: ProviderError): ProviderError {
    if (this.#apiKey) error.message = withoutCutSecret(error.message, this.#apiKey);
    return error;
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function postedForm(form: FormData, headers: Record<string, string>): Promise<Pick<FetchInit, 'method' | 'bytes' | 'headers'>> {
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { method: 'POST', bytes: new Uint8Array(await encoded.arrayBuffer()), headers: { ...headers, 'content-type': type } };
}

async function posted(
  body: object,
  passing: Passing | undefined,
  signal: AbortSignal,
): Promise<Pick<FetchInit, 'method' | 'body' | 'bytes' | 'forward'>> {
  const sent = { ...body };
  const edits = passing?.editsFor(sent);
  const standing = edits && passing?.standingFor(sent);
  return {
    method: 'POST',
    ...(edits ? {} : await jsonBody(body, signal)),
    ...(passing ? { forward: { ...passing.forward, ...(edits ? { edits } : {}), ...(standing ? { standing } : {}) } } : {}),
  };
}

export function parseJson(text: string): unknown {
  try {
    return parsed(text);
  } catch {
    return undefined;
  }
}
