import { redactSecret } from '#shared/redact.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { formatClockTime } from '../clock-time.ts';
import { downloadFromPlatform, PlatformError, type PlatformRequest, type PlatformResponse, requestPlatform } from '../platform-request.ts';

const NAME = 'Slack';
const DEFAULT_RETRY_S = 30;
/** Pause after an error that only a person can correct. */
export const FATAL_RETRY_MS = 5 * 60_000;

const failure = z.object({ ok: z.literal(false), error: z.string(), needed: z.string().optional().catch(undefined) });

/** Errors after which the request may have been carried out. */
const UNCERTAIN_ERRORS = ['fatal_error', 'internal_error', 'request_timeout', 'service_unavailable'];
const TOKEN_ERRORS = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'not_allowed_token_type'];
/** Errors of a chat or a message that no retry mends. */
const REFUSALS = [
  ...['channel_not_found', 'is_archived', 'not_in_channel', 'restricted_action', 'restricted_action_read_only_channel', 'cannot_dm_bot'],
  ...['user_not_found', 'user_disabled', 'messages_tab_disabled', 'msg_too_long', 'no_text', 'invalid_blocks', 'message_not_found'],
  ...[
    'cant_update_message',
    'edit_window_closed',
    'file_not_found',
    'file_deleted',
    'thread_not_found',
    'method_not_supported_for_channel_type',
  ],
];

export interface SlackApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
  token: string;
  appToken: string;
}

interface SlackCall {
  /** Arguments; objects are sent as JSON. */
  args?: Record<string, string | number | boolean | object | undefined>;
  /** Whether the app's token is used instead of the bot's. */
  isApp?: boolean;
  signal: AbortSignal;
}

/** Slack's Web API (https://docs.slack.dev/apis/web-api). */
export class SlackApi {
  readonly #deps: SlackApiDeps;

  constructor(deps: SlackApiDeps) {
    this.#deps = deps;
  }

  /** Calls a method; resolves with the response, parsed by `result`. Throws `PlatformError`. */
  async call<T extends z.ZodType>(method: string, result: T, { args = {}, isApp = false, signal }: SlackCall): Promise<z.output<T>> {
    const { token: botToken, appToken, apiBase } = this.#deps;
    const token = isApp ? appToken : botToken;
    const setting = isApp ? 'channels.slack.appToken' : 'channels.slack.botToken';
    if (!(isApp ? /^xapp-[\w-]+$/ : /^xox[a-z.]*-[\w-]+$/).test(token))
      throw new PlatformError(`${setting} is not a valid ${isApp ? 'app' : 'bot'} token: it begins with ${isApp ? 'xapp-' : 'xoxb-'}.`, {
        isUnsent: true,
        retryAfterMs: FATAL_RETRY_MS,
      });
    // All methods take forms, but only some take JSON.
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(args))
      if (value !== undefined) form.set(name, typeof value === 'object' ? JSON.stringify(value) : `${value}`);
    const answer = await this.#request(`${apiBase}/api/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      signal,
    });
    const failed = failure.safeParse(answer.json).data;
    if (failed || answer.status !== 200) throw this.#toError(answer, failed, setting, token);
    const parsed = result.safeParse(answer.json);
    if (!parsed.success) throw new PlatformError(`${NAME} sent an unexpected response to ${method}.`);
    return parsed.data;
  }

  /** Uploads a file to an address that Slack has given. */
  async upload(url: string, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal, timeoutMs: number): Promise<void> {
    const headers = { 'content-type': 'application/octet-stream' };
    const { status } = await this.#request(url, { method: 'POST', headers, bytes, signal, timeoutMs, namedBy: this.#origin });
    if (status !== 200) throw new PlatformError(`${NAME} did not take the file (${status}).`, { status });
  }

  /** Downloads a file of a message. The token is only sent to Slack. */
  async download(url: string, maxBytes: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    const { token, fetch, clock } = this.#deps;
    if (!this.#isSlack(url)) throw new PlatformError('The file is not stored on Slack.', { refused: true, isUnsent: true });
    const headers = { authorization: `Bearer ${token}` };
    const request = { headers, namedBy: this.#origin, maxBytes, signal };
    const file = await downloadFromPlatform({ name: NAME, fetch, clock }, url, request).catch((error: unknown) => {
      // Without the permission, Slack leads to its sign-in page.
      if (error instanceof PlatformError && error.status !== undefined && error.status < 400) throw createFilesError();
      throw error;
    });
    if (file.mimeType === 'text/html' && !/\.html?$/i.test(new URL(url).pathname)) throw createFilesError();
    return file;
  }

  get #origin(): string {
    return new URL(this.#deps.apiBase).origin;
  }

  #isSlack(address: string): boolean {
    const url = URL.parse(address);
    return url !== null && (url.origin === this.#origin || (url.protocol === 'https:' && /(^|\.)slack\.com$/.test(url.hostname)));
  }

  #request(url: string, request: PlatformRequest): Promise<PlatformResponse> {
    const { fetch, clock } = this.#deps;
    return requestPlatform({ name: NAME, fetch, clock }, url, request);
  }

  #toError(
    { status, header }: PlatformResponse,
    failed: z.infer<typeof failure> | undefined,
    setting: string,
    token: string,
  ): PlatformError {
    const code = failed?.error ?? '';
    if (status === 429 || code === 'ratelimited' || code === 'rate_limited') {
      const retryAfterMs = Math.ceil((Number(header('retry-after')) || DEFAULT_RETRY_S) * 1000);
      const until = formatClockTime(this.#deps.clock.now() + retryAfterMs);
      return new PlatformError(`${NAME} is limiting requests until ${until}.`, { status, retryAfterMs, isUnsent: true });
    }
    if (TOKEN_ERRORS.includes(code))
      return new PlatformError(`${NAME} rejected ${setting} (${code}). Copy the token from the app’s settings again.`, {
        status,
        isUnsent: true,
        retryAfterMs: FATAL_RETRY_MS,
      });
    if (code === 'missing_scope') {
      const scope = /^[\w:.,-]{1,200}$/.test(failed?.needed ?? '') ? failed?.needed : 'another';
      return new PlatformError(`The Slack app lacks the scope ${scope}. Add it in the app’s settings, and install the app again.`, {
        status,
        isUnsent: true,
      });
    }
    const text = failed ? redactSecret(code, token).slice(0, 100) : `${status}`;
    const isUnsent = failed ? !UNCERTAIN_ERRORS.includes(code) : status >= 400 && status < 500;
    return new PlatformError(`${NAME} rejected the request (${text}).`, { status, isUnsent, refused: REFUSALS.includes(code) });
  }
}

const createFilesError = (): PlatformError =>
  new PlatformError('the Slack app may not read files: add the scope files:read and install the app again', { refused: true });
