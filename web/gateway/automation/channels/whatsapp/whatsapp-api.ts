import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { formatClockTime } from '../clock-time.ts';
import type { MediaFile } from '../media/channel-media.ts';
import { downloadFromPlatform, PlatformError, type PlatformRequest, type PlatformResponse, requestPlatform } from '../platform-request.ts';

const NAME = 'WhatsApp';
const VERSION = 'v23.0';
const RETRY_MS = 60_000;
const UPLOAD_TIMEOUT_MS = 120_000;
/** Pause after an error that only a person can correct. */
const FATAL_RETRY_MS = 5 * 60_000;

const failure = z.object({
  error: z.object({
    code: z.number().catch(0),
    message: z.string().catch(''),
    error_data: z.object({ details: z.string().optional() }).optional().catch(undefined),
  }),
});
const uploaded = z.object({ id: z.string() });
const mediaInfo = z.object({ url: z.url({ protocol: /^https?$/ }) });

const TOKEN_CODES = [0, 190];
const LIMIT_CODES = [4, 80007, 130429, 131048, 131056];
/** WhatsApp takes messages to a person only for a day after the person's last one. */
export const WINDOW_CLOSED_CODE = 131047;
export const WINDOW_CLOSED = 'WhatsApp only lets Perch write to people who wrote to it within the last 24 hours.';
/** Errors of one recipient or message, which no retry mends. */
const REFUSED_CODES = [100, WINDOW_CLOSED_CODE, 131008, 131009, 131021, 131026, 131030, 131051, 131052, 131053];

export interface WhatsAppApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
  token: string;
  phoneNumberId: string;
}

/** The Cloud API of WhatsApp (https://developers.facebook.com/docs/whatsapp/cloud-api). */
export class WhatsAppApi {
  readonly #deps: WhatsAppApiDeps;

  constructor(deps: WhatsAppApiDeps) {
    this.#deps = deps;
  }

  /** Checks that the token can use the phone number. Throws `PlatformError`. */
  async check(signal: AbortSignal): Promise<void> {
    await this.#request(`/${this.#deps.phoneNumberId}?fields=id`, z.object({ id: z.string() }), { signal });
  }

  /** Sends a message, or a mark about one; resolves with the response, parsed by `result`. */
  post<T extends z.ZodType>(body: Record<string, unknown>, result: T, signal: AbortSignal): Promise<z.output<T>> {
    return this.#request(`/${this.#deps.phoneNumberId}/messages`, result, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, signal },
      body: JSON.stringify({ messaging_product: 'whatsapp', ...body }),
    });
  }

  /** Uploads a file; resolves with its id. */
  async upload({ name, mimeType, bytes }: MediaFile, signal: AbortSignal): Promise<string> {
    const form = new FormData();
    form.append('messaging_product', 'whatsapp');
    form.append('type', mimeType);
    form.append('file', new Blob([bytes], { type: mimeType }), name);
    const encoded = new Response(form);
    const headers = { 'content-type': encoded.headers.get('content-type') ?? 'multipart/form-data' };
    const request = { method: 'POST' as const, headers, bytes: new Uint8Array(await encoded.arrayBuffer()), signal };
    return (await this.#request(`/${this.#deps.phoneNumberId}/media`, uploaded, { ...request, timeoutMs: UPLOAD_TIMEOUT_MS })).id;
  }

  async download(id: string, maxBytes: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const { fetch, clock } = this.#deps;
    const { url } = await this.#request(`/${encodeURIComponent(id)}`, mediaInfo, { signal });
    if (!this.#isMeta(url)) throw new PlatformError('WhatsApp named an address of another server.', { refused: true });
    const request = { headers: { ...this.#headers(), 'user-agent': 'perch' }, namedBy: this.#origin, maxBytes, signal };
    return downloadFromPlatform({ name: NAME, fetch, clock }, url, request);
  }

  get #origin(): string {
    return new URL(this.#deps.apiBase).origin;
  }

  #isMeta(address: string): boolean {
    const url = URL.parse(address);
    return (
      url !== null &&
      (url.origin === this.#origin || (url.protocol === 'https:' && /\.(fbsbx|facebook|whatsapp)\.(com|net)$/.test(url.hostname)))
    );
  }

  #headers(): Record<string, string> {
    const { token, phoneNumberId } = this.#deps;
    if (!/^\d{1,32}$/.test(phoneNumberId)) throw new PlatformError('channels.whatsapp.phoneNumberId is not set.', { isUnsent: true });
    if (!/^[\x21-\x7e]+$/.test(token)) throw new PlatformError('channels.whatsapp.accessToken is not a valid token.', { isUnsent: true });
    return { authorization: `Bearer ${token}` };
  }

  async #request<T extends z.ZodType>(path: string, result: T, request: PlatformRequest): Promise<z.output<T>> {
    const { fetch, clock, apiBase } = this.#deps;
    const headers = { ...this.#headers(), ...request.headers };
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${apiBase}/${VERSION}${path}`, { ...request, headers });
    if (answer.status !== 200) throw this.#toError(answer);
    const parsed = result.safeParse(answer.json);
    if (!parsed.success) throw new PlatformError(`${NAME} sent an unexpected response.`, { status: answer.status });
    return parsed.data;
  }

  #toError({ status, json }: PlatformResponse): PlatformError {
    const { data } = failure.safeParse(json);
    const options = { status, isUnsent: data !== undefined ? status < 500 : status >= 400 && status < 500 };
    const { code, message = '', error_data } = data?.error ?? { code: -1 };
    if (status === 429 || LIMIT_CODES.includes(code)) {
      const until = formatClockTime(this.#deps.clock.now() + RETRY_MS);
      return new PlatformError(`${NAME} is limiting requests until ${until}.`, { ...options, retryAfterMs: RETRY_MS });
    }
    if (status === 401 || TOKEN_CODES.includes(code))
      return new PlatformError(`${NAME} rejected channels.whatsapp.accessToken (${code}). Create a new token of a system user.`, {
        ...options,
        retryAfterMs: FATAL_RETRY_MS,
      });
    if (code === WINDOW_CLOSED_CODE) return new PlatformError(WINDOW_CLOSED, { ...options, refused: true });
    const text = redactSecret(error_data?.details ?? message, this.#deps.token).slice(0, 300);
    return new PlatformError(`${NAME} rejected the request (${status}${text === '' ? '' : `: ${text}`}).`, {
      ...options,
      refused: REFUSED_CODES.includes(code),
    });
  }
}
