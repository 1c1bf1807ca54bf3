import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import { formatClockTime } from '../clock-time.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { downloadFromPlatform, requestPlatform, type PlatformResponse, PlatformError, type PlatformRequest } from '../platform-request.ts';

const NAME = 'Telegram';

const envelope = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.number().int().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().positive().optional() }).optional(),
});

export interface TelegramApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
  /** Part of every request's address: addresses must never appear in errors or logs. */
  token: string;
}

/** Telegram's Bot API (https://core.telegram.org/bots/api). */
export class TelegramApi {
  readonly #deps: TelegramApiDeps;

  constructor(deps: TelegramApiDeps) {
    this.#deps = deps;
  }

  /** Calls a method with JSON; resolves with its result, parsed by `result`. Throws `PlatformError`. */
  call<T extends z.ZodType>(method: string, params: object, result: T, options: Omit<PlatformRequest, 'body'>): Promise<z.output<T>> {
    return this.#request(method, result, { ...options, headers: { 'content-type': 'application/json' }, body: JSON.stringify(params) });
  }

  /** Calls a method with a file in addition to its params. */
  async upload<T extends z.ZodType>(
    method: string,
    params: Record<string, string>,
    file: { field: string; name: string; mimeType: string; bytes: Uint8Array<ArrayBuffer> },
    result: T,
    options: Omit<PlatformRequest, 'body'>,
  ): Promise<z.output<T>> {
    const form = new FormData();
    for (const [name, value] of Object.entries(params)) form.append(name, value);
    form.append(file.field, new Blob([file.bytes], { type: file.mimeType }), file.name);
    const encoded = new Response(form);
    const headers = { 'content-type': encoded.headers.get('content-type') ?? 'multipart/form-data' };
    return this.#request(method, result, { ...options, headers, bytes: new Uint8Array(await encoded.arrayBuffer()) });
  }

  /** Downloads a file by its path from `getFile`. */
  download(path: string, options: { signal: AbortSignal; maxBytes: number; timeoutMs: number }): ReturnType<typeof downloadFromPlatform> {
    const { token, apiBase, fetch, clock } = this.#deps;
    // Part of an address with the token: nothing but a plain path may follow it.
    if (!/^[\w./-]+$/.test(path) || path.includes('..')) throw new PlatformError(`${NAME} named an invalid file.`, { refused: true });
    return downloadFromPlatform({ name: NAME, fetch, clock }, `${apiBase}/file/bot${token}/${path}`, options);
  }

  async #request<T extends z.ZodType>(method: string, result: T, request: PlatformRequest): Promise<z.output<T>> {
    const { token, apiBase, fetch, clock } = this.#deps;
    if (!/^[\w:-]+$/.test(token)) throw new PlatformError('channels.telegram.botToken is not a valid bot token.', { isUnsent: true });
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${apiBase}/bot${token}/${method}`, { method: 'POST', ...request });
    const parsed = envelope.safeParse(answer.json);
    if (!parsed.success) throw createInvalidResponseError(method, answer);
    if (!parsed.data.ok) throw this.#toError(method, answer, parsed.data);
    const output = result.safeParse(parsed.data.result);
    if (!output.success) throw createInvalidResponseError(method, answer);
    return output.data;
  }

  #toError(
    method: string,
    answer: PlatformResponse,
    { error_code, description = '', parameters }: z.output<typeof envelope>,
  ): PlatformError {
    const status = error_code ?? answer.status;
    // The description could contain the token.
    const text = redactSecret(description, this.#deps.token).slice(0, 300);
    const options = { status, isUnsent: true };
    switch (status) {
      case 429: {
        const retryAfterMs = (parameters?.retry_after ?? 30) * 1000;
        const until = formatClockTime(this.#deps.clock.now() + retryAfterMs);
        return new PlatformError(`${NAME} is limiting requests until ${until}.`, { ...options, retryAfterMs });
      }
      case 401:
      case 404:
        return new PlatformError(
          `${NAME} rejected channels.telegram.botToken (${status}: ${text}). Copy the token from BotFather again.`,
          options,
        );
      case 409:
        return new PlatformError(`Another program or webhook already receives this bot’s messages (409): ${text}`, options);
      default:
        return new PlatformError(`${NAME} rejected ${method} (${status}): ${text}`, {
          ...options,
          refused: (method.startsWith('send') || method === 'getFile') && (status === 400 || status === 403),
        });
    }
  }
}

/**
 * The error for a response that is not from the Bot API but from a proxy. Only with these statuses the request was certainly not passed on.
 */
const createInvalidResponseError = (method: string, { status }: PlatformResponse): PlatformError =>
  new PlatformError(`${NAME} sent an unexpected response to ${method} (${status}).`, {
    status,
    isUnsent: status === 503 || (status >= 400 && status < 500),
  });
