import type { Clock } from '#shared/async/clock.ts';
import { type Fetch, FetchRefusedError } from '../../ports/fetch.ts';
import { ProviderError } from '../../providers/provider.ts';
import { parseJson } from '../../providers/upstream-http.ts';
import { readBodyText, readChunks } from '../../providers/upstream-body.ts';
import { Watchdog, withTimeout } from '#shared/async/watchdog.ts';

/** Maximum size of a response: a hundred messages have far less. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const RESPONSE_TIMEOUT_MS = 30_000;
/** Errors after which certainly nothing was sent. */
const UNREACHABLE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|could not be resolved/;

interface PlatformErrorOptions extends ErrorOptions {
  status?: number;
  /** Time that the platform asks to wait, in milliseconds. */
  retryAfterMs?: number;
  /** Whether the request was certainly not carried out. */
  isUnsent?: boolean;
  /** Whether the platform will never accept the request. */
  refused?: boolean;
}

/** An error or refusal of a platform, with a message for people that never contains an address with a token. */
export class PlatformError extends Error {
  override name = 'PlatformError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isUnsent: boolean;
  readonly refused: boolean;

  constructor(message: string, { status, retryAfterMs, isUnsent = false, refused = false, ...options }: PlatformErrorOptions = {}) {
    super(message, options);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isUnsent = isUnsent;
    this.refused = refused;
  }
}

export interface PlatformRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Origin of the configured server that gave this address, if it is another one's. */
  namedBy?: string;
  headers?: Record<string, string>;
  body?: string;
  bytes?: Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
  /** Time limit for the complete response, in milliseconds. */
  timeoutMs?: number;
}

export interface PlatformResponse {
  status: number;
  header(name: string): string | null;
  text: string;
  /** Undefined if it is not JSON. */
  json: unknown;
}

/**
 * Sends one request to a platform. Resolves with a response of any status; throws `PlatformError` if none arrives, or it is cut off or too
 * large.
 */
export const requestPlatform = (platform: Platform, url: string, request: PlatformRequest): Promise<PlatformResponse> =>
  exchange(platform, url, request, async ({ status, headers, body }, watchdog) => {
    const text = await readBodyText(body, watchdog, MAX_RESPONSE_BYTES);
    return { status, header: (headerName) => headers.get(headerName), text, json: parseJson(text) };
  });

/** Downloads a file of at most `maxBytes` from a platform. Throws `PlatformError`, also for a status other than 200. */
export const downloadFromPlatform = (
  platform: Platform,
  url: string,
  request: PlatformRequest & { maxBytes: number },
): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> =>
  exchange(platform, url, request, async ({ status, headers, body }, watchdog) => {
    if (status !== 200) {
      void body?.cancel().catch(() => {});
      throw new PlatformError(`${platform.name} did not send the file (${status}).`, { status, refused: status >= 400 && status < 429 });
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of readChunks(body, watchdog)) {
      size += chunk.length;
      if (size > request.maxBytes)
        throw new PlatformError(`The file is larger than ${Math.floor(request.maxBytes / 1024 / 1024)} MB.`, { refused: true });
      chunks.push(chunk);
    }
    const bytes = new Uint8Array(size);
    let offset = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, offset);
      offset += chunk.length;
    }
    return { bytes, mimeType: headers.get('content-type')?.split(';')[0]?.trim() ?? 'application/octet-stream' };
  });

interface Platform {
  name: string;
  fetch: Fetch;
  clock: Clock;
}

async function exchange<T>(
  { name, fetch, clock }: Platform,
  url: string,
  { signal, timeoutMs = RESPONSE_TIMEOUT_MS, ...init }: PlatformRequest,
  read: (response: Response, watchdog: Watchdog) => Promise<T>,
): Promise<T> {
  try {
    return await withTimeout(clock, timeoutMs, signal, async (ends) => {
      const response = await fetch(url, { ...init, signal: ends });
      if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
        void response.body?.cancel().catch(() => {});
        throw new PlatformError(`${name} sent a redirect, which is not followed.`, { status: response.status });
      }
      const watchdog = new Watchdog(clock, timeoutMs, ends, () => new DOMException('silent', 'TimeoutError'));
      try {
        return await read(response, watchdog);
      } finally {
        watchdog.stop();
      }
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw toPlatformError(name, cause, timeoutMs);
  }
}

/** Network errors contain hosts, not whole addresses; still only known phrases are passed on. */
function toPlatformError(name: string, cause: unknown, timeoutMs: number): PlatformError {
  if (cause instanceof PlatformError) return cause;
  if (cause instanceof FetchRefusedError)
    return new PlatformError(`Couldn’t send the request to ${name}: ${cause.message}`, { cause, isUnsent: true });
  if (cause instanceof ProviderError)
    return new PlatformError(`${name} sent a response larger than ${MAX_RESPONSE_BYTES} bytes.`, { refused: true });
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return new PlatformError(`${name} did not respond within ${timeoutMs / 1000} s.`);
  const isUnsent = UNREACHABLE.test(getErrorText(cause));
  return new PlatformError(isUnsent ? `Couldn’t reach ${name}.` : `The connection to ${name} was lost.`, { isUnsent });
}

/** Messages of an error and its causes. */
function getErrorText(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return '';
  const code = 'code' in error ? String(error.code) : '';
  return `${error.message} ${code} ${getErrorText(error.cause, depth + 1)}`;
}
