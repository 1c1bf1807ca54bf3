import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { formatClockTime } from '../clock-time.ts';
import { requestPlatform, type PlatformResponse, PlatformError } from '../platform-request.ts';

export const NAME = 'X';
/** Duration of X's rate limits, if the response does not tell the end. */
const RATE_LIMIT_MS = 15 * 60_000;
/** Delay after the monthly usage cap is reached, by X's own count: the response does not tell its end. */
const USAGE_CAP_MS = 6 * 3_600_000;

/** Id of a post, a person or an event: too large for a JavaScript number. */
export const id = z.string().regex(/^\d{1,25}$/);

const problem = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  errors: z.array(z.object({ message: z.string().optional(), detail: z.string().optional() })).optional(),
});

export interface XApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
}

interface XRequestOptions {
  token: string;
  signal: AbortSignal;
}

/** X's API v2 (https://docs.x.com/x-api). */
export class XApi {
  readonly #deps: XApiDeps;

  constructor(deps: XApiDeps) {
    this.#deps = deps;
  }

  /** Sends a GET request. Throws `PlatformError`. */
  get<T extends z.ZodType>(path: string, query: Record<string, string>, schema: T, options: XRequestOptions): Promise<z.output<T>> {
    const search = new URLSearchParams(query);
    return this.#request(search.size === 0 ? path : `${path}?${search.toString()}`, schema, options);
  }

  /** Sends a POST request. Throws `PlatformError`; `refused` if X will never accept it. */
  post<T extends z.ZodType>(path: string, body: object, schema: T, options: XRequestOptions): Promise<z.output<T>> {
    return this.#request(path, schema, options, JSON.stringify(body));
  }

  async #request<T extends z.ZodType>(path: string, schema: T, { token, signal }: XRequestOptions, body?: string): Promise<z.output<T>> {
    const { apiBase, fetch, clock } = this.#deps;
    if (!/^[\x21-\x7e]+$/.test(token)) throw new PlatformError('channels.x.bearerToken is not a valid token.', { isUnsent: true });
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${apiBase}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
    });
    if (answer.status < 200 || answer.status > 299) throw this.#toError(answer, { token, isPost: body !== undefined });
    const parsed = schema.safeParse(answer.json);
    if (parsed.success) return parsed.data;
    // X also responds with 200 if something is not found.
    const text = getErrorText(answer, token);
    throw new PlatformError(text === '' ? `${NAME} sent an unexpected response (${answer.status}).` : `${NAME}: ${text}`, {
      status: answer.status,
    });
  }

  #toError(answer: PlatformResponse, { token, isPost }: { token: string; isPost: boolean }): PlatformError {
    const { status } = answer;
    const text = getErrorText(answer, token);
    const options = { status, isUnsent: status < 500 || status === 503 };
    switch (true) {
      case status === 429: {
        const retryAfterMs = this.#getRetryDelay(answer, text);
        const until = new Date(this.#deps.clock.now() + retryAfterMs);
        return new PlatformError(
          `${NAME} is limiting requests until ${formatClockTime(until.getTime())}${text === '' ? '' : ` (${text})`}.`,
          {
            ...options,
            retryAfterMs,
          },
        );
      }
      case status === 401:
        return new PlatformError(`${NAME} rejected the token (401)${text === '' ? '.' : `: ${text}`}`, options);
      case status === 403 && /unsupported authentication|oauth 2\.0 application-only|not permitted to use OAuth2/i.test(text):
        return new PlatformError(
          `${NAME} requires authorization by the account for this; an app’s bearer token is not enough. Authorize the account in Channels (channels.authorize).`,
          options,
        );
      case status === 403 && /duplicate/i.test(text):
        return new PlatformError(`${NAME} already has this post (403).`, { status });
      default:
        return new PlatformError(`${NAME} failed (${status})${text === '' ? '.' : `: ${text}`}`, {
          ...options,
          refused: isPost && (status === 400 || status === 403 || status === 404),
        });
    }
  }

  /** Milliseconds until the rate limit ends according to the response, by X's clock if it sends one, with an upper bound. */
  #getRetryDelay(answer: PlatformResponse, text: string): number {
    if (/usage ?cap/i.test(text)) return USAGE_CAP_MS;
    const reset = Number(answer.header('x-rate-limit-reset'));
    if (!Number.isFinite(reset) || reset <= 0) return RATE_LIMIT_MS;
    return Math.min(24 * 3_600_000, Math.max(1_000, reset * 1000 - this.#deps.clock.now()));
  }
}

/** X's description of an error, without the token. */
function getErrorText({ json }: PlatformResponse, token: string): string {
  const parsed = problem.safeParse(json);
  if (!parsed.success) return '';
  const { title, detail, errors = [] } = parsed.data;
  const text = detail ?? errors[0]?.detail ?? errors[0]?.message ?? title ?? '';
  return redactSecret(`${title !== undefined && text !== title ? `${title}: ` : ''}${text}`, token).slice(0, 300);
}
