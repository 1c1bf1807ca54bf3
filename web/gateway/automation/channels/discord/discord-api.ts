import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { formatClockTime } from '../clock-time.ts';
import { downloadFromPlatform, PlatformError, type PlatformRequest, type PlatformResponse, requestPlatform } from '../platform-request.ts';

const NAME = 'Discord';
const DEFAULT_RETRY_S = 30;

const failure = z.object({
  code: z.number().catch(0),
  message: z.string().catch(''),
  retry_after: z.number().positive().optional().catch(undefined),
});

export interface DiscordApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
  token: string;
}

interface DiscordRequest {
  body?: object;
  /** A file in addition to the body. */
  file?: { name: string; mimeType: string; bytes: Uint8Array<ArrayBuffer> };
  signal: AbortSignal;
  timeoutMs?: number;
}

/** Discord's HTTP API, version 10 (https://discord.com/developers/docs/reference). */
export class DiscordApi {
  readonly #deps: DiscordApiDeps;

  constructor(deps: DiscordApiDeps) {
    this.#deps = deps;
  }

  /** Requests a path; resolves with the response, parsed by `result`. Throws `PlatformError`. */
  async request<T extends z.ZodType>(
    method: NonNullable<PlatformRequest['method']>,
    path: string,
    result: T,
    { body, file, ...options }: DiscordRequest,
  ): Promise<z.output<T>> {
    const { token, apiBase, fetch, clock } = this.#deps;
    if (!/^[\w.-]+$/.test(token)) throw new PlatformError('channels.discord.botToken is not a valid bot token.', { isUnsent: true });
    const content = file ? await encodeForm(body, file) : body ? { headers: JSON_HEADERS, body: JSON.stringify(body) } : {};
    const headers = { authorization: `Bot ${token}`, 'user-agent': 'DiscordBot (perch, 0.1)', ...content.headers };
    const request = { method, ...content, headers, ...options };
    const answer = await requestPlatform({ name: NAME, fetch, clock }, `${apiBase}/api/v10${path}`, request);
    if (answer.status < 200 || answer.status > 299) throw this.#toError(answer, path);
    const parsed = result.safeParse(answer.json);
    if (!parsed.success) throw new PlatformError(`${NAME} sent an unexpected response (${answer.status}).`, { status: answer.status });
    return parsed.data;
  }

  /** Downloads an attachment. */
  download(url: string, maxBytes: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const { apiBase, fetch, clock } = this.#deps;
    return downloadFromPlatform({ name: NAME, fetch, clock }, url, { namedBy: new URL(apiBase).origin, maxBytes, signal });
  }

  #toError({ status, json, header }: PlatformResponse, path: string): PlatformError {
    const { data } = failure.safeParse(json);
    const options = { status, isUnsent: status < 500 };
    if (status === 429) {
      const seconds = data?.retry_after ?? (Number(header('retry-after')) || DEFAULT_RETRY_S);
      const retryAfterMs = Math.ceil(seconds * 1000);
      const until = formatClockTime(this.#deps.clock.now() + retryAfterMs);
      return new PlatformError(`${NAME} is limiting requests until ${until}.`, { ...options, retryAfterMs });
    }
    if (status === 401)
      return new PlatformError(
        `${NAME} rejected channels.discord.botToken (401). Copy the token from the developer portal again.`,
        options,
      );
    const text = redactSecret(data?.message ?? 'an error page', this.#deps.token).slice(0, 300);
    return new PlatformError(`${NAME} rejected the request (${status}: ${text}).`, {
      ...options,
      refused: data !== undefined && path.startsWith('/channels/') && (status === 400 || status === 403 || status === 404),
    });
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' };

async function encodeForm(
  body: object | undefined,
  file: NonNullable<DiscordRequest['file']>,
): Promise<{ headers: Record<string, string>; bytes: Uint8Array<ArrayBuffer> }> {
  const form = new FormData();
  form.append('payload_json', JSON.stringify(body ?? {}));
  form.append('files[0]', new Blob([file.bytes], { type: file.mimeType }), file.name);
  const encoded = new Response(form);
  const headers = { 'content-type': encoded.headers.get('content-type') ?? 'multipart/form-data' };
  return { headers, bytes: new Uint8Array(await encoded.arrayBuffer()) };
}
