import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { toBase64 } from '#shared/base64.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { parseJson } from '../../../providers/upstream-http.ts';
import { formatClockTime } from '../clock-time.ts';
import { downloadFromPlatform, PlatformError, type PlatformRequest, type PlatformResponse, requestPlatform } from '../platform-request.ts';

const NAME = 'ntfy';
const DEFAULT_RETRY_S = 60;

const failure = z.object({ error: z.string().catch('') });
const ntfyEvent = z.object({
  id: z.string().regex(/^[\w-]{1,64}$/),
  /** Seconds since 1970. */
  time: z.number(),
  event: z.string(),
  title: z.string().optional().catch(undefined),
  message: z.string().catch(''),
  sequence_id: z.string().optional().catch(undefined),
  attachment: z
    .object({
      name: z.string().catch('file'),
      type: z.string().catch('application/octet-stream'),
      size: z.number().int().nonnegative().optional().catch(undefined),
      url: z.url(),
    })
    .optional()
    .catch(undefined),
});
export type NtfyEvent = z.infer<typeof ntfyEvent>;

export const TOPIC = /^[\w-]{1,64}$/;

/** A message of a topic, from one line of a subscription; undefined if it is something else. */
export function parseNtfyEvent(line: string): NtfyEvent | undefined {
  const { data } = ntfyEvent.safeParse(parseJson(line));
  return data?.event === 'message' ? data : undefined;
}

export interface NtfyApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
  /** Empty if the topics are open to everybody. */
  token: string;
}

/** The HTTP API of a ntfy server (https://docs.ntfy.sh/publish, https://docs.ntfy.sh/subscribe/api). */
export class NtfyApi {
  readonly #deps: NtfyApiDeps;

  constructor(deps: NtfyApiDeps) {
    this.#deps = deps;
  }

  /** Publishes a message; resolves with its id. Throws `PlatformError`. */
  async publish(message: { topic: string; message: string; sequence_id: string }, signal: AbortSignal): Promise<string> {
    const headers = { ...this.#headers(), 'content-type': 'application/json' };
    const answer = await this.#request('/', { method: 'POST', headers, body: JSON.stringify({ ...message, markdown: true }), signal });
    return this.#readId(answer);
  }

  async publishFile(topic: string, name: string, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal, timeoutMs: number): Promise<void> {
    const query = new URLSearchParams({ filename: name }).toString();
    this.#readId(await this.#request(`/${topic}?${query}`, { method: 'PUT', headers: this.#headers(), bytes, signal, timeoutMs }));
  }

  /** Stored messages of a topic since a time, in seconds since 1970. */
  async list(topic: string, since: number, signal: AbortSignal): Promise<NtfyEvent[]> {
    const { text } = await this.#request(`/${topic}/json?poll=1&since=${Math.floor(since)}`, { headers: this.#headers(), signal });
    return text.split('\n').flatMap((line) => parseNtfyEvent(line) ?? []);
  }

  async checkHealth(signal: AbortSignal): Promise<void> {
    const { json } = await this.#request('/v1/health', { headers: this.#headers(), signal });
    if (!z.object({ healthy: z.literal(true) }).safeParse(json).success)
      throw new PlatformError('There is no ntfy server at channels.ntfy.apiBase.');
  }

  /** Address of a lasting subscription. A browser cannot send headers with it. */
  getSocketUrl(topic: string, since: number): string {
    const { apiBase, token } = this.#deps;
    const auth: Record<string, string> =
      token === '' ? {} : { auth: toBase64(new TextEncoder().encode(`Bearer ${token}`)).replace(/=+$/, '') };
    const query = new URLSearchParams({ since: `${Math.floor(since)}`, ...auth }).toString();
    return `${apiBase.replace(/^http/, 'ws')}/${topic}/ws?${query}`;
  }

  /** Whether a file is stored on the server itself. */
  isOwnFile = (url: string): boolean => URL.parse(url)?.origin === new URL(this.#deps.apiBase).origin;

  download(url: string, maxBytes: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const { fetch, clock } = this.#deps;
    if (!this.isOwnFile(url)) throw new PlatformError('The file is on another server.', { refused: true });
    return downloadFromPlatform({ name: NAME, fetch, clock }, url, { headers: this.#headers(), maxBytes, signal });
  }

  #headers(): Record<string, string> {
    const { token } = this.#deps;
    if (token === '') return {};
    if (!/^[\x21-\x7e]+$/.test(token)) throw new PlatformError('channels.ntfy.accessToken is not a valid token.', { isUnsent: true });
    return { authorization: `Bearer ${token}` };
  }

  #readId({ json }: PlatformResponse): string {
    const { data } = z.object({ id: z.string() }).safeParse(json);
    if (!data) throw new PlatformError(`${NAME} sent an unexpected response.`);
    return data.id;
  }

  async #request(path: string, request: PlatformRequest): Promise<PlatformResponse> {
    const { fetch, clock, apiBase } = this.#deps;
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${apiBase}${path}`, request);
    if (answer.status !== 200) throw this.#toError(answer);
    return answer;
  }

  #toError({ status, json, header }: PlatformResponse): PlatformError {
    const { clock, token } = this.#deps;
    const options = { status, isUnsent: status < 500 };
    if (status === 429) {
      const retryAfterMs = (Number(header('retry-after')) || DEFAULT_RETRY_S) * 1000;
      return new PlatformError(`${NAME} is limiting requests until ${formatClockTime(clock.now() + retryAfterMs)}.`, {
        ...options,
        retryAfterMs,
      });
    }
    if (status === 401 || status === 403)
      return new PlatformError(`${NAME} does not allow access to the topic (${status}). Check channels.ntfy.accessToken.`, options);
    const text = redactSecret(failure.safeParse(json).data?.error ?? 'an error page', token).slice(0, 300);
    return new PlatformError(`${NAME} rejected the request (${status}: ${text}).`, {
      ...options,
      refused: status === 400 || status === 413,
    });
  }
}
