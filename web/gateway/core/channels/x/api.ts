import { withoutSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../../clock.ts';
import type { Fetch } from '../../fetch.ts';
import { clockTime } from '../clock-time.ts';
import { askPlatform, type PlatformAnswer, PlatformError } from '../platform.ts';

export const NAME = 'X';
/** Duration of X's rate limits, if the response does not tell the end. */
const LIMITED_MS = 15 * 60_000;
/** Delay after the monthly usage cap is reached, by X's own count: the response does not tell its end. */
const CAPPED_MS = 6 * 3_600_000;

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

interface Asked {
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
  get<T extends z.ZodType>(path: string, query: Record<string, string>, form: T, asked: Asked): Promise<z.output<T>> {
    const search = new URLSearchParams(query);
    return this.#ask(search.size === 0 ? path : `${path}?${search.toString()}`, form, asked);
  }

  /** Sends a POST request. Throws `PlatformError`; `refused` if X will never accept it. */
  post<T extends z.ZodType>(path: string, body: object, form: T, asked: Asked): Promise<z.output<T>> {
    return this.#ask(path, form, asked, JSON.stringify(body));
  }

  async #ask<T extends z.ZodType>(path: string, form: T, { token, signal }: Asked, body?: string): Promise<z.output<T>> {
    const { apiBase, fetch, clock } = this.#deps;
    if (!/^[\x21-\x7e]+$/.test(token)) throw new PlatformError('channels.x.bearerToken is not a valid token.', { undone: true });
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const answer = await askPlatform({ name: NAME, fetch, clock }, `${apiBase}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
    });
    if (answer.status < 200 || answer.status > 299) throw this.#refusal(answer, { token, isPost: body !== undefined });
    const parsed = form.safeParse(answer.json);
    if (parsed.success) return parsed.data;
    // X also responds with 200 if something is not found.
    const said = saidIn(answer, token);
    throw new PlatformError(said === '' ? `${NAME} sent an unexpected response (${answer.status}).` : `${NAME}: ${said}`, {
      status: answer.status,
    });
  }

  #refusal(answer: PlatformAnswer, { token, isPost }: { token: string; isPost: boolean }): PlatformError {
    const { status } = answer;
    const said = saidIn(answer, token);
    const options = { status, undone: status < 500 || status === 503 };
    switch (true) {
      case status === 429: {
        const retryAfterMs = this.#limitedFor(answer, said);
        const until = new Date(this.#deps.clock.now() + retryAfterMs);
        return new PlatformError(`${NAME} is limiting requests until ${clockTime(until.getTime())}${said === '' ? '' : ` (${said})`}.`, {
          ...options,
          retryAfterMs,
        });
      }
      case status === 401:
        return new PlatformError(`${NAME} rejected the token (401)${said === '' ? '.' : `: ${said}`}`, options);
      case status === 403 && /unsupported authentication|oauth 2\.0 application-only|not permitted to use OAuth2/i.test(said):
        return new PlatformError(
          `${NAME} requires authorization by the account for this; an app’s bearer token is not enough. Authorize the account in Channels (channels.authorize).`,
          options,
        );
      case status === 403 && /duplicate/i.test(said):
        return new PlatformError(`${NAME} already has this post (403).`, { status });
      default:
        return new PlatformError(`${NAME} failed (${status})${said === '' ? '.' : `: ${said}`}`, {
          ...options,
          refused: isPost && (status === 400 || status === 403 || status === 404),
        });
    }
  }

  /** Milliseconds until the rate limit ends according to the response, by X's clock if it sends one, with an upper bound. */
  #limitedFor(answer: PlatformAnswer, said: string): number {
    if (/usage ?cap/i.test(said)) return CAPPED_MS;
    const reset = Number(answer.header('x-rate-limit-reset'));
    if (!Number.isFinite(reset) || reset <= 0) return LIMITED_MS;
    return Math.min(24 * 3_600_000, Math.max(1_000, reset * 1000 - this.#deps.clock.now()));
  }
}

/** X's description of an error, without the token. */
function saidIn({ json }: PlatformAnswer, token: string): string {
  const parsed = problem.safeParse(json);
  if (!parsed.success) return '';
  const { title, detail, errors = [] } = parsed.data;
  const said = detail ?? errors[0]?.detail ?? errors[0]?.message ?? title ?? '';
  return withoutSecret(`${title !== undefined && said !== title ? `${title}: ` : ''}${said}`, token).slice(0, 300);
}
