import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { formatClockTime } from '../clock-time.ts';
import { downloadFromPlatform, PlatformError, type PlatformRequest, type PlatformResponse, requestPlatform } from '../platform-request.ts';

const NAME = 'Matrix';
const CLIENT_PATH = '/_matrix/client/v3';
const DEFAULT_RETRY_MS = 30_000;

const failure = z.object({
  errcode: z.string(),
  error: z.string().catch(''),
  retry_after_ms: z.number().positive().optional().catch(undefined),
});

export interface MatrixApiDeps {
  fetch: Fetch;
  clock: Clock;
  /** Address of the server, without a trailing slash; empty if it is not set. */
  homeserver: string;
  token: string;
}

interface MatrixRequest {
  query?: Record<string, string>;
  body?: object;
  signal: AbortSignal;
  timeoutMs?: number;
}

/** The client-server API of Matrix (https://spec.matrix.org/v1.16/client-server-api/). */
export class MatrixApi {
  readonly #deps: MatrixApiDeps;

  constructor(deps: MatrixApiDeps) {
    this.#deps = deps;
  }

  /** Requests a path below `/_matrix/client/v3`; resolves with the response, parsed by `result`. Throws `PlatformError`. */
  request<T extends z.ZodType>(method: 'GET' | 'POST' | 'PUT', path: string, result: T, request: MatrixRequest): Promise<z.output<T>> {
    const { query, body, ...options } = request;
    const search = query ? `?${new URLSearchParams(query).toString()}` : '';
    const json = body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {};
    return this.#send(`${CLIENT_PATH}${path}${search}`, result, { method, ...json, ...options });
  }

  /** The same, but null if what is asked for does not exist, or is not for the account. */
  async find<T extends z.ZodType>(path: string, result: T, signal: AbortSignal): Promise<z.output<T> | null> {
    try {
      return await this.request('GET', path, result, { signal });
    } catch (error) {
      if (error instanceof PlatformError && error.refused) return null;
      throw error;
    }
  }

  /** Uploads a file; resolves with its `mxc:` address. */
  async upload(
    name: string,
    mimeType: string,
    bytes: Uint8Array<ArrayBuffer>,
    options: Pick<MatrixRequest, 'signal' | 'timeoutMs'>,
  ): Promise<string> {
    const path = `/_matrix/media/v3/upload?${new URLSearchParams({ filename: name }).toString()}`;
    const result = z.object({ content_uri: z.string().startsWith('mxc://') });
    const request = { method: 'POST' as const, headers: { 'content-type': mimeType }, bytes, ...options };
    return (await this.#send(path, result, request)).content_uri;
  }

  /** Downloads the file with an `mxc:` address. */
  async download(address: string, maxBytes: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const [, server = '', media = ''] = /^mxc:\/\/([^/]+)\/([\w-]+)$/.exec(address) ?? [];
    if (media === '') throw new PlatformError('The address of the file is invalid.', { refused: true });
    const file = `download/${encodeURIComponent(server)}/${media}`;
    const { homeserver, fetch, clock } = this.#deps;
    const get = (path: string) =>
      downloadFromPlatform({ name: NAME, fetch, clock }, `${homeserver}${path}`, { headers: this.#headers(), maxBytes, signal });
    try {
      return await get(`/_matrix/client/v1/media/${file}`);
    } catch (error) {
      // Servers older than Matrix 1.11.
      if (error instanceof PlatformError && error.status === 404) return get(`/_matrix/media/v3/${file}`);
      throw error;
    }
  }

  #headers(): Record<string, string> {
    const { token } = this.#deps;
    if (!/^[\x21-\x7e]+$/.test(token)) throw new PlatformError('channels.matrix.accessToken is not a valid token.', { isUnsent: true });
    return { authorization: `Bearer ${token}` };
  }

  async #send<T extends z.ZodType>(path: string, result: T, request: PlatformRequest): Promise<z.output<T>> {
    const { homeserver, fetch, clock } = this.#deps;
    if (homeserver === '') throw new PlatformError('channels.matrix.homeserver is not set.', { isUnsent: true });
    const headers = { ...this.#headers(), ...request.headers };
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${homeserver}${path}`, { ...request, headers });
    if (answer.status !== 200) throw this.#toError(answer);
    const parsed = result.safeParse(answer.json);
    if (!parsed.success) throw new PlatformError(`${NAME} sent an unexpected response (${answer.status}).`, { status: answer.status });
    return parsed.data;
  }

  #toError({ status, json, header }: PlatformResponse): PlatformError {
    const parsed = failure.safeParse(json);
    // An error page of a proxy: only with these statuses the request was certainly not passed on.
    if (!parsed.success)
      return new PlatformError(
        status === 404
          ? `There is no Matrix server at channels.matrix.homeserver (404).`
          : `${NAME} sent an unexpected response (${status}).`,
        { status, isUnsent: status === 503 || (status >= 400 && status < 500) },
      );
    const { errcode, error, retry_after_ms } = parsed.data;
    const text = redactSecret(error, this.#deps.token).slice(0, 300);
    const options = { status, isUnsent: status < 500 };
    if (status === 429) {
      const retryAfterMs = retry_after_ms ?? (Number(header('retry-after')) * 1000 || DEFAULT_RETRY_MS);
      const until = formatClockTime(this.#deps.clock.now() + retryAfterMs);
      return new PlatformError(`${NAME} is limiting requests until ${until}.`, { ...options, retryAfterMs });
    }
    if (status === 401)
      return new PlatformError(
        `${NAME} rejected channels.matrix.accessToken (${errcode}: ${text}). Sign in again and copy a new token.`,
        options,
      );
    return new PlatformError(`${NAME} rejected the request (${status} ${errcode}: ${text}).`, {
      ...options,
      refused: status === 403 || status === 404 || status === 413 || errcode === 'M_TOO_LARGE',
    });
  }
}
